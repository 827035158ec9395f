use flow_runtime::prelude::*;

struct Shop;

struct Database;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32, db: std::sync::Arc<Database>) -> Result<u32, StepError> { Ok(input) } //~ a field of the flow
}

fn main() {}
