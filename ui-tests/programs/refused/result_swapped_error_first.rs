use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<StepError, u32> { Err(input) } //~ step `reserve` returns its output first and its error second; write `Result<u32, StepError>`
}

fn main() {}
