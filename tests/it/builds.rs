//! Programs of several builds at one database: whose functions and options stay, and who may register for what.

use flow_runtime::{
    FlowBuilder, JsonFlow, JsonHandler, OnOptions, StepBuilder,
    definition::QueueMode,
    error::{BuildError, DeployError, MigrateError, WorkerError},
    prelude::*,
};
use flow_tests::{
    flows::{Relay, Tick},
    support::{Engine, Graph, TestDb},
};
use serde_json::{Value, json};

async fn text(test: &TestDb, query: &'static str) -> String {
    sqlx::query_scalar(query).fetch_one(test.pool()).await.unwrap()
}

async fn sql(test: &TestDb, text: &'static str) {
    sqlx::raw_sql(text).execute(test.pool()).await.unwrap();
}

/// A function of the database's that this program would make anew.
const OTHER: &str = "update flow.sql_function set checksum = 'of another build' where name = 'uuid_v7'";
const STORED: &str = "select f.checksum from flow.sql_function f where f.name = 'uuid_v7'";

// P30
#[tokio::test]
async fn an_older_program_leaves_the_functions_as_they_are() {
    let test = TestDb::new().await;
    sql(&test, OTHER).await;
    sql(&test, "update flow.setting set value = '999' where name = 'functions'").await;
    let db = Db::new(test.url()).unwrap();
    db.migrate().await.unwrap();
    assert_eq!(text(&test, STORED).await, "of another build");
    db.ready(None).await.unwrap();
    Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    assert_eq!(text(&test, STORED).await, "of another build");
}

// P30
#[tokio::test]
async fn other_functions_of_the_same_version_are_made_anew_in_development_alone() {
    let test = TestDb::new().await;
    sql(&test, OTHER).await;
    let db = Db::new(test.url()).unwrap();
    sql(&test, "select flow.set_setting('environment', 'production')").await;
    let error = db.migrate().await.unwrap_err();
    let MigrateError::OtherFunctions { version, stored, ours } = &error else { panic!("{error:?}") };
    assert!(*version > 0 && stored.len() == 8 && ours.len() == 8 && stored != ours);
    assert!(error.to_string().contains(stored) && error.to_string().contains(ours), "{error}");
    assert_eq!(text(&test, STORED).await, "of another build");
    sql(&test, "select flow.set_setting('environment', 'development')").await;
    db.migrate().await.unwrap();
    assert_ne!(text(&test, STORED).await, "of another build");
}

// P30
#[tokio::test]
async fn a_newer_program_brings_its_functions() {
    let test = TestDb::new().await;
    sql(&test, OTHER).await;
    sql(&test, "select flow.set_setting('environment', 'production')").await;
    sql(&test, "update flow.setting set value = '0' where name = 'functions'").await;
    Db::new(test.url()).unwrap().migrate().await.unwrap();
    assert_ne!(text(&test, STORED).await, "of another build");
    assert_ne!(text(&test, "select s.value::text from flow.setting s where s.name = 'functions'").await, "0");
}

async fn deploy_as(engine: &Engine, graph: &Graph, build: Value, on_options: &str) -> Value {
    sqlx::query_scalar("select flow.deploy($1, p_build => $2, p_on_options => $3)")
        .bind(graph.definition())
        .bind(build)
        .bind(on_options)
        .fetch_one(engine.pool())
        .await
        .unwrap()
}

// P31
#[tokio::test]
async fn an_older_build_does_not_take_the_options_of_a_newer_one_back() {
    let engine = Engine::new().await;
    let with = |attempts: i32| Graph::new("tuned").option("max_attempts", attempts).single("a", &[]);
    let build = |version: &str, at: &str| json!({ "version": version, "built_at": at });
    let (early, late) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    let stored = "select s.max_attempts from flow.step s";
    deploy_as(&engine, &with(3), build("1.9.0", early), "newer").await;
    let answer = deploy_as(&engine, &with(5), build("1.10.0", early), "newer").await;
    assert_eq!(answer["result"], "options_updated");

    for (older, attempts) in [(build("1.9.0", late), 3), (build("1.10.0", "2025-12-31T00:00:00Z"), 3)] {
        let answer = deploy_as(&engine, &with(attempts), older, "newer").await;
        assert_eq!((&answer["result"], &answer["newer_build"]["version"]), (&json!("verified"), &json!("1.10.0")));
        assert_eq!(answer["kept_options"][0], json!({"step": "a", "option": "max_attempts", "old": 5, "new": 3}));
        assert_eq!(engine.value::<i32>(stored).await, 5);
    }
    for (newer, attempts) in [(build("1.10.0", late), 6), (build("2.0.0-rc.1", early), 7), (Value::Null, 8)] {
        assert_eq!(deploy_as(&engine, &with(attempts), newer, "newer").await["result"], "options_updated");
        assert_eq!(engine.value::<i32>(stored).await, attempts);
    }
    deploy_as(&engine, &with(9), build("3.0.0", late), "newer").await;
    assert_eq!(deploy_as(&engine, &with(2), build("1.0.0", early), "apply").await["result"], "options_updated");
    assert_eq!(engine.value::<i32>(stored).await, 2);
}

