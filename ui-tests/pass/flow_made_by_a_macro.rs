// T28
use flow_runtime::prelude::*;

macro_rules! shop {
    ($name:ident, $input:ty, $step:ident) => {
        struct $name;

        #[flow(input = $input)]
        impl $name {
            #[step]
            async fn $step(&self, input: $input) -> Result<$input, StepError> {
                Ok(input)
            }

            #[step]
            async fn last(&self, $step: $input) -> Result<$input, StepError> {
                Ok($step)
            }
        }
    };
}

shop!(Shop, Vec<u32>, reserve);
shop!(Mill, String, grind);

// T28
#[test]
fn names_come_through() {
    assert_eq!((ShopStep::Reserve.as_str(), MillStep::Grind.as_str()), ("reserve", "grind"));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
    crate::run::run_handlers(Mill);
}
