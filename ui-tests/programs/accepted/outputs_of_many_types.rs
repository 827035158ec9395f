use flow_runtime::prelude::*;

struct Shop;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Tagged {
    First { some_field: u32 },
    Second,
}
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
enum Un {
    N(u32),
    S(String),
}
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Gen<T> {
    value: T,
}
#[flow(input = ())]
impl Shop {
    #[step]
    async fn a(&self, input: ()) -> Result<Tagged, StepError> {
        std::future::ready(input).await;
        Ok(Tagged::Second)
    }
    #[step]
    async fn b(&self, a: Tagged) -> Result<Un, StepError> {
        std::future::ready(a).await;
        Ok(Un::N(1))
    }
    #[step]
    async fn c(&self, b: Un) -> Result<(u32, String, [u8; 2]), StepError> {
        std::future::ready(b).await;
        Ok((1, String::new(), [1, 2]))
    }
    #[step]
    async fn d(&self, #[from(c)] (n, s, [x, _]): (u32, String, [u8; 2])) -> Result<Box<Gen<Option<u32>>>, StepError> {
        std::future::ready((n, s, x)).await;
        Ok(Box::new(Gen { value: None }))
    }
    #[step]
    async fn e(&self, d: Box<Gen<Option<u32>>>) -> Result<Arc<str>, StepError> {
        std::future::ready(d).await;
        Ok("x".into())
    }
    #[step]
    async fn f(&self, e: Arc<str>) -> Result<Cow<'static, str>, StepError> {
        std::future::ready(e).await;
        Ok("x".into())
    }
    #[step]
    async fn g(&self, f: Cow<'static, str>) -> Result<serde_json::Value, StepError> {
        std::future::ready(f).await;
        Ok(serde_json::Value::Null)
    }
    #[step]
    async fn h(&self, g: serde_json::Value) -> Result<(), StepError> {
        std::future::ready(g).await;
        Ok(())
    }
    #[step]
    async fn i(&self, h: ()) -> Result<HashMap<String, BTreeMap<u32, BTreeSet<String>>>, StepError> {
        std::future::ready(h).await;
        Ok(HashMap::new())
    }
    #[step(after(i))]
    async fn j(&self) -> Result<Result<u32, String>, StepError> {
        std::future::ready(()).await;
        Ok(Err("no".into()))
    }
    #[step]
    async fn k(&self, j: Result<u32, String>) -> Result<Option<Option<u32>>, StepError> {
        std::future::ready(()).await;
        Ok(Some(j.ok()))
    }
    #[step]
    async fn l(&self, k: Option<Option<u32>>) -> Result<std::time::Duration, StepError> {
        std::future::ready(k).await;
        Ok(std::time::Duration::ZERO)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
