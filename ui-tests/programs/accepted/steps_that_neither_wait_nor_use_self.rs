use flow_runtime::prelude::*;

#[derive(Clone, Copy)]
struct Small(u8);

#[flow(input = Vec<String>)]
impl Small {
    #[step]
    async fn a(&self, input: Vec<String>) -> Result<usize, StepError> {
        Ok(input.len())
    }
    #[step(blocking)]
    fn b(&self, a: usize) -> Result<bool, StepError> {
        Ok(a > 1)
    }
    #[step]
    async fn c(&self, a: usize, b: bool) -> Result<String, StepError> {
        Ok(format!("{a}{b}{}", self.0))
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Small(1));
}
