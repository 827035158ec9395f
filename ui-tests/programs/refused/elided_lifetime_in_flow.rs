use flow_runtime::prelude::*;

struct Borrowed<'a> { name: &'a str }
#[flow(input = u32)]
impl Borrowed<'_> { //~ a flow owns what its handlers need, since they outlive every borrow; put an `Arc` or a `String` in place of the reference
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input + self.name.len() as u32) }
}

fn main() {}
