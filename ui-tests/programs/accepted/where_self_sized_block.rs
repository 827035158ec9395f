use flow_runtime::prelude::*;

struct Gen<T>(T);
#[flow(input = u32)]
impl<T> Gen<T>
where
    Self: Sized + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(self.0.clone()).await;
        Ok(input)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Gen(1_u32));
}
