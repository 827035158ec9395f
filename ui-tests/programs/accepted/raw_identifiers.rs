use flow_runtime::prelude::*;

struct r#Gen;
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct r#Type {
    r#fn: u32,
}
#[flow(input = r#Type)]
impl r#Gen {
    #[step]
    async fn r#match(&self, r#input: r#Type) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input.r#fn)
    }
    #[step]
    async fn r#type(&self, r#match: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(r#match)
    }
    #[step(after(r#type))]
    async fn r#async(&self, #[from(r#match)] r#if: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(r#if)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(r#Gen);
}
