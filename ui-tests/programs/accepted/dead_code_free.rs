use flow_runtime::prelude::*;

struct Unused {
    name: String,
}
#[flow(input = u32)]
impl Unused {
    #[step]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(&self.name).await;
        Ok(input)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Unused { name: String::new() });
}
