use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32; slug = "x")] //~ `input` takes a type, as in `input = Order`
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
}

fn main() {}
