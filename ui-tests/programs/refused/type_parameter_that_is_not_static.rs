use flow_runtime::prelude::*;

trait Repo: Send + Sync { fn get(&self) -> u32; }
struct Gen<R> { repo: R }
#[flow(input = u32)]
impl<R: Repo> Gen<R> { //~ the parameter type `R` may not live long enough
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input + self.repo.get()) }
    #[step]
    async fn b(&self, a: u32) -> Result<u32, StepError> { Ok(a) }
}

fn main() {}
