use flow_runtime::prelude::*;

struct Shop;

use eyre::Result;

/// A report like those of other crates: no standard error, but one that converts into a boxed one.
mod eyre {
    #[derive(Debug)]
    pub struct Report(String);
    pub type Result<T, E = Report> = std::result::Result<T, E>;
    impl From<Report> for Box<dyn std::error::Error + Send + Sync> {
        fn from(report: Report) -> Self {
            report.0.into()
        }
    }
}
#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32) -> Result<u32> {
        std::future::ready(()).await;
        Ok(input)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
