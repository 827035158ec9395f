//! Starting runs: what is written, what is refused, and that nothing is half written.

use flow_tests::support::{Engine, Graph};
use serde_json::{Value, json};
use sqlx::Row;
use uuid::Uuid;

fn two_roots() -> Graph {
    Graph::new("two").single("a", &[]).single("b", &["a"]).single("c", &[])
}

fn over_input() -> Graph {
    Graph::new("each").map("one", "input", &[])
}

async fn is_empty(engine: &Engine) -> bool {
    let rows: i64 = engine
        .value("select (select count(*) from flow.run) + (select count(*) from flow.step_state) + (select count(*) from flow.task)
                + (select count(*) from flow.run_key)")
        .await;
    rows == 0 && engine.messages().await == 0
}

/// The SQLSTATE and text of a refusal.
fn refusal<T: std::fmt::Debug>(result: sqlx::Result<T>) -> (String, String) {
    let error = result.unwrap_err();
    let error = error.as_database_error().expect("the server refuses");
    (error.code().unwrap().into_owned(), error.message().to_owned())
}

// R1 R2
#[tokio::test]
async fn a_started_run_has_its_roots_started_and_the_rest_created() {
    let engine = Engine::new().await;
    engine.deploy(&two_roots()).await;
    let run = engine.start("two", json!({"n": 1})).await;
    let row = engine.run(run).await;
    assert_eq!(row["status"], "started");
    assert_eq!(row["input"], json!({"n": 1}));
    assert_eq!(row["remaining_steps"], 3);
    assert!(row["started_at"].is_string() && row["ended_at"].is_null());
    assert_eq!(engine.steps(run).await, "a=started b=created c=started");
    assert!(engine.step(run, "b").await["started_at"].is_null());
    assert_eq!(engine.tasks(run).await, "a.0=queued/0 c.0=queued/0");
    assert_eq!(engine.messages().await, 2);
}

// R3
#[tokio::test]
async fn a_run_id_is_used_and_without_one_it_is_a_uuid_v7() {
    let engine = Engine::new().await;
    engine.deploy(&two_roots()).await;
    engine.deploy(&over_input()).await;
    let made = engine.start("two", 1).await;
    assert_eq!(made.get_version_num(), 7);
    assert_eq!(made.get_variant(), uuid::Variant::RFC4122);

    let given = Uuid::now_v7();
    let query = "select flow.start_run($1, '[]', $2)";
    let start =
        async |slug: &str| sqlx::query_scalar::<_, Uuid>(query).bind(slug).bind(given).fetch_one(engine.pool()).await;
    assert_eq!(start("two").await.unwrap(), given);
    let before = engine.tasks(given).await;
    assert_eq!(start("two").await.unwrap(), given);
    assert_eq!(engine.tasks(given).await, before);
    let (code, text) = refusal(start("each").await);
    assert_eq!(code, "WF005");
    assert!(text.contains("\"two\"") && text.contains("\"each\""), "{text}");
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 2);
}

async fn start_keyed(engine: &Engine, slug: &str, input: Value, key: &str) -> Uuid {
    sqlx::query_scalar("select flow.start_run($1, $2, null, $3)")
        .bind(slug)
        .bind(input)
        .bind(key)
        .fetch_one(engine.pool())
        .await
        .unwrap()
}

// R4 R5
#[tokio::test]
async fn a_key_names_one_run_of_a_flow() {
    let engine = Engine::new().await;
    let graph = two_roots();
    engine.deploy(&graph).await;
    engine.deploy(&over_input()).await;
    let first = start_keyed(&engine, "two", json!(1), "k").await;
    assert_eq!(start_keyed(&engine, "two", json!(2), "k").await, first);
    assert_ne!(start_keyed(&engine, "each", json!([1]), "k").await, first);

    engine.worker(&graph).await.complete_all(|_| json!(0)).await;
    assert_eq!(engine.run(first).await["status"], "completed");
    let rows: i64 = engine.value("select count(*) from flow.task").await;
    assert_eq!(start_keyed(&engine, "two", json!(3), "k").await, first);
    assert_eq!(engine.value::<i64>("select count(*) from flow.task").await, rows);

    let twice: Vec<Uuid> =
        sqlx::query_scalar("select flow.start_runs('two', array['1', '2', '3'], '{}', array['x', 'y', 'x'])")
            .fetch_one(engine.pool())
            .await
            .unwrap();
    assert_eq!(twice[0], twice[2]);
    assert_ne!(twice[0], twice[1]);
}

