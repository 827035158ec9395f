use flow_runtime::prelude::*;

struct Gen<T>(T);
#[flow(input = u32, slug = "gen_a", names = GenA)]
impl Gen<u8> {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}
#[flow(input = u32, slug = "gen_b", names = GenB)]
impl Gen<u16> {
    #[step]
    async fn b(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn used() -> (GenAStep, GenBStep) {
    (GenAStep::A, GenBStep::B)
}

pub(crate) fn main() {
    crate::run::run_handlers(Gen(1_u8));
    crate::run::run_handlers(Gen(1_u16));
}
