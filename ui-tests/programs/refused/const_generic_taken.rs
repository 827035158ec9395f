use flow_runtime::prelude::*;

struct Arr<const N: usize>;
#[flow(input = [u8; N])] //~ the input of a flow has a type that is written out, not the const parameter `N`: a flow has one shape; use const parameters in bodies only
impl<const N: usize> Arr<N> {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
}

fn main() {}
