// T23
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn r#match(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn take_2nd_item(&self, r#match: u32) -> Result<u32, StepError> {
        Ok(r#match)
    }

    #[step(variant = StepTwo)]
    async fn step_2(&self, #[from(r#match)] found: u32) -> Result<u32, StepError> {
        Ok(found)
    }

    #[step(slug = "Second")]
    async fn step2(&self, take_2nd_item: u32) -> Result<u32, StepError> {
        Ok(take_2nd_item)
    }
}

// T23
#[test]
fn names_are_made_of_the_methods() {
    let slugs: Vec<&str> = ShopStep::ALL.iter().map(|step| step.as_str()).collect();
    assert_eq!(slugs, ["match", "take_2nd_item", "step_2", "Second"]);
    let variants = [ShopStep::Match, ShopStep::Take2ndItem, ShopStep::StepTwo, ShopStep::Step2];
    assert_eq!(ShopStep::ALL, variants);
    assert_eq!((Shop::MATCH.slug(), Shop::STEP_TWO.slug(), Shop::STEP2.slug()), ("match", "step_2", "Second"));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
