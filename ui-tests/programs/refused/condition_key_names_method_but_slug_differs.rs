use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(slug = "checked")]
    async fn check_it(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
    #[step(run_if = { "check_it": true })] //~ `check_it` is no dependency of step `reserve`; its dependencies are `checked`
    async fn reserve(&self, check_it: bool) -> Result<u32, StepError> { Ok(check_it as u32) }
}

fn main() {}