// P31
#[tokio::test]
async fn a_worker_applies_its_options_over_a_newer_build_when_told_to() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let stored = "select s.max_attempts::text from flow.step s";
    let start = async |on_options| {
        let worker = Worker::builder(&db).flow(Tick).on_options(on_options).build().unwrap();
        worker.start().await.unwrap().shutdown().await.unwrap();
    };
    start(OnOptions::KeepNewer).await;
    let newer = "update flow.step set max_attempts = 9;
                 update flow.flow set build = '{\"version\": \"999.0.0\", \"built_at\": \"2999-01-01T00:00:00Z\"}'";
    sql(&test, newer).await;
    start(OnOptions::KeepNewer).await;
    assert_eq!(text(&test, stored).await, "9");
    start(OnOptions::Apply).await;
    assert_eq!(text(&test, stored).await, "3");
    assert_ne!(text(&test, "select f.build ->> 'built_at' from flow.flow f").await, "2999-01-01T00:00:00Z");
}

// P33
#[tokio::test]
async fn a_row_that_was_changed_by_hand_is_a_difference() {
    let graph = Graph::new("rows").single("a", &[]).single("b", &["a"]).map("m", "a", &[]).with("after", json!(["b"]));
    let graph = graph.with("run_if", json!({ "a": [1] }));
    for (change, difference) in [
        ("update flow.step set needs = '{}' where slug = 'b'", "step 1 \"b\", needs"),
        ("update flow.step set after = '{}' where slug = 'm'", "step 2 \"m\", after"),
        ("update flow.step set over_step = 1 where slug = 'm'", "step 2 \"m\", over"),
        ("update flow.step set slug = 'c' where slug = 'b'", "step 1 \"c\", slug"),
        ("update flow.step set run_if = '{\"a\": [2]}' where slug = 'm'", "step 2 \"m\", run_if"),
        ("update flow.step set run_if = null, when_unmet = null where slug = 'm'", "step 2 \"m\", run_if"),
        ("update flow.step set when_exhausted = 'skip' where slug = 'a'", "step 0 \"a\", when_exhausted"),
        ("update flow.flow set queue_mode = 'step_queues'", "queue_mode"),
        ("delete from flow.step where slug = 'm'", "number of steps"),
    ] {
        let engine = Engine::with(&graph).await;
        engine.run_sql("select flow.set_setting('environment', 'production')").await;
        engine.run_sql(change).await;
        let answer = engine.deploy(&graph).await;
        assert_eq!(answer["result"], "mismatch", "{change}");
        assert!(answer["differences"].to_string().replace('\\', "").contains(difference), "{change}: {answer}");
    }
    let engine = Engine::with(&graph).await;
    engine.run_sql("update flow.step set timeout_ms = 1 where slug = 'a'").await;
    let answer = engine.deploy(&graph).await;
    assert_eq!(answer["options"], json!([{"step": "a", "option": "timeout_ms", "old": 1, "new": 60_000}]));
}

