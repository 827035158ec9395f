use flow_runtime::prelude::*;

struct Shop;

enum ShopError { Gone }
fn f() -> Result<u32, ShopError> { Err(ShopError::Gone) }
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(f()? + input) } //~ `?` couldn't convert the error: `ShopError: std::error::Error` is not satisfied
}

fn main() {}
