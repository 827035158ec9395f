use flow_runtime::prelude::*;

use std::future::Future;
trait Repo: Send + Sync + 'static {
    fn get(&self, id: u32) -> impl Future<Output = Result<u32, StepError>> + Send;
}
struct Fixed;
impl Repo for Fixed {
    async fn get(&self, id: u32) -> Result<u32, StepError> {
        Ok(id)
    }
}
struct Gen<R: Repo> {
    repo: R,
}
#[flow(input = u32)]
impl<R: Repo> Gen<R> {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        self.repo.get(input).await
    }
    #[map(over = b)]
    async fn c(&self, item: u32, ctx: &StepContext) -> Result<u32, StepError> {
        let _ = ctx;
        self.repo.get(item).await
    }
    #[step(run_unless = { "a": 3 })]
    async fn b(&self, a: u32) -> Result<Vec<u32>, StepError> {
        Ok(vec![self.repo.get(a).await?])
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Gen { repo: Fixed });
}
