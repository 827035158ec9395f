use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    fn reserve(&self, input: u32) -> Result<u32, StepError> { //~ step `reserve` is no `async fn`; make it one, or mark it `blocking`
        std::future::ready(()).await;
        Ok(input)
    }
}

fn main() {}
