// T1
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<(u32, u32), StepError> {
        Ok((input, 1))
    }

    #[step]
    async fn charge(&self, (one, two): (u32, u32)) -> Result<u32, StepError> {
        Ok(one + two)
    }
}

fn main() {}
