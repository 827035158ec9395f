use flow_runtime::prelude::*;

struct Shop;

#[flow(input: u32)] //~ an option has `=` before its value; write `input = …`
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<bool, StepError> { Ok(input > 1) }
}

fn main() {}
