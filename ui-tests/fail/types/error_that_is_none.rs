// T12
use flow_runtime::prelude::*;

struct Shop;

struct Trouble;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, Trouble> {
        Ok(input)
    }
}

fn main() {}
