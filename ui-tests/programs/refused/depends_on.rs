use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
    #[step(depends_on = "a")] //~ `#[step]` has no option `depends_on`; take the step's output with a parameter of its name, or wait without it with `after(reserve)`
    async fn b(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
