use flow_runtime::prelude::*;

struct Till { n: std::cell::RefCell<u32>, r: std::rc::Rc<u32> }
#[flow(input = Vec<u32>)]
impl Till { //~ the handlers of `Till` cannot run on a worker's threads
    #[map(over = input)]
    async fn a(&self, item: u32, ctx: &StepContext) -> Result<u32, StepError> { ctx.cancelled().await; Ok(item + *self.n.borrow()) }
    #[step(blocking)]
    fn b(&self, a: Vec<u32>) -> Result<u32, StepError> { Ok(a[0] + *self.r) }
}

fn main() {}
