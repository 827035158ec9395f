use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    const LIMIT: u32 = 3; //~ `#[step]` marks a method, and this is none; mark the handler instead
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
    #[step(after(resreve))] //~ step `ship` depends on `resreve`, but this flow has no step named `resreve`; did you mean `reserve`?
    async fn ship(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}
fn main() { println!("{}", Shop::graph().mermaid()); }
