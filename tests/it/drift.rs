//! Types that change under an unchanged shape: what is recorded, told and refused.

use flow_runtime::{
    FlowBuilder, JsonFlow, JsonHandler, OnDrift, StepBuilder,
    error::{DeployError, WorkerError},
    prelude::*,
};
use flow_tests::support::{Engine, Log};
use serde_json::{Value, json};

/// A flow of two steps whose input and outputs have these schemas.
fn typed(input: Value, outputs: [Value; 2]) -> FlowBuilder {
    let [first, second] = outputs;
    let first = StepBuilder::single("first").output_schema(first);
    FlowBuilder::new("typed").input_schema(input).step(first).step(StepBuilder::single("second").output_schema(second))
}

fn before() -> FlowBuilder {
    let input = json!({"type": "object", "required": ["id"], "properties": {
        "id": {"type": "integer"}, "gone": {"type": "string"}, "same": {"type": "boolean"},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"count": {"type": "integer"}}}},
    }});
    typed(input, [json!({"type": "string"}), json!({"type": "array", "items": {"type": "number"}})])
}

/// The same shape with other types, another option and another note.
fn after() -> FlowBuilder {
    let input = json!({"type": "object", "required": ["id", "name"], "properties": {
        "id": {"type": "integer"}, "name": {"type": "string"}, "same": {"type": "boolean"},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"count": {"type": "string"}}}},
    }});
    let outputs = [json!({"type": "string"}), json!({"type": "array", "items": {"type": "integer"}, "minItems": 1})];
    typed(input, outputs).max_attempts(9).note("Changed.")
}

/// Every path at which the two differ, by input and step.
const PATHS: [&str; 6] = [
    "/properties/gone",
    "/properties/lines/items/properties/count/type",
    "/properties/name",
    "/required",
    "/items/type",
    "/minItems",
];

fn worker(engine: &Engine, flow: FlowBuilder, on_drift: OnDrift) -> Worker {
    let flow = JsonFlow::builder(flow).other_steps(JsonHandler::new(async |_| Ok(Value::Null))).build().unwrap();
    Worker::builder(&Db::new(engine.url()).unwrap()).json(flow).on_drift(on_drift).build().unwrap()
}

/// Everything that a deployment could write, with the transaction that wrote it.
const WRITTEN: &str = "
    select jsonb_build_array(
        (select jsonb_agg(jsonb_build_array(f.xmin::text, to_jsonb(f))) from flow.flow f),
        (select jsonb_agg(jsonb_build_array(s.xmin::text, to_jsonb(s)) order by s.step_index) from flow.step s),
        (select jsonb_agg(jsonb_build_array(c.xmin::text, to_jsonb(c)) order by c.step_index) from flow.contract c),
        (select count(*) from flow.queue), (select count(*) from flow.worker))";

// P14
#[tokio::test]
async fn a_worker_with_changed_types_is_refused_whole_or_told_of_every_path() {
    let engine = Engine::new().await;
    worker(&engine, before(), OnDrift::Report).start().await.unwrap().shutdown().await.unwrap();
    let schemas = "select jsonb_agg(c.schema order by c.step_index) from flow.contract c";
    let written = engine.value::<Value>(WRITTEN).await;

    let Err(WorkerError::Deploy(DeployError::Drift(text))) = worker(&engine, after(), OnDrift::Refuse).start().await
    else {
        panic!("a worker with other types was not refused")
    };
    for path in PATHS {
        assert!(text.contains(&format!("\"{path}\"")), "{path}: {text}");
    }
    assert!(!text.contains("same") && !text.contains("/properties/id") && !text.contains("\"first\""), "{text}");
    assert_eq!(engine.value::<Value>(WRITTEN).await, written, "a refused deployment wrote something");

    let (log, _guard) = Log::begin();
    worker(&engine, after(), OnDrift::Report).start().await.unwrap().shutdown().await.unwrap();
    let told = log.lines_with("types changed");
    assert!(told.len() == 1 && told[0].contains("WARN") && told[0].contains("typed"), "{told:?}");
    for path in PATHS {
        assert!(told[0].replace('\\', "").contains(&format!("\"{path}\"")), "{path}: {told:?}");
    }
    let definition =
        JsonFlow::builder(after()).other_steps(JsonHandler::new(async |_| Ok(Value::Null))).build().unwrap();
    let contract = &definition.definition().contract;
    let mut sent = vec![contract.input.schema.clone()];
    sent.extend(contract.outputs.iter().map(|output| output.schema.clone()));
    assert_eq!(engine.value::<Value>(schemas).await, json!(sent), "the new types are recorded");

    worker(&engine, after(), OnDrift::Refuse).start().await.unwrap().shutdown().await.unwrap();
    assert_eq!(log.lines_with("types changed").len(), 1, "what is recorded is no drift any more");
}
