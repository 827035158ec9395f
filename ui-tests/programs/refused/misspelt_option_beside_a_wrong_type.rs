use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(timout = "30s")] //~ `#[step]` has no option `timout`; did you mean `timeout`?
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
    #[step]
    async fn b(&self, input: u32) -> Result<String, StepError> { Ok(input.to_string()) }
    #[step]
    async fn c(&self, b: u32) -> Result<u32, StepError> { Ok(b) } //~ step `b` returns `String`, not `u32`
    #[step]
    async fn d(&self, c: u32) -> Result<u32, std::rc::Rc<u8>> { Ok(c) } //~ a step cannot fail with `Rc<u8>`
    #[map(over = e)]
    async fn f(&self, item: u8) -> Result<u32, StepError> { Ok(1) } //~ this map runs over a list of `u32`, so its `item` is `u32`, not `u8`
    #[step]
    async fn e(&self, d: u32) -> Result<Vec<u32>, StepError> { Ok(vec![d]) }
}

fn main() {}
