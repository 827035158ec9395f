use flow_runtime::prelude::*;

trait Repo: Send + Sync + 'static { async fn get(&self) -> u32; }
struct Gen<R> { repo: R }
#[flow(input = u32)]
impl<R: Repo> Gen<R> {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input + self.repo.get().await) } //~ future cannot be sent between threads safely
}

fn main() {}
