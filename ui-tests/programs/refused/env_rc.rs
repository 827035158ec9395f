use flow_runtime::prelude::*;

struct Rced { n: std::rc::Rc<u32> }
#[flow(input = u32)]
impl Rced { //~ the handlers of `Rced` cannot run on a worker's threads
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input + *self.n) }
    #[step]
    async fn b(&self, a: u32) -> Result<u32, StepError> { Ok(a) }
}

fn main() {}
