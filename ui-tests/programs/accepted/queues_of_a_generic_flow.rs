use flow_runtime::prelude::*;

use flow_runtime::{route_flow as route, with_step_queues as queues};
/// S.
pub struct Shop<R = u8>(std::marker::PhantomData<fn() -> R>);
#[flow(input = u32)]
impl<R: 'static> Shop<R> {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
    #[step(variant = Bee)]
    async fn b(&self, a: u32) -> Result<u32, StepError> {
        Ok(a)
    }
}
queues!(
    /// Q.
    pub Queues for Shop<u8>);
route!(/// R.
    pub(crate) Routes for Shop { A => "one", Bee => "two", });
pub(crate) fn main() {
    let shop = Shop::<u8>(std::marker::PhantomData);
    let _ = Queues::new(shop);
    let _ = Routes::new(std::sync::Arc::new(Shop(std::marker::PhantomData)));
    crate::run::run_handlers(Shop::<u8>(std::marker::PhantomData));
}
