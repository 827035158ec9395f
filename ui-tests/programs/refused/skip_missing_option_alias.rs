use flow_runtime::prelude::*;

struct Shop;

type Stock = Vec<u32>;
#[flow(input = u32)]
impl Shop {
    #[step(run_if = 3)]
    async fn reserve(&self, input: u32) -> Result<Stock, StepError> { Ok(vec![input]) }
    #[step]
    async fn ship(&self, reserve: Stock) -> Result<u32, StepError> { Ok(reserve[0]) } //~ step `reserve` may be skipped (`when_unmet = skip`), so it is taken as `Option<Vec<u32>>`, not `Vec<u32>`
}

fn main() {}
