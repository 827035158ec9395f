use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn some(&self, input: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step]
    async fn none(&self, some: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(some)
    }
    #[step]
    async fn ok(&self, none: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(none)
    }
    #[step]
    async fn err(&self, ok: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(ok)
    }
    #[step]
    async fn u32(&self, err: u32) -> Result<u32, StepError> {
        std::future::ready(()).await;
        Ok(err)
    }
    #[step]
    async fn string(&self, #[from(u32)] n: u32) -> Result<String, StepError> {
        std::future::ready(()).await;
        Ok(n.to_string())
    }
    #[step]
    async fn vec(&self, string: String) -> Result<Vec<String>, StepError> {
        std::future::ready(()).await;
        Ok(vec![string])
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
