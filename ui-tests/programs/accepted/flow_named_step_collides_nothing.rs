use flow_runtime::prelude::*;

struct Step;
struct Flow;
struct Output;
struct Handlers;
#[flow(input = u32)]
impl Step {
    #[step]
    async fn step(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step]
    async fn map(&self, step: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(step)
    }
    #[step]
    async fn flow(&self, map: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(map)
    }
}
#[flow(input = u32)]
impl Flow {
    #[step]
    async fn output(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step]
    async fn private(&self, output: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(output)
    }
    #[step]
    async fn args(&self, private: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(private)
    }
    #[step]
    async fn f(&self, args: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(args)
    }
    #[step]
    async fn name(&self, f: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(f)
    }
    #[step]
    async fn leaf(&self, name: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(name)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Step);
    crate::run::run_handlers(Flow);
}
