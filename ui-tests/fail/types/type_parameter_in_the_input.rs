// T28
use flow_runtime::prelude::*;

struct Shop<T>(T);

#[flow(input = Vec<T>)]
impl<T: Send + Sync + 'static> Shop<T> {
    #[step]
    async fn reserve(&self) -> Result<u32, StepError> {
        Ok(1)
    }
}

fn main() {
    let _ = Shop(1);
}
