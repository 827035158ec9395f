use flow_runtime::prelude::*;

struct Cellar { n: std::cell::Cell<u32> }
#[flow(input = u32)]
impl Cellar { //~ the handlers of `Cellar` cannot run on a worker's threads
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input + self.n.get()) }
}

fn main() {}
