use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn row(&self, item: u32) -> Result<Vec<u32>, StepError> { Ok(vec![item]) }
    #[step]
    async fn sum(&self, row: Vec<u32>) -> Result<u32, StepError> { Ok(row.len() as u32) } //~ step `row` returns `Vec<Vec<u32>>`, not `Vec<u32>`
}

fn main() {}
