//! How runs come out when a real worker runs them: the same for a flow made by the macro and for one built with JSON handlers.
//!
//! Workers have one slot, so that the order in which tasks end is the order in which they were queued.

use std::collections::BTreeMap;

use flow_runtime::{
    FlowBuilder, JsonCall, JsonFlow, JsonHandler, StepBuilder, WorkerBuilder,
    definition::Mode::{Fail, Skip, SkipCascade},
    prelude::*,
};
use flow_tests::support::TestDb;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A run as one text: status and error; each step with its reason, error and tasks; the output.
const OUTCOME: &str = "
    select concat_ws(E'\\n', concat_ws(' ', r.status, r.error_step, r.error),
        (select string_agg(concat_ws(' ', s.step || '=' || s.status, s.skip_reason, '\"' || s.error || '\"',
            (select string_agg(t.status || '/' || t.attempt, ' ' order by t.task_index) from flow.tasks t
             where t.run_id = s.run_id and t.step = s.step)), E'\\n' order by s.step_index)
         from flow.steps s where s.run_id = r.run_id),
        r.output::text)
    from flow.runs r where r.run_id = $1";

/// Runs each input on a worker of its own database, and compares how the runs come out.
async fn check(slug: &str, worker: impl FnOnce(flow_runtime::NewWorker) -> WorkerBuilder, cases: &[(Value, &str)]) {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = worker(Worker::builder(&db)).concurrency(1).build().unwrap().start().await.unwrap();
    for (input, expected) in cases {
        let run = Client::new(&db).start_json(slug, input).await.unwrap();
        // A run that fails is one of the outcomes.
        let _ = run.wait().await;
        let outcome: String = sqlx::query_scalar(OUTCOME).bind(run.id()).fetch_one(test.pool()).await.unwrap();
        let lines: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(outcome, lines.join("\n"), "{slug} with {input}");
    }
    worker.shutdown().await.unwrap();
}

/// What each step is to do, by its slug; a step that is not named succeeds.
type Plan = BTreeMap<String, String>;

/// Does what the plan says for a step or an element, and returns the attempt.
fn act(plan: &Plan, who: &str, attempt: u32) -> Result<u32, StepError> {
    match plan.get(who).map(String::as_str) {
        Some("error") => Err(StepError::new(format!("{who} fails"))),
        Some("once") if attempt == 1 => Err(StepError::new(format!("{who} fails once"))),
        Some("permanent") => Err(StepError::permanent(format!("{who} is wrong"))),
        Some("panic") => panic!("{who} panics"),
        _ => Ok(attempt),
    }
}

fn act_json(call: &JsonCall, who: &str) -> Result<Value, StepError> {
    let plan: Plan = serde_json::from_value(call.input().clone())?;
    act(&plan, who, call.ctx().attempt()).map(Value::from)
}

fn acting() -> JsonHandler {
    JsonHandler::new(async |call| act_json(&call, call.ctx().step()))
}

/// Maps over the input, a map, a step and a skipped step, and what stands behind them.
struct Maps;

#[flow(input = Vec<Value>)]
impl Maps {
    #[map(over = input)]
    async fn each(&self, item: Value) -> Result<Value, StepError> {
        Ok(item)
    }

    #[map(over = each)]
    async fn again(&self, item: Value) -> Result<Vec<Value>, StepError> {
        Ok(vec![item])
    }

    #[step(run_if = [true])]
    async fn list(&self, input: Vec<Value>) -> Result<Vec<Value>, StepError> {
        Ok(input.into_iter().take(1).collect())
    }

    #[map(over = list)]
    async fn over_list(&self, item: Value, again: Vec<Vec<Value>>) -> Result<(Value, usize), StepError> {
        Ok((item, again.len()))
    }

