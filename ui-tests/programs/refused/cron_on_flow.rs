use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, cron = "0 0 * * *")] //~ `#[flow]` has no option `cron`; a flow has no schedule; start its runs from a scheduler of yours, with `client.start`
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
}

fn main() {}
