use flow_runtime::prelude::*;

struct Shop;

#[flow((u32, String))] //~ an option begins with its name, as in `max_attempts = 5`
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