// R6
#[tokio::test]
async fn fifty_starts_at_once_with_one_key_make_one_run() {
    let engine = std::sync::Arc::new(Engine::with_connections(50).await);
    engine.deploy(&two_roots()).await;
    let starts = (0..50).map(|n| {
        let engine = std::sync::Arc::clone(&engine);
        tokio::spawn(async move { start_keyed(&engine, "two", json!(n), "same").await })
    });
    let mut ids = Vec::new();
    for start in starts.collect::<Vec<_>>() {
        ids.push(start.await.unwrap());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 1);
    assert_eq!(engine.messages().await, 2);
}

// R7
#[tokio::test]
async fn an_unknown_flow_is_named() {
    let engine = Engine::new().await;
    engine.deploy(&two_roots()).await;
    let (code, text) = refusal(engine.try_start("tow", 1).await);
    assert_eq!(code, "WF001");
    assert!(text.contains("\"tow\""), "{text}");
    let (_, text) = refusal(engine.try_start("TWO", 1).await);
    assert!(text.contains("did you mean \"two\""), "{text}");
    assert!(is_empty(&engine).await);
}

// R8
#[tokio::test]
async fn a_run_started_in_a_transaction_is_there_after_the_commit_only() {
    let engine = Engine::new().await;
    let graph = two_roots();
    engine.deploy(&graph).await;
    let worker = engine.worker(&graph).await;

    let mut transaction = engine.pool().begin().await.unwrap();
    sqlx::query("select flow.start_run('two', '1')").execute(&mut *transaction).await.unwrap();
    assert_eq!(worker.claim(10).await.len(), 0);
    transaction.rollback().await.unwrap();
    assert!(is_empty(&engine).await);

    let mut transaction = engine.pool().begin().await.unwrap();
    sqlx::query("select flow.start_run('two', '1')").execute(&mut *transaction).await.unwrap();
    assert_eq!(worker.claim(10).await.len(), 0);
    transaction.commit().await.unwrap();
    assert_eq!(worker.claim(10).await.len(), 2);
}

// R9
#[tokio::test]
async fn a_trigger_starts_runs() {
    let engine = Engine::new().await;
    engine.deploy(&two_roots()).await;
    engine
        .run_sql(
            "create table orders (id integer);
             create function on_order() returns trigger language plpgsql as
                 $$ begin perform flow.start_run('two', to_jsonb(new)); return new; end $$;
             create trigger start_on_order after insert on orders for each row execute function on_order();
             insert into orders values (1), (2);",
        )
        .await;
    assert_eq!(
        engine.words("select r.status || '/' || r.remaining_steps from flow.runs r").await,
        "started/3 started/3"
    );
    assert_eq!(engine.words("select r.input::text from flow.run r order by r.input").await, "{\"id\": 1} {\"id\": 2}");
    assert_eq!(engine.messages().await, 4);
}

// R10
#[tokio::test]
async fn a_thousand_runs_start_in_one_call_or_none() {
    let engine = Engine::new().await;
    engine.deploy(&over_input()).await;
    let query = "select flow.start_runs('each', $1)";
    let mut inputs: Vec<String> = (0..1000).map(|n| format!("[{n}]")).collect();
    let ids: Vec<Uuid> = sqlx::query_scalar(query).bind(&inputs).fetch_one(engine.pool()).await.unwrap();
    let rows = sqlx::query("select (r.input -> 0)::integer as n from unnest($1) with ordinality u(run_id, ord) join flow.run r using (run_id) order by u.ord")
        .bind(&ids)
        .fetch_all(engine.pool())
        .await
        .unwrap();
    let order: Vec<i32> = rows.iter().map(|row| row.get("n")).collect();
    assert_eq!(order, (0..1000).collect::<Vec<_>>());

    inputs[500] = "{}".to_owned();
    let (code, text) = refusal(sqlx::query(query).bind(&inputs).fetch_one(engine.pool()).await);
    assert_eq!(code, "WF004");
    assert!(text.contains("input 501"), "{text}");
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 1000);
}

