use flow_runtime::prelude::*;

enum Env {
    Prod,
    Test,
}
struct Tup(u32, String);
#[flow(input = u32)]
impl Env {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(match self {
            Self::Prod => input,
            Self::Test => 0,
        })
    }
}
#[flow(input = u32)]
impl Tup {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(&self.1).await;
        Ok(self.0 + input)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Env::Prod);
    crate::run::run_handlers(Env::Test);
    crate::run::run_handlers(Tup(1, String::new()));
}
