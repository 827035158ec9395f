use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<impl serde::Serialize, StepError> { Ok(input) } //~ the output of step `a` has a type that is written out, not `impl Trait`
}

fn main() {}
