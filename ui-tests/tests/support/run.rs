//! Runs the handlers of a flow once, without a database, on values that fit its types.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    time::Duration,
};

use flow_runtime::{
    Handlers, StepCall, StepContext, StepEnum, StepResult,
    definition::{FlowDefinition, StepShape},
    generated::sample_args,
};
use serde_json::{Value, json};

/// Calls each handler of `flow` once, in step order, with what the handlers before it returned.
///
/// # Panics
/// When a value does not decode into what a handler takes.
pub(crate) fn run_handlers<F: Handlers>(flow: F) {
    let flow = Arc::new(flow);
    let definition = F::definition();
    let input = sample_text(&definition.contract.input.schema);
    let mut outputs: Vec<String> = Vec::new();
    for (index, step) in F::Step::ALL.iter().enumerate() {
        let shape = &definition.shape.steps[index];
        let deps: Vec<(usize, &str)> = outputs.iter().map(String::as_str).enumerate().collect();
        let item = item_of(shape, &definition, &input, &outputs);
        let call = Arc::clone(&flow).call(*step, sample_args(&input, item.as_deref(), &deps), StepContext::for_test());
        let returned = end(call);
        if let Err(error) = &returned {
            let is_of_handler = !["does not decode", "has no value"].iter().any(|text| error.message().contains(text));
            assert!(is_of_handler || has_any(&definition), "step `{}`: {}", shape.slug, error.message());
        }
        let output = returned.unwrap_or_else(|_| sample_text(&definition.contract.outputs[index].schema));
        outputs.push(if shape.over.is_some() { format!("[{output}]") } else { output });
    }
}

/// Whether a type has no schema, so that no value of it can be made.
fn has_any(definition: &FlowDefinition) -> bool {
    let contract = &definition.contract;
    contract.outputs.iter().chain([&contract.input]).any(|ty| ty.schema == Value::Bool(true))
}

/// What the attempt ended with. A handler that waits for something else than its own work is left after a while, and one that is
/// `todo!()` fails.
fn end(call: StepCall) -> StepResult {
    let attempt = || match call {
        StepCall::Blocking(call) => call(),
        StepCall::Async(call) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("can be built");
            let attempt = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(1), call).await });
            attempt.unwrap_or_else(|_| Err("it does not end".into()))
        }
    };
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string).or(panic.downcast_ref::<String>().cloned());
        let is_unwritten = ["not yet implemented", "not implemented"];
        if text.is_some_and(|text| is_unwritten.iter().any(|begin| text.starts_with(begin))) {
            return Err("it is not written yet".into());
        }
        resume_unwind(panic)
    })
}

/// The first element of what a map runs over, or one that would fit where the list is empty.
fn item_of(shape: &StepShape, definition: &FlowDefinition, input: &str, outputs: &[String]) -> Option<String> {
    let over = shape.over.as_deref()?;
    let source = definition.shape.steps.iter().position(|step| step.slug == over);
    let list: Value = serde_json::from_str(source.map_or(input, |index| &outputs[index])).expect("outputs are JSON");
    let schema = source.map_or(&definition.contract.input, |index| &definition.contract.outputs[index]);
    let sample = sample(&schema.schema, &schema.schema, 0);
    list.get(0).or(sample.get(0)).map(Value::to_string)
}

fn sample_text(schema: &Value) -> String {
    sample(schema, schema, 0).to_string()
}

/// A value that fits the schema.
fn sample(schema: &Value, root: &Value, depth: usize) -> Value {
    if let Some(path) = schema["$ref"].as_str() {
        let found = root.pointer(path.trim_start_matches('#')).unwrap_or(&Value::Null);
        return sample(found, root, depth + 1);
    }
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[0].clone();
    }
    if let Some(kinds) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let is_null = |kind: &&Value| kind["type"] == "null";
        return sample(kinds.iter().find(is_null).unwrap_or(&kinds[0]), root, depth);
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"].as_array()?.last()?.as_str());
    match kind.unwrap_or("null") {
        "object" => sample_object(schema, root, depth),
        "array" => sample_array(schema, root, depth),
        "string" => match schema["format"].as_str() {
            Some("uuid") => json!("00000000-0000-0000-0000-000000000000"),
            Some("date-time") => json!("2026-01-01T00:00:00Z"),
            _ => json!("a"),
        },
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        _ => Value::Null,
    }
}

fn sample_object(schema: &Value, root: &Value, depth: usize) -> Value {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let fields = required.iter().filter_map(|name| {
        let name = name.as_str()?;
        Some((name.to_owned(), sample(&schema["properties"][name], root, depth)))
    });
    Value::Object(fields.collect())
}

/// A list of one element, or of as many as it has at least.
fn sample_array(schema: &Value, root: &Value, depth: usize) -> Value {
    if let Some(items) = schema["prefixItems"].as_array() {
        return items.iter().map(|item| sample(item, root, depth)).collect();
    }
    let is_recursive = depth > 4;
    let length = schema["minItems"].as_u64().unwrap_or(u64::from(!is_recursive));
    (0..length).map(|_| sample(&schema["items"], root, depth)).collect()
}
