use flow_runtime::prelude::*;

macro_rules! mk {
    ($n:ident, $t:expr, $s:expr, $m:ident) => {
        struct $n;
        #[flow(input = u32, timeout = $t, slug = $s)]
        impl $n {
            #[step(when_exhausted = $m)]
            async fn a(&self, input: u32) -> Result<u32, StepError> {
                Ok(input)
            }
        }
    };
}
mk!(C2, "3s", "c_two", skip);

pub(crate) fn main() {
    crate::run::run_handlers(C2);
}
