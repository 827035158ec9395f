use flow_runtime::prelude::*;

struct Shop;

#[flow(input = &str)] //~ the input of a flow is read from JSON, so its type owns what it holds; drop the reference or lifetime
impl Shop {
    #[step]
    async fn a(&self, input: String) -> Result<bool, StepError> { Ok(input.len() > 1) }
}

fn main() {}
