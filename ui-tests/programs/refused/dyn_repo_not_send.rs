use flow_runtime::prelude::*;

trait Repo { fn get(&self) -> u32; }
struct Dynamic { repo: Box<dyn Repo> }
#[flow(input = u32)]
impl Dynamic { //~ the handlers of `Dynamic` cannot run on a worker's threads
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input + self.repo.get()) }
}

fn main() {}
