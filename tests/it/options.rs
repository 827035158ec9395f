//! Options: which value applies to which step, and what a changed one does to a deployed flow.

use std::time::Duration;

use flow_runtime::{FlowBuilder, JsonFlow, JsonHandler, StepBuilder, prelude::*};
use flow_tests::support::{Engine, Log};
use serde_json::{Value, json};

const SECOND: Duration = Duration::from_secs(1);

/// The options that apply to each step, as stored.
const APPLIED: &str =
    "select concat_ws(' ', s.slug, s.max_attempts, s.base_delay_ms, s.max_delay_ms, s.timeout_ms, s.start_delay_ms)
                       from flow.step s order by s.step_index";

async fn applied(engine: &Engine) -> Vec<String> {
    sqlx::query_scalar(APPLIED).fetch_all(engine.pool()).await.unwrap()
}

// D2
#[tokio::test]
async fn each_option_is_a_column_of_its_name_with_its_default() {
    let engine = Engine::new().await;
    let listed = "select concat_ws(' ', o.name, o.default_value) from flow.list_options() o order by 1";
    let columns = "select concat_ws(' ', a.attname, pg_get_expr(d.adbin, d.adrelid)) from pg_attribute a
                   join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
                   where a.attrelid = 'flow.step'::regclass and a.attname in (select o.name from flow.list_options() o)
                     and a.attnotnull order by 1";
    let of = async |query: &'static str| sqlx::query_scalar(query).fetch_all(engine.pool()).await.unwrap();
    let (listed, columns): (Vec<String>, Vec<String>) = (of(listed).await, of(columns).await);
    assert_eq!(listed.len(), 6);
    assert_eq!(
        columns.iter().map(|column| column.replace(['\'', ':'], "").replace("bigint", "")).collect::<Vec<_>>(),
        listed
    );
}

/// A name, how it sets options on a step, and what then applies where the flow says 5, 2 s, 10 min and 90 s.
type Way = (&'static str, fn(StepBuilder) -> StepBuilder, &'static str);

/// Each option alone, none and all.
fn ways() -> Vec<Way> {
    vec![
        ("none", |step| step, "5 2000 600000 90000 0"),
        ("attempts", |step| step.max_attempts(7), "7 2000 600000 90000 0"),
        ("base", |step| step.base_delay(3 * SECOND), "5 3000 600000 90000 0"),
        ("no_base", |step| step.base_delay(Duration::ZERO), "5 0 600000 90000 0"),
        ("longest", |step| step.max_delay(60 * SECOND), "5 2000 60000 90000 0"),
        ("timeout", |step| step.timeout(SECOND), "5 2000 600000 1000 0"),
        ("delayed", |step| step.start_delay(300 * SECOND), "5 2000 600000 90000 300000"),
        ("not_delayed", |step| step.start_delay(Duration::ZERO), "5 2000 600000 90000 0"),
        (
            "all",
            |step| {
                let step = step.max_attempts(1).base_delay(SECOND).max_delay(2 * SECOND);
                step.timeout(3 * SECOND).start_delay(300 * SECOND)
            },
            "1 1000 2000 3000 300000",
        ),
    ]
}

// D2
#[tokio::test]
async fn each_option_alone_and_all_together_apply_to_root_and_dependent_steps() {
    let engine = Engine::new().await;
    let flow = FlowBuilder::new("tuned").max_attempts(5).base_delay(2 * SECOND).max_delay(600 * SECOND);
    let mut flow = flow.timeout(90 * SECOND).step(StepBuilder::single("first"));
    let mut expected = vec!["first 5 2000 600000 90000 0".to_owned()];
    for (name, set, values) in ways() {
        flow = flow.step(set(StepBuilder::single(format!("root_{name}"))));
        expected.push(format!("root_{name} {values}"));
    }
    for (name, set, values) in ways() {
        flow = flow.step(set(StepBuilder::single(format!("behind_{name}")).needs(["first"])));
        expected.push(format!("behind_{name} {values}"));
    }
    engine.try_deploy(&serde_json::to_value(flow.build().unwrap()).unwrap()).await.unwrap();
    let mut applied = applied(&engine).await;
    for steps in [&mut applied, &mut expected] {
        steps.sort();
    }
    assert_eq!(applied, expected);
}

