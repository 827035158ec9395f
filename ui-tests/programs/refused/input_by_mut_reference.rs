use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[step]
    async fn reserve(&self, input: &mut Vec<u32>) -> Result<u32, StepError> { Ok(input[0]) } //~ a handler owns its arguments; take `Vec<u32>`, not a reference
}

fn main() {}
