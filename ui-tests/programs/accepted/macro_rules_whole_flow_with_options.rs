use flow_runtime::prelude::*;

macro_rules! mk {
    ($name:ident, $in:ty, $slug:literal, $tries:expr, $step:ident, $out:ty, $($rest:ident),*) => {
        struct $name;
        #[flow(input = $in, slug = $slug, max_attempts = $tries)]
        impl $name {
            #[step(timeout = "30s")]
            async fn $step(&self, input: $in) -> Result<$out, StepError> { std::future::ready(()).await; Ok(input) }
            $(
            #[step(after($step))]
            async fn $rest(&self, input: $in) -> Result<$out, StepError> { std::future::ready(()).await; Ok(input) }
            )*
        }
    };
}
mk!(M1, u32, "m1", 5, first, u32, second, third);

pub(crate) fn main() {
    crate::run::run_handlers(M1);
}
