// T12
use flow_runtime::prelude::*;

struct Shop;

struct Receipt;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Receipt, StepError> {
        let _ = input;
        Ok(Receipt)
    }

    #[step]
    async fn charge(&self, reserve: Receipt) -> Result<u32, StepError> {
        let _ = reserve;
        Ok(1)
    }
}

fn main() {}
