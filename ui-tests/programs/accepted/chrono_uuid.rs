use flow_runtime::prelude::*;

struct Shop;

use chrono::{DateTime, Utc};
use uuid::Uuid;
#[flow(input = Uuid)]
impl Shop {
    #[step]
    async fn a(&self, input: Uuid) -> Result<DateTime<Utc>, StepError> {
        std::future::ready(input).await;
        Ok(Utc::now())
    }
    #[step]
    async fn b(&self, a: DateTime<Utc>) -> Result<Vec<Uuid>, StepError> {
        std::future::ready(a).await;
        Ok(vec![])
    }
    #[map(over = b)]
    async fn c(&self, item: Uuid) -> Result<Uuid, StepError> {
        std::future::ready(()).await;
        Ok(item)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
