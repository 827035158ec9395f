use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<Box<dyn std::fmt::Debug>, StepError> { Ok(Box::new(input)) } //~ `Box<dyn Debug>` cannot travel as JSON
}

fn main() {}
