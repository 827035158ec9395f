// T14
use flow_runtime::prelude::*;

struct ShopThatSellsBooksAndSendsThemToEveryPlaceOnEarth;

#[flow(input = u32)]
impl ShopThatSellsBooksAndSendsThemToEveryPlaceOnEarth {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {}
