// T8
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32, deps)]
impl Shop {
    #[step(when_exhausted = skip)]
    async fn a(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn b(&self, a: Option<u32>) -> Result<u32, StepError> {
        Ok(a.unwrap_or(0))
    }

    #[step]
    async fn c(&self, a: Option<u32>) -> Result<u32, StepError> {
        Ok(a.unwrap_or(0))
    }

    #[step]
    async fn d(&self, b: u32, c: u32) -> Result<u32, StepError> {
        Ok(b + c)
    }
}

// T8
#[test]
fn the_steps_between_are_plain() {
    let deps = ShopDDeps { b: 1, c: 2 };
    assert_eq!(deps.b + deps.c, 3);
    assert_eq!(serde_json::from_str::<ShopOutput>(r#"{"d": 4}"#).expect("reads").d, 4);
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
