use flow_runtime::prelude::*;

trait Repo { fn get(&self) -> u32; }
struct Gen<R> { repo: R }
#[flow(input = u32)]
impl<R: Repo> Gen<R> { //~ the handlers of `Gen<R>` cannot run on a worker's threads
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input + self.repo.get()) }
}

fn main() {}
