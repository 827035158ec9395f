// T22
use flow_runtime::prelude::*;

struct Shop;

struct Mill;

#[flow(input = u32)]
impl Mill {
    #[step]
    async fn grind(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {
    let look = async |run: RunHandle<Shop>| run.step(Mill::GRIND).await;
    let _ = look;
}
