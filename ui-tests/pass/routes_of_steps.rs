// T14
use flow_runtime::{Routed, definition::QueueMode, prelude::*, route_flow};

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn ship(&self, reserve: u32) -> Result<u32, StepError> {
        Ok(reserve)
    }
}

route_flow!(ShopRoutes for Shop { Ship => "carriers", Reserve => "stock" });

// T14
#[test]
fn every_step_has_its_queue() {
    const NAMES: &[&str] = ShopRoutes::QUEUES;
    assert_eq!(NAMES, ["stock", "carriers"]);
    let definition = ShopRoutes::definition();
    assert_eq!(definition.shape.queue_mode, QueueMode::Routed);
    assert_eq!(definition.shape.steps[1].queue.as_deref(), Some("carriers"));
    definition.check().expect("no mistakes");
    let _: &Shop = ShopRoutes::new(Shop).flow();
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
