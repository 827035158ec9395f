use flow_runtime::prelude::*;

struct Shop;

enum ShopError { Gone }
type Result<T, E = ShopError> = std::result::Result<T, E>;
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32> { Ok(input) } //~ a step cannot fail with `ShopError`
    #[step(blocking)]
    fn b(&self, a: u32) -> Result<u32> { Err(ShopError::Gone) } //~ a step cannot fail with `ShopError`
}

fn main() {}
