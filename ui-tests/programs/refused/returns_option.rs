use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Option<u32> { Some(input) } //~ step `reserve` returns `Result<T, E>`, not `Option<u32>`
}

fn main() {}
