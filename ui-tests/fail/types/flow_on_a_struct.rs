// T13
use flow_runtime::prelude::*;

#[flow(input = u32)]
struct Shop;

fn main() {}