// P32
#[tokio::test]
async fn a_worker_registers_only_for_what_its_flow_has_there() {
    let engine = Engine::new().await;
    let (own, other) =
        (Graph::new("own").single("a", &[]).single("b", &["a"]).step_queues(), Graph::new("other").single("a", &[]));
    engine.deploy(&own).await;
    engine.deploy(&other).await;
    let register = async |queue: &str, steps: &[i32], inputs: &[i32]| {
        let call = "select flow.register_worker(7, 7, 'w', 'own', $1, $2, $3, $4, 1)";
        let registered =
            sqlx::query(call).bind(own.shape()).bind(queue).bind(steps).bind(inputs).execute(engine.pool()).await;
        registered.map_err(|error| error.to_string())
    };
    register("own__a", &[0], &[0]).await.unwrap();
    for (queue, steps, inputs, text) in [
        (
            "other",
            &[0][..],
            &[][..],
            "queue \"other\" belongs to flow \"other\"; a worker of flow \"own\" cannot serve it",
        ),
        ("own__a", &[7], &[], "flow \"own\" has no step with index 7"),
        (
            "own__a",
            &[0, 1],
            &[],
            "step \"b\" of flow \"own\" is on queue \"own__b\", so a worker of queue \"own__a\" cannot serve it",
        ),
        ("own__a", &[0], &[1], "step \"b\" of flow \"own\" is on queue \"own__b\""),
        ("own__a", &[], &[], "the worker serves no step"),
        ("own__c", &[0], &[], "no queue \"own__c\" is registered"),
    ] {
        let error = register(queue, steps, inputs).await.unwrap_err();
        assert!(error.contains(text), "{error}");
    }
    assert_eq!(engine.value::<i64>("select count(*) from flow.worker").await, 1);
}

fn two_steps(mode: QueueMode) -> JsonFlow {
    let graph = FlowBuilder::new("parts").queue_mode(mode);
    let graph = graph.step(StepBuilder::single("one")).step(StepBuilder::single("two").needs(["one"]));
    let one = JsonHandler::new(async |call| Ok(json!(call.input().as_i64().unwrap_or_default() + 1)));
    let two = JsonHandler::new(async |call| Ok(json!(call.output("one").as_i64().unwrap_or_default() * 2)));
    JsonFlow::builder(graph).handler("one", one).handler("two", two).build().unwrap()
}

// P32
#[tokio::test]
async fn a_flow_built_at_run_time_is_served_step_by_step() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let flow = two_steps(QueueMode::StepQueues);
    let error = Worker::builder(&db).json(flow.clone()).build().err().unwrap();
    assert!(matches!(&error, BuildError::Steps(text) if text.contains("json_step(flow, \"one\")")), "{error}");
    let error = Worker::builder(&db).json_step(flow.clone(), "three").build().err().unwrap();
    assert!(
        matches!(&error, BuildError::Steps(text) if text.contains("`three`; its steps are `one`, `two`")),
        "{error}"
    );
    let error = Worker::builder(&db).json_step(two_steps(QueueMode::Plain), "one").build().err().unwrap();
    assert!(matches!(&error, BuildError::Steps(text) if text.contains("one queue for all steps")), "{error}");

    let one = Worker::builder(&db).json_step(flow.clone(), "one").build().unwrap().start().await.unwrap();
    let two = Worker::builder(&db).json_step(flow, "two").build().unwrap().start().await.unwrap();
    let run = Client::new(&db).start_json("parts", &json!(20)).await.unwrap();
    assert_eq!(run.wait().await.unwrap(), json!({ "two": 42 }));
    one.shutdown().await.unwrap();
    two.shutdown().await.unwrap();
}

// P35
#[tokio::test]
async fn a_client_deploys_rows_and_never_makes_a_table() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let client = Client::new(&db);
    let error = client.deploy::<Tick>().await.unwrap_err();
    assert!(
        matches!(&error, DeployError::Queue(text) if text.contains("start a worker for the flow once")),
        "{error:?}"
    );
    assert_eq!(text(&test, "select count(*)::text from flow.flow").await, "0");
    Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    sql(&test, "update flow.step set max_attempts = 9").await;
    client.deploy::<Tick>().await.unwrap();
    assert_eq!(text(&test, "select s.max_attempts::text from flow.step s").await, "3");
    sql(&test, "select flow.set_setting('environment', 'production'); update flow.step set slug = 'other'").await;
    assert!(matches!(client.deploy::<Tick>().await.unwrap_err(), DeployError::Mismatch { .. }));
}

