// T13
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = Vec<u32>)]
impl Shop {
    #[step(blocking)]
    fn reserve(&self, input: Vec<u32>, ctx: &StepContext) -> Result<Vec<u32>, StepError> {
        let held = std::rc::Rc::new(input);
        Ok(held.iter().map(|number| number + ctx.attempt()).collect())
    }

    #[map(over = reserve, blocking)]
    fn pick(&self, item: u32) -> Result<u32, StepError> {
        Ok(item)
    }
}

// T13
#[test]
fn a_plain_fn_is_a_handler() {
    assert_eq!(Shop.reserve(vec![1], &StepContext::for_test()), Ok(vec![2]));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
