use flow_runtime::prelude::*;

macro_rules! shop {
    ($name:ident, $flow:ty, $input:ty, $list:ty, $item:ty, $ctx:ty, $result:ty) => {
        struct $name;
        #[flow(input = $input)]
        impl $flow {
            #[step(when_exhausted = skip)]
            async fn list(&self, input: $input, ctx: $ctx) -> Result<$list, StepError> {
                let _ = (input, ctx);
                Ok(vec![1])
            }
            #[map(over = list)]
            async fn each(&self, item: $item) -> $result {
                Ok(item)
            }
        }
    };
}
shop!(Made, Made, u32, Vec<u32>, u32, &StepContext, Result<u32, StepError>);

pub(crate) fn main() {
    crate::run::run_handlers(Made);
}