    #[step]
    async fn count(&self, each: Vec<Value>, over_list: Vec<(Value, usize)>) -> Result<(usize, usize), StepError> {
        Ok((each.len(), over_list.len()))
    }
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

fn maps() -> JsonFlow {
    let graph = FlowBuilder::new("maps")
        .step(StepBuilder::map("each", "input"))
        .step(StepBuilder::map("again", "each"))
        .step(StepBuilder::single("list").run_if(json!([true])))
        .step(StepBuilder::map("over_list", "list").needs(["again"]))
        .step(StepBuilder::single("count").needs(["each", "over_list"]));
    JsonFlow::new(graph)
        .handler("each", JsonHandler::new(async |call| Ok(call.item().clone())))
        .handler("again", JsonHandler::new(async |call| Ok(json!([call.item()]))))
        .handler("list", JsonHandler::new(async |call| Ok(json!([call.input()[0]]))))
        .handler("over_list", JsonHandler::new(async |call| Ok(json!([call.item(), length(call.output("again"))]))))
        .handler(
            "count",
            JsonHandler::new(async |call| Ok(json!([length(call.output("each")), length(call.output("over_list"))]))),
        )
        .build()
        .unwrap()
}

// W11
#[tokio::test]
async fn maps_come_out_alike() {
    let cases = [
        (
            json!([]),
            "completed
             each=completed
             again=completed
             list=skipped condition_unmet
             over_list=completed
             count=completed completed/1
             {\"count\": [0, 0]}",
        ),
        (
            json!([null, "ü", [1], {"a": 1}]),
            "completed
             each=completed completed/1 completed/1 completed/1 completed/1
             again=completed completed/1 completed/1 completed/1 completed/1
             list=skipped condition_unmet
             over_list=completed
             count=completed completed/1
             {\"count\": [4, 0]}",
        ),
        (
            json!([7, true]),
            "completed
             each=completed completed/1 completed/1
             again=completed completed/1 completed/1
             list=completed completed/1
             over_list=completed completed/1
             count=completed completed/1
             {\"count\": [2, 1]}",
        ),
    ];
    check("maps", |worker| worker.flow(Maps), &cases).await;
    check("maps", |worker| worker.json(maps()), &cases).await;
}

/// A list that may turn out to be none.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Odd(Value);

impl FlowList for Odd {
    type Item = Value;
}

/// A map over what is no list.
struct Violation;

#[flow(input = Value)]
impl Violation {
    #[step(when_exhausted = fail)]
    async fn source(&self, input: Value) -> Result<Odd, StepError> {
        Ok(Odd(input))
    }

    #[map(over = source)]
    async fn each(&self, item: Value) -> Result<Value, StepError> {
        Ok(item)
    }
}

// W11
#[tokio::test]
async fn what_is_no_list_fails_alike() {
    let of = |kind: &str| {
        format!("step \"source\" must return an array, because map \"each\" runs over it; it returned {kind}")
    };
    let expected = |kind: &str| {
        let text = of(kind);
        format!("failed source {text}\nsource=failed \"{text}\" failed/1\neach=cancelled")
    };
    let kinds = [
        (json!({"a": [1]}), "object"),
        (json!("[1]"), "string"),
        (json!(7), "number"),
        (json!(true), "boolean"),
        (Value::Null, "null"),
    ];
    let texts: Vec<_> = kinds.iter().map(|(input, kind)| (input.clone(), expected(kind))).collect();
    let mut cases: Vec<_> = texts.iter().map(|(input, text)| (input.clone(), text.as_str())).collect();
    cases.push((json!([3]), "completed\nsource=completed completed/1\neach=completed completed/1\n{\"each\": [3]}"));
    check("violation", |worker| worker.flow(Violation), &cases).await;
    let graph = FlowBuilder::new("violation").step(StepBuilder::single("source"));
    let flow = JsonFlow::new(graph.step(StepBuilder::map("each", "source")))
        .handler("source", JsonHandler::new(async |call| Ok(call.input().clone())))
        .handler("each", JsonHandler::new(async |call| Ok(call.item().clone())));
    check("violation", |worker| worker.json(flow.build().unwrap()), &cases).await;
}

/// Steps that fail in each mode: `soft` and `each` are skipped, `wide` takes what is behind it along, `hard` fails the run.
struct Failing;

#[flow(input = Plan, base_delay = "0s", max_attempts = 2)]
impl Failing {
    #[step(when_exhausted = skip)]
    async fn soft(&self, input: Plan, ctx: &StepContext) -> Result<u32, StepError> {
        act(&input, "soft", ctx.attempt())
    }

    #[step(when_exhausted = skip_cascade)]
    async fn wide(&self, input: Plan, ctx: &StepContext) -> Result<u32, StepError> {
        act(&input, "wide", ctx.attempt())
    }

    #[step]
    async fn list(&self) -> Result<Vec<String>, StepError> {
        Ok(["x", "y", "z"].map(str::to_owned).into())
    }

    #[map(over = list, when_exhausted = skip, max_attempts = 1)]
    async fn each(&self, item: String, input: Plan, ctx: &StepContext) -> Result<u32, StepError> {
        act(&input, &item, ctx.attempt())
    }

    #[step]
    async fn after_soft(&self, soft: Option<u32>, each: Option<Vec<u32>>) -> Result<Value, StepError> {
        Ok(json!([soft, each]))
    }

    #[step]
    async fn after_wide(&self, wide: u32) -> Result<u32, StepError> {
        Ok(wide)
    }

    #[step]
    async fn behind(&self, after_wide: u32) -> Result<u32, StepError> {
        Ok(after_wide)
    }

    #[step]
    async fn hard(&self, after_soft: Value, input: Plan, ctx: &StepContext) -> Result<u32, StepError> {
        assert!(after_soft.is_array(), "the dependency arrives");
        act(&input, "hard", ctx.attempt())
    }

    #[step]
    async fn last(&self, hard: u32) -> Result<u32, StepError> {
        Ok(hard)
    }
}

fn failing() -> JsonFlow {
    let single = StepBuilder::single;
    let graph = FlowBuilder::new("failing")
        .base_delay(std::time::Duration::ZERO)
        .max_attempts(2)
        .step(single("soft").when_exhausted(Skip))
        .step(single("wide").when_exhausted(SkipCascade))
        .step(single("list"))
        .step(StepBuilder::map("each", "list").when_exhausted(Skip).max_attempts(1))
        .step(single("after_soft").needs(["soft", "each"]))
        .step(single("after_wide").needs(["wide"]))
        .step(single("behind").needs(["after_wide"]))
        .step(single("hard").needs(["after_soft"]))
        .step(single("last").needs(["hard"]));
    JsonFlow::new(graph)
        .handler("list", JsonHandler::new(async |_| Ok(json!(["x", "y", "z"]))))
        .handler("each", JsonHandler::new(async |call| act_json(&call, call.item().as_str().unwrap_or_default())))
        .handler("after_soft", JsonHandler::new(async |call| Ok(json!([call.output("soft"), call.output("each")]))))
        .handler("after_wide", JsonHandler::new(async |call| Ok(call.output("wide").clone())))
        .handler("behind", JsonHandler::new(async |call| Ok(call.output("after_wide").clone())))
        .handler("last", JsonHandler::new(async |call| Ok(call.output("hard").clone())))
        .other_steps(acting())
        .build()
        .unwrap()
}

// W11
#[tokio::test]
async fn failures_come_out_alike() {
    let cases = [
        (
            json!({"soft": "once"}),
            "completed
             soft=completed completed/2
             wide=completed completed/1
             list=completed completed/1
             each=completed completed/1 completed/1 completed/1
             after_soft=completed completed/1
             after_wide=completed completed/1
             behind=completed completed/1
             hard=completed completed/1
             last=completed completed/1
             {\"last\": 1, \"behind\": 1}",
        ),
        (
            json!({"soft": "error", "wide": "panic", "y": "error", "hard": "once"}),
            "completed
             soft=skipped handler_failed \"soft fails\" failed/2
             wide=skipped handler_failed \"the handler panicked: wide panics\" failed/2
             list=completed completed/1
             each=skipped handler_failed \"y fails\" completed/1 failed/1 skipped/0
             after_soft=completed completed/1
             after_wide=skipped dependency_skipped
             behind=skipped dependency_skipped
             hard=completed completed/2
             last=completed completed/1
             {\"last\": 2}",
        ),
        (
            json!({"wide": "permanent", "hard": "permanent"}),
            "failed hard hard is wrong
             soft=completed completed/1
             wide=skipped handler_failed \"wide is wrong\" failed/1
             list=completed completed/1
             each=completed completed/1 completed/1 completed/1
             after_soft=completed completed/1
             after_wide=skipped dependency_skipped
             behind=skipped dependency_skipped
             hard=failed \"hard is wrong\" failed/1
             last=cancelled",
        ),
        (
            json!({"soft": "permanent", "hard": "panic"}),
            "failed hard the handler panicked: hard panics
             soft=skipped handler_failed \"soft is wrong\" failed/1
             wide=completed completed/1
             list=completed completed/1
             each=completed completed/1 completed/1 completed/1
             after_soft=completed completed/1
             after_wide=completed completed/1
             behind=completed completed/1
             hard=failed \"the handler panicked: hard panics\" failed/2
             last=cancelled",
        ),
    ];
    check("failing", |worker| worker.flow(Failing), &cases).await;
    check("failing", |worker| worker.json(failing()), &cases).await;
}

/// A map whose failure fails the run.
struct Strict;

#[flow(input = Vec<String>, base_delay = "0s", max_attempts = 2)]
impl Strict {
    #[map(over = input)]
    async fn each(&self, item: String, ctx: &StepContext) -> Result<u32, StepError> {
        act(&Plan::from([("bad".to_owned(), "error".to_owned())]), &item, ctx.attempt())
    }

    #[step]
    async fn sum(&self, each: Vec<u32>) -> Result<u32, StepError> {
        Ok(each.iter().sum())
    }
}

// W11
#[tokio::test]
async fn a_maps_failure_comes_out_alike() {
    let cases = [
        (
            json!(["a", "bad", "b", "c", "d"]),
            "failed each bad fails
             each=failed \"bad fails\" completed/1 failed/2 completed/1 completed/1 completed/1
             sum=cancelled",
        ),
        (
            json!(["a", "b"]),
            "completed
             each=completed completed/1 completed/1
             sum=completed completed/1
             {\"sum\": 2}",
        ),
    ];
    check("strict", |worker| worker.flow(Strict), &cases).await;
    let graph = FlowBuilder::new("strict").base_delay(std::time::Duration::ZERO).max_attempts(2);
    let graph = graph.step(StepBuilder::map("each", "input")).step(StepBuilder::single("sum").needs(["each"]));
    let each = JsonHandler::new(async |call| match call.item().as_str() {
        Some("bad") => Err(StepError::new("bad fails")),
        _ => Ok(json!(call.ctx().attempt())),
    });
    let sum = JsonHandler::new(async |call| {
        let each = call.output("each").as_array().cloned().unwrap_or_default();
        Ok(json!(each.iter().filter_map(Value::as_u64).sum::<u64>()))
    });
    let flow = JsonFlow::new(graph).handler("each", each).handler("sum", sum).build().unwrap();
    check("strict", |worker| worker.json(flow), &cases).await;
}

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
    JsonFlow::new(graph)
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
