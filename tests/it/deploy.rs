//! Deploying: what is created, verified, updated and refused, and that a refusal writes nothing.

use std::sync::Arc;

use flow_tests::support::{Engine, Graph};
use serde_json::{Value, json};

pub(crate) fn shop() -> Graph {
    Graph::new("Shop")
        .single("reserve", &[])
        .map("pick", "reserve", &[])
        .single("Ship", &["pick"])
        .with("after", json!(["reserve"]))
}

/// How many rows a deployment may write, in each table, with PGMQ's queues.
pub(crate) const ROWS: &str =
    "select concat_ws(' ', (select count(*) from flow.flow), (select count(*) from flow.step),
    (select count(*) from flow.queue), (select count(*) from flow.contract),
    (select count(*) from pg_tables t where t.schemaname = 'pgmq' and t.tablename ~ '^[qa]_'))";

pub(crate) async fn in_production() -> Engine {
    production(Engine::new().await).await
}

pub(crate) async fn production(engine: Engine) -> Engine {
    engine.run_sql("select flow.set_setting('environment', '\"production\"')").await;
    engine
}

/// The SQLSTATE and text of a refusal.
fn refusal<T: std::fmt::Debug>(result: sqlx::Result<T>) -> (String, String) {
    let error = result.unwrap_err();
    let error = error.as_database_error().expect("the server refuses");
    (error.code().unwrap().into_owned(), error.message().to_owned())
}

/// Registers a worker in a process of its own; its id.
async fn register(engine: &Engine, graph: &Graph, interface: i32) -> sqlx::Result<i64> {
    let id = engine.process(std::time::Duration::from_secs(30)).await;
    sqlx::query("select flow.register_worker($5, $5, 'hand', $1, $2, $3, '{0}', '{0}', $4)")
        .bind(graph.slug())
        .bind(graph.shape())
        .bind(graph.slug().to_lowercase())
        .bind(interface)
        .bind(id)
        .execute(engine.pool())
        .await
        .map(|_| id)
}