// R11 R12
#[tokio::test]
async fn start_at_and_start_delay_add_up() {
    let engine = Engine::of_rows().await;
    let graph = Graph::new("late").single("now", &[]).single("later", &[]).step_option("start_delay_ms", 300_000);
    engine.deploy(&graph).await;
    let in_seconds =
        "select string_agg(round(extract(epoch from coalesce(m.due_at, r.started_at) - r.started_at))::text, ' ' order by m.step_index)
                      from flow.run r join test.messages() m using (run_id) where r.run_id = $1";
    let delays =
        async |run: Uuid| sqlx::query_scalar::<_, String>(in_seconds).bind(run).fetch_one(engine.pool()).await.unwrap();

    let at_once = engine.start("late", 1).await;
    assert_eq!(delays(at_once).await, "0 300");
    let later = sqlx::query_scalar("select flow.start_run('late', '1', null, null, now() + interval '10 s')")
        .fetch_one(engine.pool())
        .await
        .unwrap();
    assert_eq!(delays(later).await, "10 310");
    assert_eq!(engine.tasks(later).await, "now.0=queued/0 later.0=queued/0");

    let worker = engine.worker(&graph).await;
    let claims = worker.claim(10).await;
    assert_eq!(claims.iter().map(|claim| (claim.run, claim.step)).collect::<Vec<_>>(), [(at_once, 0)]);
    engine.run_sql("update flow.delayed set due_at = due_at - interval '11 s'").await;
    assert_eq!(worker.claim(10).await.len(), 1);
}

// R13
#[tokio::test]
async fn a_dependents_delay_counts_from_the_end_of_its_last_dependency() {
    let engine = Engine::new().await;
    let graph = Graph::new("slow").single("a", &[]).single("b", &["a"]).step_option("start_delay_ms", 900_000);
    engine.deploy(&graph).await;
    engine.start("slow", 1).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.complete(1)).await;
    let seconds: f64 = engine
        .value("select extract(epoch from m.due_at - a.ended_at)::float8 from flow.step_state a, test.messages() m where a.step_index = 0")
        .await;
    assert!((seconds - 900.0).abs() < 0.001, "{seconds}");
}

// R14
#[tokio::test]
async fn every_json_value_is_delivered_unchanged() {
    let engine = Engine::new().await;
    let graph = Graph::new("any").single("a", &[]);
    engine.deploy(&graph).await;
    let worker = engine.worker(&graph).await;
    for input in [json!(null), json!(false), json!(0), json!(""), json!([]), json!({})] {
        engine.start("any", input.clone()).await;
        assert_eq!(worker.claim_one().await.dep(-1), Some(&input));
    }
}

// R15
#[tokio::test]
async fn a_map_over_the_input_takes_an_array_only() {
    let engine = Engine::new().await;
    engine.deploy(&over_input()).await;
    for input in [json!(null), json!("[]"), json!(1), json!(true), json!(false), json!({"a": [1]})] {
        let (code, text) = refusal(engine.try_start("each", input).await);
        assert_eq!(code, "WF004");
        assert!(text.contains("map \"one\""), "{text}");
    }
    let null = sqlx::query("select flow.start_run('each', null)").fetch_one(engine.pool()).await;
    assert_eq!(refusal(null).0, "WF004");
    assert!(is_empty(&engine).await);
}

// R16
#[tokio::test]
async fn a_root_condition_that_fails_the_run_gives_a_failed_run() {
    let engine = Engine::new().await;
    let graph = Graph::new("strict").single("a", &[]).with("run_if", json!({"ok": true})).with("when_unmet", "fail");
    engine.deploy(&graph).await;
    let run = engine.start("strict", json!({})).await;
    let row = engine.run(run).await;
    assert_eq!((&row["status"], &row["error"]), (&json!("failed"), &json!("condition not met")));
}

