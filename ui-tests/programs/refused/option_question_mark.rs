use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { let x = Some(input)?; Ok(x) } //~ the `?` operator can only be used on `Result`s, not `Option`s, in an async function that returns `Result`
}

fn main() {}
