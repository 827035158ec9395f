use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(when_exhausted = skip)]
    async fn reserve(&self, input: u32) -> Result<Option<u32>, StepError> { Ok(Some(input)) }
    #[step]
    async fn ship(&self, reserve: Option<u32>) -> Result<u32, StepError> { Ok(reserve.unwrap()) } //~ step `reserve` may be skipped (`when_exhausted = skip`), so it is taken as `Option<std::option::Option<u32>>`, not `std::option::Option<u32>`
}

fn main() {}
