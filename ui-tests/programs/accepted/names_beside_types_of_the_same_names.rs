use flow_runtime::prelude::*;

struct Shop;

struct ShopStep;
struct ShopOutput;

#[flow(input = u32, names = ShopFlow)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn used(output: &ShopFlowOutput) -> (ShopStep, ShopOutput, ShopFlowStep, u32) {
    (ShopStep, ShopOutput, ShopFlowStep::A, output.a)
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
