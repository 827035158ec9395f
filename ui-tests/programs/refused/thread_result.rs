use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> std::thread::Result<u32> { Ok(input) } //~ a step cannot fail with `Box<dyn Any + Send>`
}

fn main() {}
