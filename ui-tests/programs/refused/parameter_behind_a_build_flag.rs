use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32, #[cfg(test)] ctx: &StepContext) -> Result<u32, StepError> { Ok(input) } //~ a parameter of step `a` cannot depend on a build flag
}

fn main() {}
