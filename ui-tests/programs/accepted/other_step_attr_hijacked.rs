use flow_runtime::prelude::*;

#[derive(Debug)]
struct Shop;

/// An attribute of another crate that has the name of a marker.
mod allure {
    pub use tracing::instrument as step;
}

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
    #[allure::step]
    fn helper(&self) -> u32 {
        1
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
