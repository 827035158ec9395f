// T12
use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize)]
struct Receipt;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Receipt, StepError> {
        let _ = input;
        Ok(Receipt)
    }
}

fn main() {}
