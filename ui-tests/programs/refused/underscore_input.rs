use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, _input: u32) -> Result<u32, StepError> { Ok(1) } //~ step `reserve` depends on `_input`, but this flow has no step named `_input`; a parameter that is not used is left out, and one that is used is `input`
}

fn main() {}
