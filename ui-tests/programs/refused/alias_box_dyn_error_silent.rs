use flow_runtime::prelude::*;

struct Shop;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32> { Ok(input) } //~ a step cannot fail with `Box<dyn std::error::Error>`
}

fn main() {}
