use flow_runtime::prelude::*;

#[step] //~ `#[step]` marks a method in an `impl` block under `#[flow(…)]`; put `#[flow(input = …)]` on the block, and inside it write `#[step]`, which needs no import
async fn a(input: u32) -> Result<u32, StepError> { Ok(input) }

fn main() {}
