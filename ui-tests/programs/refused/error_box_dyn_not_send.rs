use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, Box<dyn std::error::Error>> { Ok(input) } //~ a step cannot fail with `Box<dyn std::error::Error>`
}

fn main() {}
