use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn check_it(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
    #[step(after(check_it), run_if = true)] //~ `run_if` of a step with dependencies is an object with their slugs as keys, as in { "check_it": … }
    async fn reserve(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
