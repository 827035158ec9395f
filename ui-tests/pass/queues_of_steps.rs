// T14
use flow_runtime::{StepQueued, definition::QueueMode, prelude::*, with_step_queues};

struct Shop;

#[flow(input = u32, slug = "MyShop")]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn send_everything_to_every_place_on_this_earth(&self, reserve: u32) -> Result<u32, StepError> {
        Ok(reserve)
    }
}

with_step_queues!(
    /// The shop with its queues.
    ShopQueues for Shop
);

// T14
#[test]
fn names_are_readable_or_by_index() {
    const NAMES: &[&str] = ShopQueues::QUEUES;
    assert_eq!(NAMES, ["myshop__reserve", "myshop__1"]);
    let definition = <ShopQueues as StepQueued>::definition();
    assert_eq!(definition.shape.queue_mode, QueueMode::StepQueues);
    definition.check().expect("no mistakes");
    let queues = ShopQueues::new(std::sync::Arc::new(Shop));
    let _: &Shop = queues.flow();
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
