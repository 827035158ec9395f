use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Vec<u32>, StepError> { Ok(vec![input]) }
    #[step]
    async fn ship(&self, reserve: &Vec<u32>) -> Result<u32, StepError> { Ok(reserve[0]) } //~ a handler owns its arguments; take `Vec<u32>`, not a reference
}

fn main() {}
