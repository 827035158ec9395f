use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    fn a(&self, input: u32) -> std::pin::Pin<Box<dyn Future<Output = Result<u32, StepError>> + Send>> { Box::pin(async move { Ok(input) }) } //~ step `a` returns a future that is written out; write `async fn a(…) -> Result<T, E>`
}

fn main() {}
