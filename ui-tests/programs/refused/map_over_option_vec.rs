use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<Option<Vec<u32>>, StepError> { Ok(Some(vec![input])) }
    #[map(over = reserve)] //~ a map needs a list to run over, and `Option<Vec<u32>>` is none; return an empty list where there is nothing to run over, or let the step be skipped with `when_exhausted = skip`
    async fn pick(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
}

fn main() {}
