use flow_runtime::prelude::*;

struct Gen<T = u32, const N: usize = 3>(T);
#[flow(input = u32)]
impl<T: Clone + Send + Sync + 'static, const N: usize> Gen<T, N> {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(self.0.clone()).await;
        Ok(input)
    }
}
fn used() {
    let _ = <Gen>::A;
    let _ = Gen::<u8, 2>::A;
}

pub(crate) fn main() {
    crate::run::run_handlers(Gen::<u32, 3>(1));
}
