// T12
use flow_runtime::prelude::*;

struct Shop;

struct Receipt;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn pick(&self, item: u32) -> Result<Receipt, StepError> {
        let _ = item;
        Ok(Receipt)
    }

    #[step]
    async fn charge(&self, pick: Vec<Receipt>) -> Result<u32, StepError> {
        Ok(pick.len() as u32)
    }
}

fn main() {}
