// T28
use std::sync::Arc;

use flow_runtime::{Handlers, prelude::*};

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }
}

fn of<F: Handlers>(_: F) -> (&'static str, usize) {
    (F::SLUG, F::definition().shape.steps.len())
}

// T28
#[test]
fn an_arc_is_the_flow() {
    assert_eq!((of(Shop), of(Arc::new(Shop))), (("shop", 1), ("shop", 1)));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
