use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(slug = "prepared")]
    async fn input(&self, input: u32) -> Result<u32, StepError> { Ok(input + 1) } //~ a step cannot be called `input`, since a parameter called `input` is the run's input; rename the method, and keep its name in data with `slug = "…"`
    #[step]
    async fn ship(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}
fn main() { println!("{}", Shop::graph().mermaid()); }