// R17
#[tokio::test]
async fn an_input_that_cannot_be_stored_is_refused_without_its_value() {
    let engine = Engine::new().await;
    engine.deploy(&two_roots()).await;
    let query = "select flow.start_runs('two', array['1', '{\"secret\": \"a\\u0000b\"}'])";
    let (code, text) = refusal(sqlx::query(query).fetch_one(engine.pool()).await);
    assert_eq!(code, "WF008");
    assert!(text.contains("input 2 cannot be stored") && !text.contains("secret"), "{text}");
    assert!(is_empty(&engine).await);
}

#[tokio::test]
async fn an_input_over_the_limit_is_refused_naming_size_and_limit() {
    let engine = Engine::new().await;
    engine.deploy(&two_roots()).await;
    engine.run_sql("select flow.set_setting('max_value_bytes', '2048')").await;
    let (code, text) = refusal(engine.try_start("two", "x".repeat(3000)).await);
    assert_eq!(code, "WF006");
    assert!(text.contains("3002 bytes") && text.contains("2048"), "{text}");
    assert!(is_empty(&engine).await);
}

// R18
#[tokio::test]
async fn nothing_of_a_run_is_claimable_before_its_time_however_far_it_gets_at_once() {
    let graph = Graph::new("later")
        .map("empty", "input", &[])
        .single("behind_empty", &["empty"])
        .single("unmet", &[])
        .with("run_if", json!([1]))
        .single("behind_unmet", &[])
        .with("after", json!(["unmet"]))
        .map("map_behind", "behind_unmet", &[])
        .single("root", &[])
        .step_option("start_delay_ms", 60_000);
    let engine = Engine::with(&graph).await;
    let at = "now() + interval '1 hour'";
    let start: &'static str = format!("select flow.start_run('later', '[]', start_at => {at})").leak();
    engine.run_sql(start).await;
    assert_eq!(
        engine.words("select s.step || '=' || s.status from flow.steps s order by s.step_index").await,
        "empty=completed behind_empty=started unmet=skipped behind_unmet=started map_behind=created root=started"
    );
    let early = "select count(*) from test.messages() m where m.due_at is null or m.due_at < now() + interval '59 min'";
    assert_eq!(engine.value::<i64>(early).await, 0);
    let delayed = "select count(*) from test.messages() m where m.due_at > now() + interval '60 min'";
    assert_eq!((engine.messages().await, engine.value::<i64>(delayed).await), (3, 1), "the delay of a step is added");

    // Cancelled before its time and retried, it still waits for it.
    engine.run_sql("select flow.cancel_run(r.run_id) from flow.run r").await;
    engine.run_sql("select flow.retry_run(r.run_id) from flow.run r").await;
    assert_eq!((engine.messages().await, engine.value::<i64>(early).await), (3, 0));
    assert_eq!(
        engine.value::<i64>("select count(*) from flow.run r where r.due_at > now() + interval '59 min'").await,
        2
    );
    engine.check().await;
}

// R19
#[tokio::test]
async fn a_run_that_a_start_just_found_by_its_key_is_not_pruned() {
    let engine = Engine::with(&Graph::new("keyed").map("m", "input", &[])).await;
    let keyed = "select flow.start_run('keyed', '[]', key => 'k')";
    let first: Uuid = engine.value(keyed).await;
    let mut starting = engine.pool().begin().await.unwrap();
    let found: Uuid = sqlx::query_scalar(keyed).fetch_one(&mut *starting).await.unwrap();
    assert_eq!(found, first);
    let prune = "select p.runs from flow.prune(now() + interval '1 hour') p";
    assert_eq!(engine.value::<i32>(prune).await, 0);
    starting.commit().await.unwrap();
    assert_eq!(engine.value::<i32>(prune).await, 1);
    assert_ne!(engine.value::<Uuid>(keyed).await, first);
}
