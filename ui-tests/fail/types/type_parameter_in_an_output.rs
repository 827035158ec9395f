// T28
use flow_runtime::prelude::*;

struct Shop<T>(T);

#[flow(input = u32)]
impl<T: Send + Sync + 'static> Shop<T> {
    #[step]
    async fn reserve(&self, input: u32) -> Result<T, StepError> {
        Err(input.to_string().into())
    }
}

fn main() {
    let _ = Shop(1);
}
