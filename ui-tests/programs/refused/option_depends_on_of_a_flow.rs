use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, depends_on = "x")] //~ a step says it
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
