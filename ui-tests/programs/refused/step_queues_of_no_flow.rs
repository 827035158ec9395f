use flow_runtime::prelude::*;

struct Shop;

flow_runtime::with_step_queues!(pub Queues for Shop); //~ `Shop` is no plain flow

fn main() {}
