//! Conditions: met and unmet in each mode, on the input and on dependencies.

use flow_runtime::{
    FlowBuilder, JsonFlow, JsonHandler, StepBuilder,
    definition::Mode::{Fail, SkipCascade},
    prelude::*,
};
use serde_json::{Value, json};

use super::{Plan, check};

/// Conditions in each mode, on the input and on dependencies.
struct Conditional;

#[flow(input = Plan)]
impl Conditional {
    #[step(run_if = { "gift": "yes" })]
    async fn wrap(&self) -> Result<u32, StepError> {
        Ok(1)
    }

    #[step(run_unless = { "gift": "yes" }, when_unmet = skip_cascade)]
    async fn invoice(&self) -> Result<u32, StepError> {
        Ok(2)
    }

    #[step(run_if = { "paid": "yes" }, when_unmet = fail)]
    async fn check(&self) -> Result<u32, StepError> {
        Ok(3)
    }

    #[step]
    async fn post(&self, invoice: u32) -> Result<u32, StepError> {
        Ok(invoice)
    }

    #[step(after(post))]
    async fn file(&self) -> Result<u32, StepError> {
        Ok(4)
    }

    #[step(after(check), run_if = { "wrap": 1 }, run_unless = { "check": 4 })]
    async fn card(&self, wrap: Option<u32>) -> Result<Option<u32>, StepError> {
        Ok(wrap)
    }

    #[step(after(check))]
    async fn ship(&self, wrap: Option<u32>, card: Option<Option<u32>>) -> Result<Value, StepError> {
        Ok(json!([wrap, card]))
    }
}

fn conditional() -> JsonFlow {
    let single = StepBuilder::single;
    let graph = FlowBuilder::new("conditional")
        .step(single("wrap").run_if(json!({"gift": "yes"})))
        .step(single("invoice").run_unless(json!({"gift": "yes"})).when_unmet(SkipCascade))
        .step(single("check").run_if(json!({"paid": "yes"})).when_unmet(Fail))
        .step(single("post").needs(["invoice"]))
        .step(single("file").after(["post"]))
        .step(
            single("card").needs(["wrap"]).after(["check"]).run_if(json!({"wrap": 1})).run_unless(json!({"check": 4})),
        )
        .step(single("ship").needs(["wrap", "card"]).after(["check"]));
    let constant = |value: u32| JsonHandler::new(move |_| async move { Ok(json!(value)) }).without_input();
    JsonFlow::builder(graph)
        .handler("wrap", constant(1))
        .handler("invoice", constant(2))
        .handler("check", constant(3))
        .handler("post", JsonHandler::new(async |call| Ok(call.output("invoice").clone())))
        .handler("file", constant(4))
        .handler("card", JsonHandler::new(async |call| Ok(call.output("wrap").clone())))
        .handler("ship", JsonHandler::new(async |call| Ok(json!([call.output("wrap"), call.output("card")]))))
        .build()
        .unwrap()
}

// W11
#[tokio::test]
async fn conditions_come_out_alike() {
    let cases = [
        (
            json!({"gift": "yes", "paid": "yes"}),
            "completed
             wrap=completed completed/1
             invoice=skipped condition_unmet
             check=completed completed/1
             post=skipped dependency_skipped
             file=skipped dependency_skipped
             card=completed completed/1
             ship=completed completed/1
             {\"ship\": [1, 1]}",
        ),
        (
            json!({"gift": "no", "paid": "yes"}),
            "completed
             wrap=skipped condition_unmet
             invoice=completed completed/1
             check=completed completed/1
             post=completed completed/1
             file=completed completed/1
             card=skipped condition_unmet
             ship=completed completed/1
             {\"file\": 4, \"ship\": [null, null]}",
        ),
        (
            json!({"gift": "yes"}),
            "failed check condition not met
             wrap=cancelled
             invoice=cancelled
             check=failed \"condition not met\"
             post=cancelled
             file=cancelled
             card=cancelled
             ship=cancelled",
        ),
    ];
    check("conditional", |worker| worker.flow(Conditional), &cases).await;
    check("conditional", |worker| worker.json(conditional()), &cases).await;
}
