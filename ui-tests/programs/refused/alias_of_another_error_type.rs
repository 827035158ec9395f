use flow_runtime::prelude::*;

struct Shop;

struct Oops;
type Result<T> = std::result::Result<T, Oops>;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32> { Ok(input) } //~ a step cannot fail with `Oops`
}

fn main() {}
