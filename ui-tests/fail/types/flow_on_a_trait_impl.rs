// T13
use flow_runtime::prelude::*;

struct Shop;

trait Sells {}

#[flow(input = u32)]
impl Sells for Shop {}

fn main() {}
