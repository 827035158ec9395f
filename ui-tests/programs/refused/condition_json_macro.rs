use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(run_if = json!({ "a": 1 }))] //~ a condition is JSON: a string, a number, true, false, null, a list or an object
    async fn reserve(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
