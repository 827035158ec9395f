use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    const RESERVE: u32 = 3; //~ step `reserve` gives the flow's type a constant `RESERVE`, its key; rename yours, or say `variant = Name` on the step
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> { Ok(input + Self::RESERVE) }
}

fn main() {}
