// T9
use std::collections::{BTreeSet, HashSet, VecDeque};

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

struct Shop;

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Basket(Vec<u16>);

impl FlowList for Basket {
    type Item = u16;
}

#[flow(input = VecDeque<u32>)]
impl Shop {
    #[map(over = input)]
    async fn first(&self, item: u32, input: VecDeque<u32>) -> Result<(String, u8), StepError> {
        Ok((item.to_string(), input.len() as u8))
    }

    #[map(over = first)]
    async fn second(&self, item: (String, u8)) -> Result<u8, StepError> {
        Ok(item.1)
    }

    #[step(when_exhausted = skip)]
    async fn sets(&self, second: Vec<u8>) -> Result<BTreeSet<String>, StepError> {
        Ok(second.iter().map(ToString::to_string).collect())
    }

    #[map(over = sets)]
    async fn of_a_skippable_set(&self, item: String) -> Result<HashSet<u8>, StepError> {
        Ok(item.bytes().collect())
    }

    #[step]
    async fn fixed(&self) -> Result<[u8; 2], StepError> {
        Ok([1, 2])
    }

    #[map(over = fixed, after(sets))]
    async fn of_an_array(&self, item: u8, of_a_skippable_set: Vec<HashSet<u8>>) -> Result<Box<[u8]>, StepError> {
        Ok(Box::from([item, of_a_skippable_set.len() as u8]))
    }

    #[step]
    async fn own(&self) -> Result<Basket, StepError> {
        Ok(Basket(vec![1]))
    }

    #[map(over = own)]
    async fn of_an_own_list(&self, item: u16) -> Result<u16, StepError> {
        Ok(item)
    }
}

// T9
#[test]
fn maps_have_the_types_of_elements() {
    assert_eq!(ShopStep::ALL.len(), 8);
    let output: ShopOutput = serde_json::from_str(r#"{"of_an_array": [[1]], "of_an_own_list": [2]}"#).expect("reads");
    assert_eq!((output.of_an_array[0][0], output.of_an_own_list[0]), (1, 2));
    Shop::check().expect("no mistakes");
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
