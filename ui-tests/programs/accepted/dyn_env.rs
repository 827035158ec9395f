use flow_runtime::prelude::*;

use std::{future::Future, pin::Pin, sync::Arc};
trait Repo: Send + Sync {
    fn get(&self, id: u32) -> Pin<Box<dyn Future<Output = u32> + Send + '_>>;
}
struct Fixed;
impl Repo for Fixed {
    fn get(&self, id: u32) -> Pin<Box<dyn Future<Output = u32> + Send + '_>> {
        Box::pin(async move { id })
    }
}
struct Dynamic {
    repo: Arc<dyn Repo>,
    other: Box<dyn Repo>,
}
#[flow(input = u32)]
impl Dynamic {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(self.repo.get(input).await + self.other.get(1).await)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Dynamic { repo: Arc::new(Fixed), other: Box::new(Fixed) });
}
