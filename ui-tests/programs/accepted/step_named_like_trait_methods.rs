use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn call(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step]
    async fn definition(&self, call: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(call)
    }
    #[step]
    async fn check(&self, definition: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(definition)
    }
    #[step]
    async fn graph(&self, check: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(check)
    }
    #[step]
    async fn slug(&self, graph: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(graph)
    }
    #[step]
    async fn all(&self, slug: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(slug)
    }
    #[step]
    async fn step_slugs(&self, all: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(all)
    }
    #[step]
    async fn takes_input(&self, step_slugs: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(step_slugs)
    }
    #[step]
    async fn clone(&self, takes_input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(takes_input)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
