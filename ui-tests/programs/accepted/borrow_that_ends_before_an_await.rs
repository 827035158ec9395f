use std::cell::RefCell;

use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self, input: u32, ctx: &StepContext) -> Result<u32, StepError> {
        let cell = RefCell::new(input);
        let seen = *cell.borrow();
        {
            let mut held = cell.borrow_mut();
            *held ^= ctx.attempt();
        }
        std::future::ready(()).await;
        Ok(cell.into_inner() ^ seen)
    }
    // Looks as if it held a borrow of a cell, and does not.
    #[step]
    async fn b(&self, a: u32) -> Result<u32, StepError> {
        let key: &str = std::borrow::Borrow::borrow("a");
        std::future::ready(()).await;
        Ok(a ^ u32::try_from(key.len())?)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
