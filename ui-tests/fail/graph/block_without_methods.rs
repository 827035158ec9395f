// T13
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    const LIMIT: u32 = 3;
}

fn main() {
    let _ = Shop::LIMIT;
}
