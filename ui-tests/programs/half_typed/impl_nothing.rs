use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop

fn main() {} //~2
