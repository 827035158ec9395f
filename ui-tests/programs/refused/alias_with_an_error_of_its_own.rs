use flow_runtime::prelude::*;

struct Shop;

type Result<T, E = StepError> = std::result::Result<T, E>;
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, u8> { Ok(input) } //~ a step cannot fail with `u8`
}

fn main() {}
