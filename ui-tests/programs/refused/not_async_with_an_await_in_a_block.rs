use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    fn a(&self, input: u32) -> Result<u32, StepError> { //~ step `a` is no `async fn`; make it one, or mark it `blocking`
        if input > 1 { std::future::ready(()).await; }
        Ok(input)
    }
}

fn main() {}
