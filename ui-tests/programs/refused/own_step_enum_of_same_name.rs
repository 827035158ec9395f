use flow_runtime::prelude::*;

struct Shop;

enum ShopStep { A, B }
#[flow(input = u32)]
impl Shop { //~ `ShopStep` is the name that this flow gives to its steps; rename your type, or say `names = …` on `#[flow]`
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
