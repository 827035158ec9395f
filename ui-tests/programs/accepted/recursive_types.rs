use flow_runtime::prelude::*;

struct Shop;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Tree {
    kids: Vec<Tree>,
    next: Option<Box<Tree>>,
}
#[flow(input = Tree)]
impl Shop {
    #[step(run_if = { "kids": [{ "kids": [{}] }], "next": { "next": null } })]
    async fn a(&self, input: Tree) -> Result<Tree, StepError> {
        std::future::ready(()).await;
        Ok(input)
    }
}
#[test]
fn t() {
    Shop::check().unwrap();
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
