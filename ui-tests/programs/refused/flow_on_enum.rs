use flow_runtime::prelude::*;

#[flow(input = u32)]
enum Kind { A, B } //~ `#[flow]` stands on an inherent `impl` block, whose methods are the handlers: `impl Checkout { … }`

fn main() {}
