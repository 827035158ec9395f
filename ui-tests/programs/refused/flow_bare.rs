use flow_runtime::prelude::*;

struct Shop;

#[flow] //~ a flow says the type of its input: `#[flow(input = Order)]`
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
}

fn main() {}