/// A worker of the flow starts, and stops again; returns the lines in which it told of changed options, without what
/// stands before them.
async fn deploy(engine: &Engine, flow: FlowBuilder) -> Vec<String> {
    let flow = JsonFlow::builder(flow).other_steps(JsonHandler::new(async |_| Ok(Value::Null))).build().unwrap();
    let db = Db::new(engine.url()).unwrap();
    let (log, _guard) = Log::begin();
    Worker::builder(&db).json(flow).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    let lines = log.lines_with("option changed");
    let told = lines.iter().filter_map(|line| line.split_once("option changed ")).map(|(_, told)| told.to_owned());
    let told: Vec<String> = told.collect();
    let result = if told.is_empty() { "verified" } else { "options_updated" };
    let deployed = log.lines_with("flow deployed");
    assert!(deployed[0].contains(result) || deployed[0].contains("created"), "{deployed:?}");
    told
}

// P2
#[tokio::test]
async fn each_changed_option_is_logged_and_a_removed_one_goes_back_to_the_flows_or_the_default() {
    let engine = Engine::new().await;
    let bare = || FlowBuilder::new("tuned");
    let graph = |flow: FlowBuilder, step: StepBuilder| flow.step(step).step(StepBuilder::single("b").needs(["a"]));
    let own = |step: StepBuilder| {
        let step = step.max_attempts(9).base_delay(4 * SECOND).max_delay(8 * SECOND);
        step.timeout(7 * SECOND).start_delay(300 * SECOND)
    };
    let a = || StepBuilder::single("a");
    let flows = || bare().max_attempts(5).base_delay(2 * SECOND).max_delay(600 * SECOND).timeout(90 * SECOND);
    let told = |step: &str, option: &str, old: u32, new: u32| {
        format!("flow=\"tuned\" step=\"{step}\" option=\"{option}\" old={old} new={new}")
    };

    assert_eq!(deploy(&engine, graph(flows(), own(a()))).await, [""; 0], "a new flow has no changed options");
    assert_eq!(applied(&engine).await, ["a 9 4000 8000 7000 300000", "b 5 2000 600000 90000 0"]);
    assert_eq!(deploy(&engine, graph(flows(), own(a()))).await, [""; 0]);

    // The step says nothing any more: what the flow says applies, and no start delay.
    let changed = [
        told("a", "base_delay_ms", 4_000, 2_000),
        told("a", "max_attempts", 9, 5),
        told("a", "max_delay_ms", 8_000, 600_000),
        told("a", "start_delay_ms", 300_000, 0),
        told("a", "timeout_ms", 7_000, 90_000),
    ];
    assert_eq!(deploy(&engine, graph(flows(), a())).await, changed);
    assert_eq!(applied(&engine).await, ["a 5 2000 600000 90000 0", "b 5 2000 600000 90000 0"]);

    // The flow says nothing any more either: the defaults apply, to every step.
    let changed: Vec<String> = ["a", "b"]
        .iter()
        .flat_map(|step| {
            [
                told(step, "base_delay_ms", 2_000, 1_000),
                told(step, "max_attempts", 5, 3),
                told(step, "max_delay_ms", 600_000, 300_000),
                told(step, "timeout_ms", 90_000, 60_000),
            ]
        })
        .collect();
    assert_eq!(deploy(&engine, graph(bare(), a())).await, changed);
    assert_eq!(applied(&engine).await, ["a 3 1000 300000 60000 0", "b 3 1000 300000 60000 0"]);

    // Options that come are told too, start delays among them.
    let later = a().start_delay(SECOND);
    assert_eq!(deploy(&engine, graph(bare(), later)).await, [told("a", "start_delay_ms", 0, 1_000)]);
    assert_eq!(applied(&engine).await[0], "a 3 1000 300000 60000 1000");
}

