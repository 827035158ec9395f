use flow_runtime::prelude::*;

struct Shop;

/// Of another part of the program.
pub enum ShopOutput { Empty }

#[flow(input = u32)]
impl Shop { //~ `ShopOutput` is the name that this flow gives to the run's output; rename your type, or say `names = …` on `#[flow]`
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
