use flow_runtime::prelude::*;

struct Borrowed<'a, T> { name: &'a T }
#[flow(input = u32)]
impl<'a, T: Send + Sync + 'static> Borrowed<'a, T> { //~ a flow owns what its handlers need, since they outlive every borrow; put an `Arc` or a `String` in place of the reference
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
    #[map(over = c)]
    async fn b(&self, item: u32) -> Result<u32, StepError> { Ok(item) }
    #[step]
    async fn c(&self, a: u32) -> Result<Vec<u32>, StepError> { Ok(vec![a]) }
}

fn main() {}
