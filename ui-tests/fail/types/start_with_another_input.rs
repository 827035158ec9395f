// T22
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn main() {
    let start = |client: Client| client.start::<Shop>(&"x".to_owned());
    let _ = start;
}
