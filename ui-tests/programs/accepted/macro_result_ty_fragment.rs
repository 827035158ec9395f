use flow_runtime::prelude::*;

macro_rules! mk {
    ($n:ident, $r:ty) => {
        struct $n;
        #[flow(input = u32)]
        impl $n {
            #[step]
            async fn a(&self, input: u32) -> $r {
                std::future::ready(()).await;
                Ok(input)
            }
        }
    };
}
mk!(B1, Result<u32, StepError>);

pub(crate) fn main() {
    crate::run::run_handlers(B1);
}
