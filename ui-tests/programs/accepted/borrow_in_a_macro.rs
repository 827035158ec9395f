use flow_runtime::prelude::*;

macro_rules! shop {
    ($name:ident, $step:ident, $body:expr) => {
        struct $name;

        #[flow(input = u32)]
        impl $name {
            #[step]
            async fn $step(&self, input: u32) -> Result<u32, StepError> {
                let key: &str = std::borrow::Borrow::borrow("a");
                std::future::ready($body).await;
                Ok(input ^ u32::try_from(key.len())?)
            }
        }
    };
}

shop!(Shop, pick, 3);

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
