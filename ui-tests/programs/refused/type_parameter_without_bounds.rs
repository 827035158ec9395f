use flow_runtime::prelude::*;

struct Gen<R, S> { repo: R, other: S }
#[flow(input = u32)]
impl<R, S> Gen<R, S> { //~ the handlers of `Gen<R, S>` cannot run on a worker's threads
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
