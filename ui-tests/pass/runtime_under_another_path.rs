// T21
mod engine {
    pub(crate) use flow_runtime as flow;
}

use engine::flow::prelude::*;

struct Shop;

#[flow(input = u32, crate = crate::runtime_under_another_path::engine::flow)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

// T21
#[test]
fn generated_code_takes_the_path() {
    assert_eq!(Shop::RESERVE.slug(), "reserve");
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
