use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input, when_exhausted = skip)]
    async fn row(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
    #[step]
    async fn sum(&self, row: Vec<Option<u32>>) -> Result<u32, StepError> { Ok(row.len() as u32) } //~ step `row` may be skipped (`when_exhausted = skip`), so it is taken as `Option<Vec<u32>>`, not `Vec<std::option::Option<u32>>`
}

fn main() {}