// P2
#[tokio::test]
async fn an_option_that_every_step_overrides_is_updated_too_and_changes_no_step() {
    let engine = Engine::new().await;
    let graph = |attempts: u32| {
        let flow = FlowBuilder::new("tuned").max_attempts(attempts).step(StepBuilder::single("a").max_attempts(2));
        serde_json::to_value(flow.build().unwrap()).unwrap()
    };
    engine.try_deploy(&graph(5)).await.unwrap();
    let answer = engine.try_deploy(&graph(6)).await.unwrap();
    assert_eq!(answer, serde_json::json!({"result": "options_updated", "options": []}));
    assert_eq!(engine.value::<Value>("select f.options -> 'max_attempts' from flow.flow f").await, 6);
    assert_eq!(applied(&engine).await, ["a 2 1000 300000 60000 0"]);
    assert_eq!(engine.try_deploy(&graph(6)).await.unwrap()["result"], "verified");
}

/// A flow whose step `a` has this priority.
fn with_priority(priority: Option<u32>) -> Value {
    let step = StepBuilder::single("a");
    let step = match priority {
        Some(priority) => step.priority(priority),
        None => step,
    };
    let flow = FlowBuilder::new("urgent").step(step).step(StepBuilder::single("b").needs(["a"]));
    serde_json::to_value(flow.build().unwrap()).unwrap()
}

async fn priorities(engine: &Engine) -> String {
    engine.words("select string_agg(s.priority::text, ' ' order by s.step_index) from flow.step s").await
}

// D26 P2
#[tokio::test]
async fn a_changed_priority_is_an_updated_option_and_no_other_shape() {
    let engine = Engine::of_rows().await;
    assert_eq!(engine.try_deploy(&with_priority(Some(1))).await.unwrap()["result"], "created");
    assert_eq!(priorities(&engine).await, "1 5");
    for (priority, old, new) in [(Some(9), 1, 9), (None, 9, 5), (Some(2), 5, 2)] {
        let answer = engine.try_deploy(&with_priority(priority)).await.unwrap();
        let change = json!({"step": "a", "option": "priority", "old": old, "new": new});
        assert_eq!(answer, json!({"result": "options_updated", "options": [change]}));
        assert_eq!(priorities(&engine).await, format!("{new} 5"));
        assert_eq!(engine.try_deploy(&with_priority(priority)).await.unwrap()["result"], "verified");
    }
}

// D26
#[tokio::test]
async fn a_priority_out_of_range_is_refused() {
    let engine = Engine::of_rows().await;
    let beyond = FlowBuilder::new("urgent").step(StepBuilder::single("a").priority(10)).build().unwrap_err();
    assert!(beyond.to_string().contains("step `a`: priority of 10 is out of range; it is 1 to 9"), "{beyond}");
    for wrong in [json!(0), json!(10), json!(1.5), json!("1")] {
        let mut definition = with_priority(Some(1));
        definition["options"]["steps"][0]["priority"] = wrong.clone();
        let text = engine.try_deploy(&definition).await.unwrap_err().to_string();
        let told = format!("step \"a\": priority is {wrong}; it must be a whole number from 1 to 9");
        assert!(text.contains(&told), "{text}");
    }
}

// D26
#[tokio::test]
async fn a_priority_on_a_queue_of_pgmq_delivery_is_refused_and_nothing_is_written() {
    let engine = Engine::of_pgmq().await;
    let refused = async |priority: u32| {
        let error = engine.try_deploy(&with_priority(Some(priority))).await.unwrap_err();
        let error = error.as_database_error().unwrap();
        let told = format!("step \"a\": priority is {priority}, but its queue \"urgent\" is of pgmq delivery");
        assert_eq!(error.code().unwrap(), "WF009");
        assert!(error.message().contains(&told), "{error}");
    };
    refused(1).await;
    assert_eq!(engine.value::<i64>("select count(*) from flow.flow").await, 0);

    // The default is no priority.
    assert_eq!(engine.try_deploy(&with_priority(Some(5))).await.unwrap()["result"], "created");
    engine.run_sql("select flow.set_setting('delivery', 'rows'::text)").await;
    refused(9).await;
    assert_eq!(priorities(&engine).await, "5 5");
    assert_eq!(engine.value::<Value>("select f.options #> '{steps,0,priority}' from flow.flow f").await, 5);
}
