use flow_runtime::prelude::*;

struct Shop;

trait Nasty {
    fn output(self) -> u8
    where
        Self: Sized,
    {
        1
    }
    fn encode(&self, _: u8) -> u8 {
        2
    }
    fn field(&self) {}
    fn shown(&self) {}
    fn of()
    where
        Self: Sized,
    {
    }
    fn take(self)
    where
        Self: Sized,
    {
    }
    fn end(self)
    where
        Self: Sized,
    {
    }
}
impl<T> Nasty for T {}
#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn a(&self, item: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(item)
    }
    #[step]
    async fn b(&self, a: Vec<u32>, input: Vec<u32>) -> Result<u32, StepError> {
        std::future::ready(a).await;
        Ok(input[0])
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
