// T2, D12
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn ship(&self, pick: Vec<u32>, ctx: &StepContext, input: u32) -> Result<u32, StepError> {
        Ok(pick.len() as u32 + input + ctx.attempt())
    }

    #[map(over = reserve)]
    async fn pick(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }

    #[step]
    async fn reserve(&self, input: u32) -> Result<Vec<u32>, StepError> {
        Ok(vec![input])
    }
}

// T2
#[test]
fn the_step_order_is_that_of_the_graph() {
    assert_eq!(ShopStep::ALL, [ShopStep::Reserve, ShopStep::Pick, ShopStep::Ship]);
    assert_eq!(Shop::SHIP.index(), 2);
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
