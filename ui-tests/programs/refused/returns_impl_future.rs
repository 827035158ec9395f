use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    fn reserve(&self, input: u32) -> impl std::future::Future<Output = Result<u32, StepError>> + Send { async move { Ok(input) } } //~ step `reserve` returns a future that is written out; write `async fn reserve(…) -> Result<T, E>`
}

fn main() {}
