use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[step(slug = "prepared")]
    async fn input(&self, input: Vec<u32>) -> Result<Vec<u32>, StepError> { Ok(input) } //~ a step cannot be called `input`, since a parameter called `input` is the run's input; rename the method, and keep its name in data with `slug = "…"`
    #[map(over = input)]
    async fn ship(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
    #[step(after(input))]
    async fn done(&self) -> Result<u32, StepError> { Ok(1) }
}
fn main() { println!("{}", Shop::graph().mermaid()); }
