use flow_runtime::prelude::*;

struct Shop;

enum ShopError { Gone }
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, ShopError> { Err(ShopError::Gone) } //~ a step cannot fail with `ShopError`
}

fn main() {}
