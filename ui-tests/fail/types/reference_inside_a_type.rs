// T26
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Vec<String>, StepError> {
        Ok(vec![input.to_string()])
    }

    #[step]
    async fn charge(&self, reserve: Vec<&str>) -> Result<u32, StepError> {
        Ok(reserve.len() as u32)
    }
}

fn main() {}
