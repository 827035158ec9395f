//! What the macro writes and what the builder writes, for flows that say everything and as little as can be said.

use std::time::Duration;

use flow_runtime::{
    FlowBuilder, StepBuilder, StepEnum, StepQueued,
    definition::{FlowDefinition, Mode, QueueMode},
    prelude::*,
    with_step_queues,
};
use flow_tests::support::Engine;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::numbered;

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub(super) struct Line {
    name: String,
    gift: Option<bool>,
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub(super) struct Label {
    lines: Vec<Line>,
    weight: f64,
}

/// A flow that says everything there is to say.
pub(super) struct Full;

/// Sends lines.
///
/// Says everything.
#[flow(input = Vec<Line>, slug = "Full", max_attempts = 9, base_delay = "2s", max_delay = "10m", timeout = "1h")]
impl Full {
    /// Stands last, and is declared first.
    #[step(slug = "Ship", after(audit), run_if = { "pick": [1, 2], "price": 3 }, run_unless = { "price": 0 },
        when_unmet = fail, when_exhausted = skip, max_attempts = 1, base_delay = "1ms", max_delay = "7d",
        timeout = "5s", start_delay = "300s")]
    async fn ship(&self, price: u32, pick: Vec<u32>) -> Result<Option<String>, StepError> {
        Ok(Some(format!("{price} {}", pick.len())))
    }

    #[map(over = input, run_unless = [{ "name": "none", "gift": null }], when_unmet = skip_cascade, start_delay = "0s")]
    async fn pick(&self, item: Line) -> Result<u32, StepError> {
        Ok(item.name.len() as u32)
    }

    #[step]
    async fn audit(&self) -> Result<(), StepError> {
        Ok(())
    }

    #[step(run_if = [{ "gift": true }], when_unmet = fail, base_delay = "3s")]
    async fn price(&self, input: Vec<Line>) -> Result<u32, StepError> {
        Ok(input.len() as u32)
    }

    /// Labels one.
    #[map(over = pick, when_exhausted = skip_cascade, max_delay = "1h")]
    async fn label(&self, item: u32, price: u32) -> Result<Label, StepError> {
        Ok(Label { lines: vec![], weight: f64::from(item * price) })
    }
}

with_step_queues!(FullQueues for Full);

fn full() -> FlowBuilder {
    let second = Duration::from_secs(1);
    FlowBuilder::new("Full")
        .note("Sends lines.\n\nSays everything.")
        .input::<Vec<Line>>()
        .max_attempts(9)
        .base_delay(2 * second)
        .max_delay(600 * second)
        .timeout(3_600 * second)
        .step(
            StepBuilder::single("Ship")
                .needs(["price", "pick"])
                .after(["audit"])
                .run_if(json!({ "price": 3, "pick": [1, 2] }))
                .run_unless(json!({ "price": 0 }))
                .when_unmet(Mode::Fail)
                .when_exhausted(Mode::Skip)
                .max_attempts(1)
                .base_delay(Duration::from_millis(1))
                .max_delay(604_800 * second)
                .timeout(5 * second)
                .start_delay(300 * second)
                .output::<Option<String>>()
                .note("Stands last, and is declared first."),
        )
        .step(
            StepBuilder::map("pick", "input")
                .run_unless(json!([{ "gift": null, "name": "none" }]))
                .when_unmet(Mode::SkipCascade)
                .start_delay(Duration::ZERO)
                .output::<u32>(),
        )
        .step(StepBuilder::single("audit").output::<()>())
        .step(
            StepBuilder::single("price")
                .run_if(json!([{ "gift": true }]))
                .when_unmet(Mode::Fail)
                .base_delay(3 * second)
                .output::<u32>(),
        )
        .step(
            StepBuilder::map("label", "pick")
                .needs(["price"])
                .when_exhausted(Mode::SkipCascade)
                .max_delay(3_600 * second)
                .output::<Label>()
                .note("Labels one."),
        )
}

/// A flow that says as little as can be said.
pub(super) struct Bare;

#[flow(input = u8)]
impl Bare {
    #[step]
    async fn only(&self) -> Result<u8, StepError> {
        Ok(1)
    }
}

fn bare() -> FlowBuilder {
    FlowBuilder::new("bare").input::<u8>().step(StepBuilder::single("only").output::<u8>())
}

// D20
#[test]
fn macro_and_builder_write_the_same_bytes_which_read_back_as_they_were() {
    let queued = full().queue_mode(QueueMode::StepQueues);
    for (made, built) in
        [(Full::definition(), full()), (Bare::definition(), bare()), (FullQueues::definition(), queued)]
    {
        let built = built.build().unwrap();
        let bytes = serde_json::to_string(&built).unwrap();
        assert_eq!(serde_json::to_string(&made).unwrap(), bytes);
        assert_eq!(serde_json::from_str::<FlowDefinition>(&bytes).unwrap(), built);
    }
}

/// The steps of an enum as their slugs, each at its index.
fn of_enum<S: StepEnum>() -> Vec<(i32, String)> {
    S::ALL.iter().map(|step| (i32::try_from(step.index()).unwrap(), step.as_str().to_owned())).collect()
}

// D13
#[tokio::test]
async fn definition_database_and_step_enum_number_the_steps_alike() {
    let engine = Engine::new().await;
    for (definition, of_enum) in
        [(Bare::definition(), of_enum::<BareStep>()), (Full::definition(), of_enum::<FullStep>())]
    {
        engine.try_deploy(&serde_json::to_value(&definition).unwrap()).await.unwrap();
        let slugs = definition.shape.steps.iter().map(|step| step.slug.clone());
        let defined: Vec<_> = (0..).zip(slugs).collect();
        assert_eq!(of_enum, defined);
        assert_eq!(numbered(&engine, &definition.shape.slug).await, defined);
    }
    let expected = ["pick", "audit", "price", "Ship", "label"];
    assert_eq!(of_enum::<FullStep>(), (0..).zip(expected.map(str::to_owned)).collect::<Vec<_>>());
    assert_eq!((Full::PICK.index(), Full::LABEL.index()), (0, 4), "keys have the numbers too");
}
