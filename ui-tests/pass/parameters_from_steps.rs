// T1
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

struct Shop;

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Receipt {
    total: u32,
}

#[flow(input = u32, deps)]
impl Shop {
    #[step]
    async fn charge(&self, mut input: u32) -> Result<Receipt, StepError> {
        input += 1;
        Ok(Receipt { total: input })
    }

    #[step]
    async fn ship(&self, #[from(charge)] Receipt { total }: Receipt) -> Result<u32, StepError> {
        Ok(total)
    }

    #[step(after(charge))]
    async fn note(&self, #[from(ship)] mut shipped: u32) -> Result<u32, StepError> {
        shipped += 1;
        Ok(shipped)
    }
}

// T1
#[test]
fn the_definition_names_the_steps() {
    let steps = Shop::definition().shape.steps;
    assert_eq!(
        (&steps[1].needs[0], &steps[2].needs[0], &steps[2].after[0]),
        (&"charge".into(), &"ship".into(), &"charge".into())
    );
    assert_eq!(ShopShipDeps { charge: Receipt { total: 1 } }.charge.total, ShopNoteDeps { shipped: 1 }.shipped);
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
