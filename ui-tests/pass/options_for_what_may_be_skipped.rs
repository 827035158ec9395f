// T5, T6, T7
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[step(run_if = [1])]
    async fn unmet(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[map(over = input, run_unless = [1])]
    async fn unmet_map(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }

    #[step(when_exhausted = skip)]
    async fn exhausted(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[step(run_if = [1], when_unmet = skip_cascade, when_exhausted = skip)]
    async fn both(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[step(run_if = [1], when_unmet = skip_cascade, when_exhausted = skip_cascade)]
    async fn cascade(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[step(run_if = [1], when_unmet = fail)]
    async fn failing(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[step]
    async fn all(
        &self,
        unmet: Option<u32>,
        unmet_map: Option<Vec<u32>>,
        exhausted: Option<u32>,
        both: Option<u32>,
        cascade: u32,
        failing: u32,
    ) -> Result<u32, StepError> {
        let _ = (unmet, unmet_map, exhausted, both);
        Ok(cascade + failing)
    }
}

// T6, T7
#[test]
fn plain_skip_makes_an_option_and_cascades_reach_the_leaf() {
    let output: ShopOutput = serde_json::from_str("{}").expect("a cascade may reach the leaf");
    assert_eq!(output.all, None);
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
