use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<std::time::Instant, StepError> { Ok(std::time::Instant::now()) } //~ `Instant` cannot travel as JSON
}

fn main() {}
