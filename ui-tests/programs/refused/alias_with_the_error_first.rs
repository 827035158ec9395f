use flow_runtime::prelude::*;

struct Shop;

type Result<E, T> = std::result::Result<T, E>;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<StepError, u32> { Ok(input) } //~ step `a` returns its output first and its error second; write `Result<u32, StepError>`
}

fn main() {}
