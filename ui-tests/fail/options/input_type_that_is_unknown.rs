// T10
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Ordr)]
impl Shop {
    #[step]
    async fn reserve(&self) -> Result<u32, StepError> {
        Ok(1)
    }
}

fn main() {}
