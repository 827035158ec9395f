use flow_runtime::prelude::*;

struct Shop;

type Result<T, E> = std::result::Result<T, Option<E>>;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, std::fmt::Error> { Ok(input) } //~ a step cannot fail with `std::option::Option<std::fmt::Error>`
}

fn main() {}
