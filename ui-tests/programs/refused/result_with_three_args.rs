use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError, u8> { Ok(input) } //~ enum takes 2 generic arguments but 3 generic arguments were supplied
}

fn main() {}
