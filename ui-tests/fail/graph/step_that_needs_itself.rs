// T2
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn charge(&self, charge: u32) -> Result<u32, StepError> {
        Ok(charge)
    }
}

fn main() {}
