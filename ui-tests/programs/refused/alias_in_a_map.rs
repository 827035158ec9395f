use flow_runtime::prelude::*;

struct Shop;

mod my {
    pub type Result<T> = std::result::Result<T, ()>;
}

#[flow(input = Vec<u32>)]
impl Shop {
    #[map(over = input)]
    async fn a(&self, item: u32) -> my::Result<u32> { Ok(item) } //~ a step cannot fail with `()`
}

fn main() {}
