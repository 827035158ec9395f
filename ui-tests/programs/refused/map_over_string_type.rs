use flow_runtime::prelude::*;

struct Shop;

#[flow(input = String)]
impl Shop {
    #[map(over = input)] //~ a map needs a list to run over, and `String` is none; make a step that returns its parts as a list, as in `Vec<String>`, and name that step
    async fn pick(&self, item: char) -> Result<u32, StepError> { Ok(item as u32) }
}

fn main() {}
