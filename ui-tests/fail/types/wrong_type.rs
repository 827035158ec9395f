// T4
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Vec<u32>, StepError> {
        Ok(vec![input])
    }

    #[step]
    async fn charge(&self, reserve: Vec<String>) -> Result<u32, StepError> {
        Ok(reserve.len() as u32)
    }
}

fn main() {}
