use flow_runtime::prelude::*;

struct Shop;

#[flow(Vec<u32>)] //~ a type stands behind its option's name; write `input = …` on `#[flow]`
impl Shop {
    #[step]
    async fn a(&self, input: Vec<u32>) -> Result<u32, StepError> { Ok(input[0]) }
}

fn main() {}
