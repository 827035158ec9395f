use flow_runtime::prelude::*;

struct Shop;

#[flow(input = [u8; 4])]
impl Shop {
    #[step]
    async fn a(&self, input: [u8; 4]) -> Result<[u8; 2 + 2], StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
    #[step]
    async fn b(&self, a: [u8; 4]) -> Result<[[u8; 2]; 2], StepError> {
        std::future::ready(()).await;
        Ok([[a[0], a[1]], [a[2], a[3]]])
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
