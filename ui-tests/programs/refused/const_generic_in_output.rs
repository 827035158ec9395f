use flow_runtime::prelude::*;

struct Arr<const N: usize>;
#[flow(input = u32)]
impl<const N: usize> Arr<N> {
    #[step]
    async fn a(&self, input: u32) -> Result<[u32; N], StepError> { Ok([input; N]) } //~ the output of step `a` has a type that is written out, not the const parameter `N`: a flow has one shape; use const parameters in bodies only
}

fn main() {}