/// The differences that deploying `sent` over `stored` reports.
async fn differences(stored: &Graph, sent: &Graph) -> Vec<String> {
    let engine = in_production().await;
    engine.deploy(stored).await;
    let answer = engine.deploy(sent).await;
    assert_eq!(answer["result"], "mismatch");
    answer["differences"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

// P1 P9
#[tokio::test]
async fn a_new_flow_is_created_and_the_same_again_is_verified() {
    let engine = in_production().await;
    assert_eq!(engine.deploy(&shop()).await, json!({"result": "created"}));
    assert_eq!(engine.words("select s.slug from flow.step s order by s.step_index").await, "reserve pick Ship");
    assert_eq!(engine.words("select q.name from flow.queue q").await, "shop");
    assert_eq!(engine.value::<Value>("select flow.stored_shape(f.flow_id) from flow.flow f").await, shop().shape());

    assert_eq!(engine.deploy(&shop()).await, json!({"result": "verified"}));
    let is_silent = "select flow.deploy($1) is not null and pg_current_xact_id_if_assigned() is null";
    let is_silent: bool =
        sqlx::query_scalar(is_silent).bind(shop().definition()).fetch_one(engine.pool()).await.unwrap();
    assert!(is_silent, "verifying took a transaction id, so it wrote something");
}

// P1
#[tokio::test]
async fn a_flow_of_the_same_shape_under_another_slug_is_named() {
    let engine = in_production().await;
    let steps = |slug: &str| Graph::new(slug).single("a", &[]).single("b", &["a"]);
    engine.deploy(&steps("old")).await;
    engine.deploy(&shop()).await;
    assert_eq!(engine.deploy(&steps("renamed")).await, json!({"result": "created", "lookalike": "old"}));
}

// P1
#[tokio::test]
async fn changed_notes_alone_are_verified_and_written() {
    let engine = in_production().await;
    engine.deploy(&shop()).await;
    let mut noted = shop().definition();
    noted["notes"]["steps"][0] = json!("Sets the goods aside.");
    assert_eq!(engine.try_deploy(&noted).await.unwrap(), json!({"result": "verified"}));
    assert_eq!(engine.value::<Value>("select f.notes -> 'steps' -> 0 from flow.flow f").await, "Sets the goods aside.");
}

// P2
#[tokio::test]
async fn changed_options_are_updated_and_listed() {
    let engine = in_production().await;
    let plain = Graph::new("tuned").single("a", &[]).single("b", &["a"]);
    let tuned = Graph::new("tuned")
        .option("timeout_ms", 5000)
        .single("a", &[])
        .single("b", &["a"])
        .step_option("max_attempts", 7);
    engine.deploy(&plain).await;
    let change =
        |step: &str, option: &str, old: i32, new: i32| json!({"step": step, "option": option, "old": old, "new": new});
    let answer = engine.deploy(&tuned).await;
    assert_eq!(answer["result"], "options_updated");
    assert_eq!(
        answer["options"],
        json!([
            change("a", "timeout_ms", 60_000, 5000),
            change("b", "max_attempts", 3, 7),
            change("b", "timeout_ms", 60_000, 5000)
        ])
    );
    let stored = "select concat(s.max_attempts, '/', s.timeout_ms) from flow.step s order by s.step_index";
    assert_eq!(engine.words(stored).await, "3/5000 7/5000");
    assert_eq!(engine.deploy(&tuned).await, json!({"result": "verified"}));

    let answer = engine.deploy(&plain).await;
    assert_eq!(answer["options"].as_array().unwrap().len(), 3);
    assert_eq!(engine.words(stored).await, "3/60000 3/60000");
}

// P3
#[tokio::test]
async fn updated_options_apply_to_runs_that_have_started() {
    let graph = Graph::new("live").option("max_attempts", 5).single("a", &[]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("live", 1).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    engine.deploy(&graph.clone().option("max_attempts", 2).option("base_delay_ms", 7000)).await;
    worker.accept(claim.fail("boom")).await;
    let waits =
        "select (extract(epoch from m.due_at - e.at) * 1000)::bigint from test.messages() m, flow.attempt_error e";
    assert!((7000..=7700).contains(&engine.value::<i64>(waits).await));
    engine.pass_time().await;
    let claim = worker.claim_one().await;
    worker.accept(claim.fail("boom")).await;
    assert_eq!(engine.tasks(run).await, "a.0=failed/2");
}

// P4 P16
#[tokio::test]
async fn another_shape_is_a_mismatch_and_changes_nothing() {
    let engine = in_production().await;
    let graph = Graph::new("fixed").single("a", &[]);
    engine.deploy(&graph).await;
    let run = engine.start("fixed", 1).await;
    let rows = engine.words(ROWS).await;
    let other = Graph::new("fixed").option("max_attempts", 9).single("b", &[]);
    for on_drift in ["report", "refuse"] {
        let answer: Value = sqlx::query_scalar("select flow.deploy($1, $2)")
            .bind(other.definition())
            .bind(on_drift)
            .fetch_one(engine.pool())
            .await
            .unwrap();
        assert_eq!(answer["result"], "mismatch");
    }
    assert_eq!(engine.words(ROWS).await, rows);
    assert_eq!(engine.words("select concat(s.slug, s.max_attempts) from flow.step s").await, "a3");
    assert_eq!(engine.tasks(run).await, "a.0=queued/0");
    assert_eq!(refusal(register(&engine, &other, 1).await).0, "WF003");
    assert_eq!(engine.value::<i64>("select count(*) from flow.worker").await, 0);
}

// P5
#[tokio::test]
async fn a_mismatch_lists_every_difference() {
    let stored = Graph::new("two")
        .single("a", &[])
        .map("b", "a", &[])
        .with("after", json!([]))
        .single("c", &["a"])
        .with("after", json!(["b"]));
    let sent = Graph::new("two")
        .step_queues()
        .single("a", &[])
        .with("run_if", json!({"x": 1}))
        .with("run_unless", json!(null))
        .with("when_unmet", "fail")
        .with("when_exhausted", "skip")
        .single("bb", &[])
        .map("c", "input", &["bb"])
        .with("after", json!(["a"]))
        .single("d", &[]);
    assert_eq!(
        differences(&stored, &sent).await,
        [
            "queue_mode: stored \"plain\", sent \"step_queues\"",
            "number of steps: stored 3, sent 4",
            "step 0 \"a\", run_if: stored nothing, sent {\"x\": 1}",
            "step 0 \"a\", run_unless: stored nothing, sent null",
            "step 0 \"a\", when_unmet: stored null, sent \"fail\"",
            "step 0 \"a\", when_exhausted: stored \"fail\", sent \"skip\"",
            "step 1 \"b\", slug: stored \"b\", sent \"bb\"",
            "step 1 \"b\", kind: stored \"map\", sent \"single\"",
            "step 1 \"b\", over: stored \"a\", sent null",
            "step 2 \"c\", kind: stored \"single\", sent \"map\"",
            "step 2 \"c\", over: stored null, sent \"input\"",
            "step 2 \"c\", needs: stored [\"a\"], sent [\"bb\"]",
            "step 2 \"c\", after: stored [\"b\"], sent [\"a\"]",
            "step 3: stored nothing, sent \"d\"",
        ]
    );
    let short = Graph::new("two").single("a", &[]);
    assert_eq!(
        differences(&stored, &short).await,
        [
            "number of steps: stored 3, sent 1",
            "step 1: stored \"b\", sent nothing",
            "step 2: stored \"c\", sent nothing"
        ]
    );
}

// P6
#[tokio::test]
async fn the_order_of_steps_counts_and_that_of_keys_does_not() {
    let ab = Graph::new("order").single("a", &[]).single("b", &[]);
    let ba = Graph::new("order").single("b", &[]).single("a", &[]);
    assert_eq!(differences(&ab, &ba).await.len(), 2);

    let engine = in_production().await;
    let keys =
        |text: &str| Graph::new("keys").single("a", &[]).with("run_if", serde_json::from_str::<Value>(text).unwrap());
    engine.deploy(&keys(r#"{"x": 1, "y": {"a": 1, "b": 2}}"#)).await;
    assert_eq!(engine.deploy(&keys(r#"{"y": {"b": 2, "a": 1}, "x": 1}"#)).await["result"], "verified");
}

// P7
#[tokio::test]
async fn a_condition_that_is_null_is_not_an_absent_one() {
    let with = Graph::new("null").single("a", &[]).with("run_if", Value::Null);
    let without = Graph::new("null").single("a", &[]).single("b", &["a"]);
    assert!(differences(&with, &without).await.contains(&"step 0 \"a\", run_if: stored null, sent nothing".to_owned()));
    assert!(differences(&without, &with).await.contains(&"step 0 \"a\", run_if: stored nothing, sent null".to_owned()));
}

// P8
#[tokio::test]
async fn plain_and_step_queued_are_different_shapes() {
    let plain = Graph::new("mode").single("a", &[]);
    let queued = Graph::new("mode").single("a", &[]).step_queues();
    assert_eq!(differences(&plain, &queued).await, ["queue_mode: stored \"plain\", sent \"step_queues\""]);
    assert_eq!(differences(&queued, &plain).await, ["queue_mode: stored \"step_queues\", sent \"plain\""]);
}

// P10
#[tokio::test]
async fn twenty_deployments_at_once_create_one_flow() {
    let engine = Arc::new(production(Engine::with_connections(20).await).await);
    let mut results = deploy_at_once(&engine, (0..20).map(|_| shop().step_queues())).await;
    results.sort();
    assert_eq!(results[0], "created");
    assert!(results[1..].iter().all(|result| result == "verified"), "{results:?}");
}

// P11
#[tokio::test]
async fn of_two_shapes_deployed_at_once_one_wins_everywhere() {
    let engine = Arc::new(production(Engine::with_connections(20).await).await);
    let shapes = [Graph::new("two").single("a", &[]), Graph::new("two").single("b", &[])];
    let results = deploy_at_once(&engine, (0..20).map(|n| shapes[n % 2].clone())).await;
    let of = |side: usize| results.iter().skip(side).step_by(2).cloned().collect::<Vec<_>>();
    let (won, lost) = if of(0).contains(&"mismatch".to_owned()) { (of(1), of(0)) } else { (of(0), of(1)) };
    assert!(lost.iter().all(|result| result == "mismatch"), "{results:?}");
    assert_eq!(won.iter().filter(|result| *result == "created").count(), 1, "{results:?}");
    assert_eq!(won.iter().filter(|result| *result == "verified").count(), 9, "{results:?}");
}

async fn deploy_at_once(engine: &Arc<Engine>, graphs: impl Iterator<Item = Graph>) -> Vec<String> {
    let deployments: Vec<_> = graphs
        .map(|graph| {
            let engine = Arc::clone(engine);
            tokio::spawn(async move { engine.deploy(&graph).await["result"].as_str().unwrap().to_owned() })
        })
        .collect();
    let mut results = Vec::new();
    for deployment in deployments {
        results.push(deployment.await.unwrap());
    }
    results
}

// P12 Q8
#[tokio::test]
async fn a_deployment_that_fails_at_its_last_queue_leaves_no_trace() {
    let engine = production(Engine::of_pgmq().await).await;
    engine.run_sql("select pgmq.create('shop__ship'); select pgmq.send('shop__ship', '{\"theirs\": 1}')").await;
    let rows = engine.words(ROWS).await;
    let (code, text) = refusal(engine.try_deploy(&shop().step_queues().definition()).await);
    assert_eq!(code, "WF007");
    assert!(text.contains("PGMQ already has a queue \"shop__ship\" that no flow owns"), "{text}");
    assert_eq!(engine.words(ROWS).await, rows);
    assert_eq!(engine.words("select m.message::text from pgmq.q_shop__ship m").await, "{\"theirs\": 1}");
}

// P13
#[tokio::test]
async fn a_slug_that_differs_in_case_only_is_refused() {
    let engine = in_production().await;
    engine.deploy(&shop()).await;
    let rows = engine.words(ROWS).await;
    let (code, text) = refusal(engine.try_deploy(&Graph::new("sHOP").single("a", &[]).definition()).await);
    assert_eq!(code, "WF015");
    assert!(text.contains("\"sHOP\"") && text.contains("\"Shop\""), "{text}");
    assert_eq!(engine.words(ROWS).await, rows);
}

// P14
#[tokio::test]
async fn a_changed_contract_is_recorded_and_reported_or_refused() {
    let engine = in_production().await;
    let mut definition = Graph::new("typed").single("a", &[]).single("b", &["a"]).definition();
    let schema = |kind: &str, more: Value| json!({"schema": {"type": kind, "properties": more}, "hash": format!("{kind}{more}")});
    definition["contract"]["input"] = schema("object", json!({"n": {"type": "integer"}, "s": {"type": "string"}}));
    definition["contract"]["outputs"][1] = schema("object", json!({}));
    engine.try_deploy(&definition).await.unwrap();
    assert_eq!(engine.try_deploy(&definition).await.unwrap()["result"], "verified");

    definition["contract"]["input"] = schema("object", json!({"n": {"type": "number"}, "t": {"type": "string"}}));
    definition["contract"]["outputs"][1] = schema("array", json!({}));
    let drift = json!({"input": ["/properties/n/type", "/properties/s", "/properties/t"], "b": ["/type"]});
    let refused = sqlx::query("select flow.deploy($1, 'refuse')").bind(&definition).execute(engine.pool()).await;
    let (code, text) = refusal(refused);
    assert_eq!(code, "WF014");
    assert!(text.contains("/properties/n/type"), "{text}");
    assert_eq!(engine.words("select c.schema ->> 'type' from flow.contract c where c.step_index = 1").await, "object");

    let answer = engine.try_deploy(&definition).await.unwrap();
    assert_eq!((&answer["result"], &answer["drift"]), (&json!("verified"), &drift));
    assert_eq!(engine.words("select c.schema ->> 'type' from flow.contract c where c.step_index = 1").await, "array");
    assert_eq!(engine.try_deploy(&definition).await.unwrap(), json!({"result": "verified"}));
}

// P15
#[tokio::test]
async fn in_development_a_changed_shape_waits_for_the_workers_and_starts_anew() {
    let old = Graph::new("dev").single("a", &[]).step_queues();
    let new = Graph::new("dev").single("b", &[]).single("c", &["b"]).step_queues();
    let other = Graph::new("other").single("a", &[]);
    let engine = Engine::with(&old).await;
    engine.deploy(&other).await;
    engine.start("dev", 1).await;
    let kept = engine.start("other", 1).await;
    let worker = engine.worker_of(&old, "dev__a", &[0]).await;
    let held = worker.claim_one().await;

    let answer = engine.deploy(&new).await;
    assert_eq!((&answer["result"], &answer["workers"][0]["worker_id"]), (&json!("draining"), &json!(worker.id)));
    assert_eq!(worker.exchange(10, &[held.complete(1)]).await.state, "draining");
    sqlx::query("select flow.stop_worker($1)").bind(worker.id).execute(engine.pool()).await.unwrap();

    let answer = engine.deploy(&new).await;
    assert_eq!(answer["result"], "recreated");
    assert!(!answer["differences"].as_array().unwrap().is_empty());
    assert_eq!(engine.words("select q.name from flow.queue q order by q.name").await, "dev__b dev__c other");
    assert_eq!(engine.words("select s.slug from flow.step s order by s.slug").await, "a b c");
    assert_eq!(engine.words("select r.run_id::text from flow.run r").await, kept.to_string());
    assert_eq!(engine.tasks(kept).await, "a.0=queued/0");
}

// P18
#[tokio::test]
async fn a_disabled_name_registers_nothing_until_it_is_enabled() {
    let graph = Graph::new("fenced").single("a", &[]);
    let engine = Engine::with(&graph).await;
    engine.start("fenced", 1).await;
    let worker = engine.worker(&graph).await;
    engine.run_sql("select flow.disable_worker('hand', 'old code')").await;
    let reply = worker.exchange(10, &[]).await;
    assert_eq!((reply.state.as_str(), reply.reason.as_str(), reply.claims.len()), ("draining", "old code", 0));
    for _ in 0..5 {
        let (code, text) = refusal(register(&engine, &graph, 1).await);
        assert_eq!(code, "WF010");
        assert!(
            text.contains("\"hand\"") && text.contains("old code") && text.contains("flow.enable_worker"),
            "{text}"
        );
    }
    assert_eq!(engine.value::<i64>("select count(*) from flow.worker").await, 1);
    engine.run_sql("select flow.enable_worker('hand')").await;
    let fresh = engine.hand(register(&engine, &graph, 1).await.unwrap());
    assert_eq!(fresh.claim(10).await.len(), 1);
    assert_eq!(worker.exchange(10, &[]).await.state, "draining", "enabling a name does not wake its old workers");
}

// P18
#[tokio::test]
async fn a_worker_that_registered_while_its_name_was_disabled_drains() {
    let graph = Graph::new("raced").single("a", &[]);
    let engine = Engine::with(&graph).await;
    engine.start("raced", 1).await;
    engine.run_sql("select flow.disable_worker('hand', 'too late')").await;
    engine.run_sql("alter table flow.worker_name rename to away; create table flow.worker_name (like flow.away)").await;
    let worker = engine.worker(&graph).await;
    engine.run_sql("drop table flow.worker_name; alter table flow.away rename to worker_name").await;
    let reply = worker.exchange(10, &[]).await;
    assert_eq!((reply.state.as_str(), reply.claims.len()), ("draining", 0));
}

// P19 P21
#[tokio::test]
async fn a_worker_of_the_old_shape_is_gone_after_a_recreation() {
    let old = Graph::new("dev").single("a", &[]);
    let new = Graph::new("dev").single("a", &[]).single("b", &[]);
    let engine = Engine::with(&old).await;
    let frozen = engine.worker(&old).await;
    engine.run_sql("update flow.process set lease_until = now()").await;
    assert_eq!(engine.deploy(&new).await["result"], "recreated");
    engine.start("dev", 1).await;
    let reply = frozen.exchange(10, &[]).await;
    assert_eq!((reply.state.as_str(), reply.claims.len()), ("worker_gone", 0));
    assert_eq!(refusal(register(&engine, &old, 1).await).0, "WF003");
    assert_eq!(engine.worker(&new).await.claim(10).await.len(), 2);
}

// P20
#[tokio::test]
async fn a_drain_that_is_withdrawn_lets_the_workers_go_on() {
    let old = Graph::new("dev").single("a", &[]);
    let engine = Engine::with(&old).await;
    engine.start("dev", 1).await;
    let worker = engine.worker(&old).await;
    let new = Graph::new("dev").single("b", &[]);
    for _ in 0..2 {
        let answer = engine.deploy(&new).await;
        assert_eq!((&answer["result"], &answer["workers"][0]["name"]), (&json!("draining"), &json!("hand")));
    }
    assert_eq!(worker.exchange(10, &[]).await.state, "draining");
    engine.run_sql("select flow.withdraw_drain('dev')").await;
    assert_eq!(worker.claim_one().await.attempt, 1);
}

// P26
#[tokio::test]
async fn a_program_older_than_the_oldest_interface_is_refused_and_uses_no_attempt() {
    let graph = Graph::new("age").single("a", &[]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("age", 1).await;
    let worker = engine.worker(&graph).await;
    // The next interface keeps this one working.
    engine.run_sql("update flow.setting set value = '2' where name = 'interface'").await;
    assert!(register(&engine, &graph, 1).await.is_ok());
    engine.run_sql("update flow.setting set value = '2' where name = 'oldest_interface'").await;
    let (code, text) = refusal(register(&engine, &graph, 1).await);
    assert_eq!(code, "WF013");
    assert!(text.contains("interface 1") && text.contains("speaks 2"), "{text}");
    let reply = worker.exchange(10, &[]).await;
    assert_eq!((reply.state.as_str(), reply.claims.len()), ("upgrade_needed", 0));
    assert!(reply.reason.contains("interface 1") && reply.reason.contains('2'), "{}", reply.reason);
    assert_eq!(worker.heartbeat(&[]).await.0, "upgrade_needed", "whatever it calls next");
    assert_eq!(engine.tasks(run).await, "a.0=queued/0");
}

// L16
#[tokio::test]
async fn the_workers_of_a_deprecated_flow_drain() {
    let graph = Graph::new("old").single("a", &[]);
    let engine = Engine::with(&graph).await;
    engine.start("old", 1).await;
    let worker = engine.worker(&graph).await;
    assert_eq!(engine.value::<i32>("select flow.deprecate('old')").await, 1);
    let reply = worker.exchange(10, &[]).await;
    assert_eq!((reply.state.as_str(), reply.claims.len()), ("draining", 0));
    sqlx::query("select flow.stop_worker($1)").bind(worker.id).execute(engine.pool()).await.unwrap();
    assert_eq!(engine.value::<i32>("select flow.deprecate('old')").await, 0);
    let unknown = sqlx::query("select flow.deprecate('nobody')").execute(engine.pool()).await;
    assert_eq!(refusal(unknown).0, "WF001");
}
