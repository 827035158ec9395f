use flow_runtime::prelude::*;

struct Shop;

#[flow(input = std::collections::HashMap<String, u32>)]
impl Shop {
    #[map(over = input)] //~ a map needs a list to run over, and `std::collections::HashMap<String, u32>` is none; make a step that returns its entries as a list, as in `Vec<(String, u32)>`, and name that step
    async fn pick(&self, item: (String, u32)) -> Result<u32, StepError> { Ok(item.1) }
}

fn main() {}
