use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, _: u32) -> Result<u32, StepError> { Ok(1) } //~ a parameter is named like the step it takes; say which with `#[from(step)]` before a pattern
}

fn main() {}
