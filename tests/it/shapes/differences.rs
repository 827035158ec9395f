//! Each difference between two shapes, and what is none.

use flow_runtime::{FlowBuilder, StepBuilder, prelude::*};
use flow_tests::support::{Engine, Graph};
use serde_json::{Value, json};

/// The differences that the database finds between two shapes.
async fn differences(engine: &Engine, stored: &Value, sent: &Value) -> Vec<String> {
    let query = "select flow.shape_differences($1, $2)";
    sqlx::query_scalar(query).bind(stored).bind(sent).fetch_one(engine.pool()).await.unwrap()
}

/// The differences of two shapes are exactly `lines`, in which `{old}` and `{new}` stand for what both have.
async fn check_differences(engine: &Engine, shapes: [&Value; 2], lines: &[(&str, &str, &str)]) {
    let text = |what: &str, stored: &str, sent: &str| format!("{what}: stored {stored}, sent {sent}");
    let there: Vec<String> = lines.iter().map(|(what, old, new)| text(what, old, new)).collect();
    let back: Vec<String> = lines.iter().map(|(what, old, new)| text(what, new, old)).collect();
    assert_eq!(differences(engine, shapes[0], shapes[1]).await, there);
    assert_eq!(differences(engine, shapes[1], shapes[0]).await, back);
}

// P5
#[tokio::test]
async fn each_difference_by_itself_is_one_entry_in_both_directions() {
    let engine = Engine::new().await;
    let base = || Graph::new("two").single("a", &[]).single("b", &[]);
    let single = |needs: &[&str]| base().single("c", needs);
    let map = |over: &str| base().map("c", over, &[]);
    let conditional = |field: &str, pattern: Value| single(&["a"]).with(field, pattern).with("when_unmet", "skip");
    let pairs = [
        (
            single(&[]),
            base().map("c", "a", &[]),
            vec![("step 2 \"c\", kind", "\"single\"", "\"map\""), ("step 2 \"c\", over", "null", "\"a\"")],
        ),
        (map("input"), map("b"), vec![("step 2 \"c\", over", "\"input\"", "\"b\"")]),
        (map("a"), map("b"), vec![("step 2 \"c\", over", "\"a\"", "\"b\"")]),
        (single(&["a"]), single(&["a", "b"]), vec![("step 2 \"c\", needs", "[\"a\"]", "[\"a\", \"b\"]")]),
        (single(&["a"]), single(&["b"]), vec![("step 2 \"c\", needs", "[\"a\"]", "[\"b\"]")]),
        (single(&["a"]).with("after", json!(["b"])), single(&["a"]), vec![("step 2 \"c\", after", "[\"b\"]", "[]")]),
        (
            conditional("run_if", json!({"a": 1})),
            conditional("run_if", json!({"a": 2})),
            vec![("step 2 \"c\", run_if", "{\"a\": 1}", "{\"a\": 2}")],
        ),
        (
            conditional("run_unless", json!({"a": [1]})),
            conditional("run_unless", json!({"a": []})),
            vec![("step 2 \"c\", run_unless", "{\"a\": [1]}", "{\"a\": []}")],
        ),
        (
            conditional("run_if", json!({})).with("when_unmet", "skip_cascade"),
            conditional("run_if", json!({})).with("when_unmet", "fail"),
            vec![("step 2 \"c\", when_unmet", "\"skip_cascade\"", "\"fail\"")],
        ),
        (
            single(&[]).with("when_exhausted", "skip_cascade"),
            single(&[]),
            vec![("step 2 \"c\", when_exhausted", "\"skip_cascade\"", "\"fail\"")],
        ),
        (single(&[]), single(&[]).step_queues(), vec![("queue_mode", "\"plain\"", "\"step_queues\"")]),
        (
            base(),
            base().single("c", &[]).single("d", &[]).single("e", &[]),
            vec![
                ("number of steps", "2", "5"),
                ("step 2", "nothing", "\"c\""),
                ("step 3", "nothing", "\"d\""),
                ("step 4", "nothing", "\"e\""),
            ],
        ),
    ];
    for (stored, sent, lines) in &pairs {
        check_differences(&engine, [&stored.shape(), &sent.shape()], lines).await;
    }

    // A slug names its line, so that the two directions are no mirror images.
    let (c, d) = (single(&[]).shape(), base().single("d", &[]).shape());
    assert_eq!(differences(&engine, &c, &d).await, ["step 2 \"c\", slug: stored \"c\", sent \"d\""]);
    let capital = base().single("C", &[]).shape();
    assert_eq!(differences(&engine, &c, &capital).await, ["step 2 \"c\", slug: stored \"c\", sent \"C\""]);

    // Routes cannot be deployed yet; what compares shapes knows them all the same.
    let route = |queue: &str| {
        let mut shape = single(&[]).shape();
        shape["queue_mode"] = "routed".into();
        shape["steps"][1]["queue"] = queue.into();
        shape
    };
    let line = ("step 1 \"b\", queue", "\"stock\"", "\"carriers\"");
    check_differences(&engine, [&route("stock"), &route("carriers")], &[line]).await;
}

