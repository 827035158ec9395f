// D8
use flow_runtime::prelude::*;

struct Shop;
struct Mill;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn start(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn end(&self, start: u32) -> Result<u32, StepError> {
        Ok(start)
    }
}

#[flow(input = String)]
impl Mill {
    #[step]
    async fn start(&self, input: String) -> Result<String, StepError> {
        Ok(input)
    }

    #[step]
    async fn end(&self, start: String) -> Result<String, StepError> {
        Ok(start)
    }
}

// D8
#[test]
fn steps_of_two_flows_may_share_slugs() {
    assert_eq!(ShopStep::Start.as_str(), MillStep::Start.as_str());
    assert_ne!(Shop::definition().contract, Mill::definition().contract);
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
    crate::run::run_handlers(Mill);
}
