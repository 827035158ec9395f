use flow_runtime::prelude::*;

/// S.
pub struct Shop;
#[flow(input = u32)]
impl Shop {
    #[step(slug = "kind")]
    async fn r#type(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
    #[step(run_if = { "kind": [1, 2] })]
    async fn r#match(&self, r#type: u32) -> Result<u32, StepError> {
        Ok(r#type)
    }
    #[step]
    async fn r#loop(&self, #[from(r#match)] r#final: Option<u32>) -> Result<u32, StepError> {
        Ok(r#final.unwrap_or(1))
    }
}
pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
