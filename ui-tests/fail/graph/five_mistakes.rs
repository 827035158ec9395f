// T15
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(slug = "9")]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step(max_attempts = 0)]
    async fn charge(&self, resreve: u32) -> Result<u32, StepError> {
        Ok(resreve)
    }

    #[step]
    async fn ship(&self, charge: &str) -> Result<u32, StepError> {
        Ok(charge.len() as u32)
    }

    #[step]
    async fn note(&self, input: u32) -> u32 {
        input
    }
}

fn main() {
    let _: ShopStep = ShopStep::Charge;
    let _ = (Shop::CHARGE, Shop::SHIP, Shop::definition(), ShopStep::ALL);
    fn output(output: ShopOutput, deps: ShopChargeDeps) {
        let _ = (output.ship, deps.resreve);
    }
    let _ = output;
}
