use flow_runtime::prelude::*;

struct Arr<const N: usize>;
#[flow(input = u32)]
impl<const N: usize> Arr<N> {
    #[step]
    async fn a(&self, input: u32) -> Result<usize, StepError> {
        std::future::ready(()).await;
        Ok([input; N].len())
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Arr::<3>);
}
