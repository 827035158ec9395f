use flow_runtime::prelude::*;

struct Shop;

type Stock = Vec<u32>;
type MaybeStock = Option<Vec<u32>>;
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Stock, StepError> { Ok(vec![input]) }
    #[step]
    async fn ship(&self, reserve: MaybeStock) -> Result<u32, StepError> { Ok(reserve.unwrap()[0]) } //~ step `reserve` returns `Vec<u32>`, not `std::option::Option<Vec<u32>>`
}

fn main() {}
