use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, every = "1h")] //~ client.start
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
