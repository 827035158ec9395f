use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, ()> { Ok(input) } //~ a step cannot fail with `()`
}

fn main() {}
