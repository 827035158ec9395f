use flow_runtime::prelude::*;

macro_rules! mk {
    ($n:ident, $j:tt, $e:expr) => {
        struct $n;
        #[flow(input = u32)]
        impl $n {
            #[step(run_if = $j)]
            async fn a(&self, input: u32) -> Result<u32, StepError> {
                Ok(input)
            }
            #[step(run_if = $e)]
            async fn b(&self, input: u32) -> Result<u32, StepError> {
                Ok(input)
            }
        }
    };
}
mk!(C3, 3, 4);

pub(crate) fn main() {
    crate::run::run_handlers(C3);
}