// P36
#[tokio::test]
async fn pools_have_names_and_options_of_their_own() {
    use flow_tests::flows::{RelayQueues, RelayStep};
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let set = WorkerSet::builder(&db).name_prefix("shop-42").pools(RelayQueues::new(Relay), |step| match step {
        RelayStep::Double => flow_runtime::Pool::slots(2).batch(7).lease(std::time::Duration::from_secs(5)),
        RelayStep::Add => flow_runtime::Pool::slots(1).name("adder"),
    });
    let running = set.build().unwrap().start().await.unwrap();
    let names =
        "select string_agg(w.name || ' ' || w.queue || ' ' || w.alive, ', ' order by w.queue) from flow.workers w";
    assert_eq!(text(&test, names).await, "adder relay__add true, shop-42:relay__double relay__double true");
    running.shutdown().await.unwrap();
    assert_eq!(text(&test, "select count(*) filter (where w.alive)::text from flow.workers w").await, "0");
    let wrong = WorkerSet::builder(&db).pools(RelayQueues::new(Relay), |_| flow_runtime::Pool::slots(1).batch(0));
    assert!(matches!(wrong.build().err().unwrap(), BuildError::Option { option: "batch", .. }));
    let error = Worker::builder(&db).flow(Tick).name("").build().err().unwrap();
    assert!(matches!(error, BuildError::Option { option: "name", .. }));
}

// P36
#[tokio::test]
async fn a_deployment_names_its_workers_by_a_variable() {
    let test = TestDb::new().await;
    let program = env!("CARGO_BIN_EXE_flow_process");
    let mut worker = std::process::Command::new(program)
        .args(["tick", test.url(), "5000"])
        .env("FLOW_WORKER_NAME", "blue")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let names = "select coalesce(min(w.name), '') from flow.workers w where w.alive";
    flow_tests::support::eventually("the worker works", async || text(&test, names).await == "blue:tick").await;
    worker.kill().unwrap();
    worker.wait().unwrap();
}

// K6
#[tokio::test]
async fn a_flow_with_runs_under_way_is_deleted_by_force_alone() {
    let engine = Engine::with(&Graph::new("work").single("a", &[])).await;
    let worker = engine.worker(&Graph::new("work").single("a", &[])).await;
    engine.start("work", 1).await;
    worker.accept(worker.claim_one().await.complete(1)).await;
    engine.start("work", 2).await;
    engine.run_sql("update flow.worker set stopped_at = now()").await;
    let error = sqlx::raw_sql("select flow.delete_flow('work')").execute(engine.pool()).await.unwrap_err();
    let error = error.as_database_error().unwrap();
    assert_eq!(error.code().unwrap(), "WF018");
    assert!(error.message().contains("has 1 runs that have not ended, and 1 that have"), "{error}");
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 2);
    let counts: Value = engine.value("select flow.delete_flow('work', force => true)").await;
    assert_eq!(counts, json!({ "started": 1, "ended": 1, "done": true }));
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 0);
}

// H11
#[tokio::test]
async fn handles_and_what_they_tell_can_be_kept_and_sent_on() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap();
    let due = chrono::Utc::now() + chrono::Duration::days(3);
    let run = Client::new(&db).start::<Tick>(&7).start_at(due).await.unwrap();
    let stored: chrono::DateTime<chrono::Utc> =
        sqlx::query_scalar("select r.due_at from flow.runs r").fetch_one(test.pool()).await.unwrap();
    assert_eq!(stored.timestamp_micros(), due.timestamp_micros());
    let copy = run.clone();
    assert_eq!(json!(copy.step(Tick::ONLY).await.unwrap()), json!("pending"));
    assert_eq!(json!(copy.status().await.unwrap())["status"], "started");
    copy.cancel().await.unwrap();
    assert_eq!(json!(run.step(Tick::ONLY).await.unwrap()), json!("cancelled"));
    let run = Client::new(&db).start::<Tick>(&7).await.unwrap();
    run.wait().await.unwrap();
    assert_eq!(json!(run.step(Tick::ONLY).await.unwrap()), json!({ "completed": 7 }));
    worker.shutdown().await.unwrap();
}

// P32
#[tokio::test]
async fn a_worker_of_another_flows_queue_is_refused_before_it_works() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    // Its graph says step queues, but the rows of the database say otherwise by now.
    let flow = two_steps(QueueMode::StepQueues);
    let first = Worker::builder(&db).json_step(flow.clone(), "one").build().unwrap().start().await.unwrap();
    first.shutdown().await.unwrap();
    sql(&test, "update flow.queue set flow_id = null, ownership = 'shared' where name = 'parts__one'").await;
    sql(&test, "update flow.step set queue_id = (select q.queue_id from flow.queue q where q.name = 'parts__two')")
        .await;
    sql(&test, "select flow.set_setting('environment', 'production')").await;
    let error = Worker::builder(&db).json_step(flow, "one").build().unwrap().start().await.err().unwrap();
    assert!(matches!(error, WorkerError::Deploy(DeployError::Mismatch { .. })), "{error}");
}
