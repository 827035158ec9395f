use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
    #[step(after = [a])] //~ `after` takes names of steps in parentheses, as in `after(reserve, charge)`
    async fn b(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
