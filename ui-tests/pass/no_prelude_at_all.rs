// T21
#![no_implicit_prelude]

use ::flow_runtime::{StepError, flow};
use ::std::result::Result;

struct Shop;

#[flow(input = ::std::vec::Vec<u32>)]
impl Shop {
    #[step(when_exhausted = skip)]
    async fn reserve(&self, input: ::std::vec::Vec<u32>) -> Result<u32, StepError> {
        Result::Ok(input[0])
    }

    #[map(over = input)]
    async fn pick(&self, item: u32) -> Result<u32, StepError> {
        Result::Ok(item)
    }

    #[step(blocking)]
    fn ship(&self, reserve: ::std::option::Option<u32>, pick: ::std::vec::Vec<u32>) -> Result<u32, StepError> {
        Result::Ok(reserve.unwrap_or_default() + pick[0])
    }
}

::flow_runtime::with_step_queues!(ShopQueues for Shop);
::flow_runtime::route_flow!(ShopRoutes for Shop { Reserve => "stock", Pick => "stock", Ship => "stock" });

// T21
#[test]
fn a_flow_compiles_without_a_prelude() {
    ::std::assert_eq!(ShopStep::Ship.as_str(), "ship");
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
