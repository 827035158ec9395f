//! Flows of every visibility in a library: no lint finds anything in what the macros write.

#![deny(
    warnings,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    rust_2018_idioms,
    clippy::all,
    clippy::pedantic
)]
#![forbid(unsafe_code)]

use engine::{prelude::*, route_flow, with_step_queues};
use serde::{Deserialize, Serialize};

/// What a run begins with.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Order {
    /// Whether to wrap it.
    pub gift: bool,
}

/// A flow that others use.
#[derive(Debug)]
pub struct Shop;

/// Sells.
#[flow(input = Order)]
impl Shop {
    /// Reserves.
    ///
    /// # Errors
    /// Never.
    #[step(when_exhausted = skip)]
    pub async fn reserve(&self, input: Order) -> Result<Vec<u32>, StepError> {
        std::future::ready(()).await;
        Ok(vec![input.gift.into()])
    }

    #[map(over = reserve, blocking)]
    fn pick(&self, item: u32) -> Result<u32, StepError> {
        self.limited(item).ok_or_else(|| "too many".into())
    }

    fn limited(&self, number: u32) -> Option<u32> {
        let Self = self;
        (number < 100).then_some(number)
    }
}

with_step_queues!(pub ShopQueues for Shop);
route_flow!(pub ShopRoutes for Shop { Reserve => "stock", Pick => "stock" });

pub(crate) mod inner {
    use super::{Deserialize, Serialize};
    use engine::prelude::*;

    #[derive(Serialize, Deserialize, schemars::JsonSchema)]
    pub(crate) struct Grain;

    pub(crate) struct Mill;

    #[flow(input = Grain)]
    impl Mill {
        #[step]
        async fn grind(&self, input: Grain) -> Result<Grain, StepError> {
            std::future::ready(self).await;
            Ok(input)
        }
    }

    engine::with_step_queues!(pub(crate) MillQueues for Mill);
}

struct Till;

#[flow(input = u32)]
impl Till {
    #[step]
    async fn count(&self, input: u32, ctx: &StepContext) -> Result<u32, StepError> {
        std::future::ready(self).await;
        Ok(input + ctx.attempt())
    }
}

with_step_queues!(TillQueues for Till);

/// Whether every flow of this crate is free of mistakes.
#[must_use]
pub fn all_are_right() -> bool {
    let _ = (inner::MillQueues::new(inner::Mill), TillQueues::new(Till), ShopRoutes::new(Shop));
    Shop::check().is_ok() && inner::Mill::check().is_ok() && Till::check().is_ok()
}

#[cfg(test)]
mod tests {
    // T27
    #[test]
    fn flows_of_every_visibility_are_right() {
        assert!(super::all_are_right());
    }
}
