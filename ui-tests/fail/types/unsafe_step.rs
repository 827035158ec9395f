// T26
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async unsafe fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {}
