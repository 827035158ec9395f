use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn input(&self) -> Result<u32, StepError> { Ok(1) } //~ a step cannot be called `input`, since a parameter called `input` is the run's input; rename the method, and keep its name in data with `slug = "…"`
}

fn main() {}
