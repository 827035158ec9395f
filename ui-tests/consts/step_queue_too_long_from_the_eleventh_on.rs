// T14
// step `step_k` of flow `ssssssssssssssssssssssssssssssssssssssssssss` has no queue name that fits: `ssssssssssssssssssssssssssssssssssssssssssss__step_k` has 52 bytes and `ssssssssssssssssssssssssssssssssssssssssssss__10` has 48, but at most 47 are allowed; give the flow a shorter slug
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, slug = "ssssssssssssssssssssssssssssssssssssssssssss")]
impl Shop {
    #[step]
    async fn step_a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step_b(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step_c(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step_d(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step_e(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step_f(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step_g(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step_h(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step_i(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step_j(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn step_k(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

flow_runtime::with_step_queues!(ShopQueues for Shop);

fn main() {}
