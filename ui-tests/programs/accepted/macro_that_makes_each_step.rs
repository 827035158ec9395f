use flow_runtime::prelude::*;

macro_rules! shop {
    ($(#[$meta:meta])* $name:ident, $in:ty, $($step:ident = $body:expr),+ $(,)?) => {
        $(#[$meta])*
        pub struct $name;
        #[flow(input = $in, max_attempts = 4)]
        impl $name {
            $(
                /// Doc.
                #[step(timeout = "3s")]
                async fn $step(&self, input: $in) -> Result<$in, StepError> { Ok($body(input)) }
            )+
        }
    };
}
shop!(/** First. */ One, u32, a = |x| x + 1, b = |x| x * 2);
shop!(/** Second. */ Two, Vec<String>, a = |x| x);
pub(crate) fn main() {
    crate::run::run_handlers(One);
    crate::run::run_handlers(Two);
}
