use flow_runtime::prelude::*;

macro_rules! mk {
    ($n:ident, $c:ty, $o:ty) => {
        struct $n;
        #[flow(input = u32)]
        impl $n {
            #[step(when_exhausted = skip)]
            async fn a(&self, input: u32) -> Result<u32, StepError> {
                Ok(input)
            }
            #[step]
            async fn b(&self, a: $o, ctx: $c) -> Result<u32, StepError> {
                let _ = ctx;
                Ok(a.unwrap())
            }
        }
    };
}
mk!(C1, &StepContext, Option<u32>);

pub(crate) fn main() {
    crate::run::run_handlers(C1);
}
