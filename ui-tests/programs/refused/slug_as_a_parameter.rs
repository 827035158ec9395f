use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(slug = "paid")]
    async fn pay(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
    #[step]
    async fn b(&self, paid: u32) -> Result<u32, StepError> { Ok(paid) } //~ steps are named by their methods: `pay`
}

fn main() {}
