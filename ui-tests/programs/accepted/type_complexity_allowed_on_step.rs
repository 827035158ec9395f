use flow_runtime::prelude::*;

struct Shop;

use std::collections::{BTreeMap, HashMap};
#[flow(input = u32)]
impl Shop {
    #[allow(clippy::type_complexity)]
    #[step]
    async fn a(
        &self,
        input: u32,
    ) -> Result<
        HashMap<String, BTreeMap<(u32, u32), Vec<Option<HashMap<String, Vec<Box<Option<(String, u32)>>>>>>>>,
        StepError,
    > {
        std::future::ready(input).await;
        Ok(HashMap::new())
    }
    #[allow(clippy::type_complexity, clippy::vec_box)]
    #[step]
    async fn b(
        &self,
        a: HashMap<String, BTreeMap<(u32, u32), Vec<Option<HashMap<String, Vec<Box<Option<(String, u32)>>>>>>>>,
    ) -> Result<Vec<Box<u32>>, StepError> {
        std::future::ready(a).await;
        Ok(vec![])
    }
    #[allow(clippy::vec_box, clippy::linkedlist)]
    #[step]
    async fn c(&self, b: Vec<Box<u32>>) -> Result<std::collections::LinkedList<u32>, StepError> {
        std::future::ready(b).await;
        Ok(std::collections::LinkedList::new())
    }
    #[allow(clippy::linkedlist)]
    #[step]
    async fn d(&self, c: std::collections::LinkedList<u32>) -> Result<Box<Vec<u32>>, StepError> {
        std::future::ready(c).await;
        Ok(Box::new(vec![]))
    }
    #[allow(clippy::box_collection)]
    #[step]
    async fn e(&self, d: Box<Vec<u32>>) -> Result<u32, StepError> {
        std::future::ready(d).await;
        Ok(1)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
