use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(input: u32) -> Result<u32, StepError> { Ok(input) } //~ step `reserve` has no `&self`; it is a method of the flow
    #[step]
    async fn ship(&self, reserve: u32) -> Result<u32, StepError> { Ok(reserve) }
}

fn main() {}
