use flow_runtime::prelude::*;

struct Shop;

struct Inner;
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<Vec<Option<Inner>>, StepError> { Ok(vec![]) } //~ `Vec<std::option::Option<Inner>>` cannot travel as JSON
    #[step]
    async fn b(&self, a: Vec<Option<Inner>>) -> Result<u32, StepError> { Ok(1) }
}

fn main() {}