mod one_order {
    use super::*;

    pub(super) struct Mixed;

    #[flow(input = u32, slug = "mixed")]
    impl Mixed {
        #[step(schema = any)]
        async fn first(&self) -> Result<u32, StepError> {
            Ok(1)
        }

        #[step(schema = any)]
        async fn second(&self) -> Result<u32, StepError> {
            Ok(2)
        }

        #[step(run_if = { "first": { "x": 1, "y": [{ "a": 1, "b": 2 }] }, "second": {} })]
        async fn join(&self, first: u32, input: u32, second: u32) -> Result<u32, StepError> {
            Ok(first + input + second)
        }
    }
}

mod another_order {
    use super::*;

    pub(super) struct Mixed;

    #[flow(input = u32, slug = "mixed")]
    impl Mixed {
        #[step(schema = any)]
        async fn first(&self) -> Result<u32, StepError> {
            Ok(1)
        }

        #[step(schema = any)]
        async fn second(&self) -> Result<u32, StepError> {
            Ok(2)
        }

        #[step(run_if = { "second": {}, "first": { "y": [{ "b": 2, "a": 1 }], "x": 1 } })]
        async fn join(&self, second: u32, first: u32, input: u32) -> Result<u32, StepError> {
            Ok(first + input + second)
        }
    }
}

// P6
#[tokio::test]
async fn neither_the_order_of_parameters_nor_that_of_keys_is_part_of_a_shape() {
    let engine = Engine::new().await;
    let built = |needs: [&str; 2], after: [&str; 2], condition: &str| {
        let pattern: Value = serde_json::from_str(condition).unwrap();
        let graph = FlowBuilder::new("built").steps(["a", "b", "c", "d"].map(StepBuilder::single));
        graph.step(StepBuilder::single("e").needs(needs).after(after).run_unless(pattern)).build().unwrap()
    };
    let pairs = [
        (one_order::Mixed::definition(), another_order::Mixed::definition()),
        (
            built(["a", "b"], ["c", "d"], r#"{"a": {"x": 1, "y": 2}, "b": 1}"#),
            built(["b", "a"], ["d", "c"], r#"{"b": 1, "a": {"y": 2, "x": 1}}"#),
        ),
    ];
    engine.run_sql("select flow.set_setting('environment', '\"production\"')").await;
    for (stored, sent) in pairs.map(|pair| (json!(pair.0), json!(pair.1))) {
        assert_eq!(engine.try_deploy(&stored).await.unwrap(), json!({"result": "created"}));
        assert_eq!(engine.try_deploy(&sent).await.unwrap(), json!({"result": "verified"}));
    }
}

// P6
#[tokio::test]
async fn the_same_steps_in_another_step_order_are_a_mismatch() {
    let engine = Engine::new().await;
    engine.run_sql("select flow.set_setting('environment', '\"production\"')").await;
    let graph = |order: [&str; 3]| {
        let steps = order.into_iter().fold(Graph::new("order"), |graph, slug| graph.single(slug, &[]));
        steps.single("last", &[]).with("after", json!(order)).definition()
    };
    engine.try_deploy(&graph(["a", "b", "c"])).await.unwrap();
    let answer = engine.try_deploy(&graph(["a", "c", "b"])).await.unwrap();
    assert_eq!(answer["result"], "mismatch");
    let lines = json!([
        "step 1 \"b\", slug: stored \"b\", sent \"c\"",
        "step 2 \"c\", slug: stored \"c\", sent \"b\"",
        "step 3 \"last\", after: stored [\"a\", \"b\", \"c\"], sent [\"a\", \"c\", \"b\"]"
    ]);
    assert_eq!(answer["differences"], lines);
}
