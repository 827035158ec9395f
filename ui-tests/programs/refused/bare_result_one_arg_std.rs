use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32> { Ok(input) } //~ enum takes 2 generic arguments but 1 generic argument was supplied
}

fn main() {}
