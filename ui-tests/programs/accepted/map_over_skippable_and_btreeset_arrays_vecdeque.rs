use flow_runtime::prelude::*;

struct Shop;

use std::collections::{BTreeSet, HashSet, VecDeque};
#[flow(input = [u32; 3])]
impl Shop {
    #[map(over = input)]
    async fn a(&self, item: u32) -> Result<VecDeque<u32>, StepError> {
        std::future::ready(()).await;
        Ok(VecDeque::from([item]))
    }
    #[map(over = a)]
    async fn b(&self, item: VecDeque<u32>) -> Result<BTreeSet<u32>, StepError> {
        std::future::ready(()).await;
        Ok(item.into_iter().collect())
    }
    #[step(when_exhausted = skip)]
    async fn c(&self, b: Vec<BTreeSet<u32>>) -> Result<HashSet<String>, StepError> {
        std::future::ready(b).await;
        Ok(HashSet::new())
    }
    #[map(over = c)]
    async fn d(&self, item: String) -> Result<Box<[u32]>, StepError> {
        std::future::ready(item).await;
        Ok(Box::new([]))
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
