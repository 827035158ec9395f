use flow_runtime::prelude::*;

struct Shop;

use flow_runtime::{step as task, map as each};
#[flow(input = Vec<u32>)]
impl Shop {
    #[each(over = input)] //~ a flow has at least one step, and `#[each]` marks none: inside `#[flow]` the markers are `#[step]` and `#[map(over = …)]` by these names, which need no import
    async fn a(&self, item: u32) -> Result<u32, StepError> { std::future::ready(()).await; Ok(item) }
    #[task]
    async fn b(&self, a: Vec<u32>) -> Result<u32, StepError> { std::future::ready(()).await; Ok(a[0]) }
}

fn main() {}
