use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    fn each(&self, n: impl IntoIterator<Item = u32>) -> impl Iterator<Item = u32> {
        let Self = self;
        n.into_iter().map(|n| n + 1)
    }
    fn with<T>(t: T) -> T
    where
        T: Send,
    {
        t
    }
    const LIMIT: u32 = 5;
    #[step]
    async fn a(&self, input: Vec<u32>) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(Self::with(self.each(input).sum::<u32>() + Self::LIMIT))
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
