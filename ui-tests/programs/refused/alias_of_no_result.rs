use flow_runtime::prelude::*;

struct Shop;

type Result<T> = Option<T>;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32> { Some(input) } //~ a step returns `Result<u32, E>`, and this `Result` is `std::option::Option<u32>`
}

fn main() {}
