//! Values that are too large, too deep or no numbers: one run ends with a text that names them, and the workers go on.

use std::time::Duration;

use flow_runtime::{
    FailureAction,
    error::{RunError, StartError},
    prelude::*,
};
use flow_tests::support::{Engine, Graph, TestDb};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

/// What one task is to return, or how it is to fail.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
enum Wanted {
    Bytes(usize),
    ErrorBytes(usize),
    Nested(usize),
    Float(String),
}

/// What a task returns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
struct Made {
    text: String,
    number: Option<f64>,
    nested: Value,
}

struct Maker;

#[flow(input = Wanted, base_delay = "0s", max_attempts = 2)]
impl Maker {
    #[step]
    async fn make(&self, input: Wanted) -> Result<Made, StepError> {
        let made = |text, number, nested| Ok(Made { text, number, nested });
        match input {
            Wanted::Bytes(bytes) => made("x".repeat(bytes), None, Value::Null),
            Wanted::ErrorBytes(bytes) => Err(StepError::new("é".repeat(bytes / 2))),
            Wanted::Nested(depth) => made(String::new(), None, (0..depth).fold(json!(1), |inner, _| json!([inner]))),
            Wanted::Float(text) => made(String::new(), Some(text.parse()?), Value::Null),
        }
    }

    #[step]
    async fn take(&self, make: Made) -> Result<Made, StepError> {
        Ok(make)
    }
}

async fn error_of(client: &Client, wanted: Wanted) -> String {
    match client.start::<Maker>(&wanted).await.unwrap().wait().await {
        Err(RunError::Failed { step, error, .. }) => format!("{step}: {error}"),
        other => panic!("{:?}", other.map(|output| output.take.text.len())),
    }
}

// W13
#[tokio::test(flavor = "multi_thread")]
async fn outputs_and_errors_of_any_size_end_their_run_and_nobody_else() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Maker).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let large = error_of(&client, Wanted::Bytes(16 << 20)).await;
    assert!(large.starts_with("make: the output has 16777260 bytes, more than the limit of 16777216"), "{large}");
    assert!(large.contains("max_value_bytes"), "{large}");
    let huge = error_of(&client, Wanted::Bytes(105_000_000)).await;
    assert!(huge.starts_with("make: the output has 105000039 bytes, more than the 104857600"), "{huge}");

    let failed: Vec<_> = (0..20).map(|_| Wanted::ErrorBytes(3_000_000)).collect();
    for run in client.start_many::<Maker>(&failed).await.unwrap() {
        let error = run.wait().await.err().unwrap().to_string();
        assert!(error.len() < 8400 && error.contains("… (3000000 bytes in all)"), "{} bytes", error.len());
    }
    let small = client.start::<Maker>(&Wanted::Bytes(1)).await.unwrap();
    assert_eq!(small.wait().await.unwrap().take.text, "x");
    worker.shutdown().await.unwrap();
}

// F22
#[tokio::test]
async fn what_cannot_be_read_back_fails_the_step_that_returned_it() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Maker).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let deep = error_of(&client, Wanted::Nested(500)).await;
    assert!(deep.starts_with("make: the output cannot be read back from its own JSON"), "{deep}");
    assert!(deep.contains("`nested[0]") && deep.ends_with("recursion limit exceeded"), "{deep}");
    for float in ["NaN", "inf", "-inf"] {
        let error = error_of(&client, Wanted::Float(float.to_owned())).await;
        assert_eq!(error, "make: the output cannot be written as JSON: at `number`, a float is NaN or infinite");
    }
    let zero = error_of_zero(&client).await;
    assert!(zero.contains("it holds the character U+0000"), "{zero}");
    worker.shutdown().await.unwrap();
}

async fn error_of_zero(client: &Client) -> String {
    let run = client.start_json("maker", &json!({ "ErrorBytes": "a\u{0}b" })).await;
    run.unwrap_err().to_string()
}

// F23
#[tokio::test]
async fn every_finite_float_arrives_as_it_was_sent() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Floats).concurrency(4).build().unwrap().start().await.unwrap();
    let mut floats = vec![f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 0.1, 1.0 / 3.0, 1e23, 9_007_199_254_740_993.0];
    // Every pattern of bits is as likely as any other; a linear congruence is enough to vary them.
    let mut bits = 0x1234_5678_9abc_def1_u64;
    while floats.len() < 20_000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        floats.extend(Some(f64::from_bits(bits)).filter(|float| float.is_finite()));
    }
    let run = Client::new(&db).start::<Floats>(&floats).await.unwrap();
    let arrived = run.wait().await.unwrap().again;
    let changed = floats.iter().zip(&arrived).filter(|(sent, came)| sent.to_bits() != came.to_bits()).count();
    assert_eq!((arrived.len(), changed), (floats.len(), 0));
    worker.shutdown().await.unwrap();
}

struct Floats;

#[flow(input = Vec<f64>)]
impl Floats {
    #[step]
    async fn same(&self, input: Vec<f64>) -> Result<Vec<f64>, StepError> {
        Ok(input)
    }

    #[step]
    async fn again(&self, same: Vec<f64>) -> Result<Vec<f64>, StepError> {
        Ok(same)
    }
}

// R21
#[tokio::test]
async fn a_number_that_no_reader_could_take_is_refused_where_it_enters() {
    let graph = Graph::new("numbers").single("a", &[]).single("b", &["a"]);
    let engine = Engine::with(&graph).await;
    for number in ["1e309", "-1e309", "1e131071", "1e-400", &format!("1{}", "0".repeat(400))] {
        let input = format!("{{\"n\": [{number}]}}");
        let error =
            sqlx::query("select flow.start_runs('numbers', array[$1])").bind(&input).execute(engine.pool()).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("input 1 holds a number beyond the range of a 64-bit float"), "{number}: {error}");

        engine.start("numbers", 1).await;
        let worker = engine.worker(&graph).await;
        let claim = worker.claim_one().await;
        worker.accept(claim.complete_text(&input)).await;
        let error = engine.words("select r.error from flow.run r order by r.started_at desc limit 1").await;
        assert!(error.starts_with("the output holds a number beyond"), "{number}: {error}");
    }
    for number in ["1.7976931348623157e308", "5e-324", "0", "-0.0", "123456789012345678901234567890"] {
        let input = format!("[{number}, \"1e999\"]");
        sqlx::query("select flow.start_runs('numbers', array[$1])").bind(&input).execute(engine.pool()).await.unwrap();
    }
    // As jsonb it cannot even be written out to be looked at.
    let wild = format!("[{}]", ["1e131071"; 8999].join(","));
    let error =
        sqlx::query("select flow.start_run('numbers', $1::text::jsonb)").bind(&wild).execute(engine.pool()).await;
    let error = error.unwrap_err();
    assert_eq!(error.as_database_error().unwrap().code().unwrap(), "WF006");
}

// R21
#[tokio::test]
async fn a_value_has_one_size_whatever_way_it_comes() {
    let graph = Graph::new("sizes").single("a", &[]).single("b", &["a"]);
    let engine = Engine::with(&graph).await;
    engine.run_sql("select flow.set_setting('max_value_bytes', 2000)").await;
    // PostgreSQL writes a blank behind each comma and 309 digits for 1e308: 1,998 bytes and 2,177.
    let fits = format!("[1{}]", ",1".repeat(665));
    let is_over = format!("[{}]", ["1e308"; 7].join(","));
    assert!(is_over.len() < 100);
    engine.run_sql(leak(format!("select flow.start_runs('sizes', array['{}{fits}'])", " ".repeat(5000)))).await;
    let worker = engine.worker(&graph).await;
    worker.accept(worker.claim_one().await.complete_text(&fits)).await;
    let over_by_typed_text = sqlx::query("select flow.start_runs('sizes', array[$1])").bind(&is_over);
    let over_as_jsonb = sqlx::query("select flow.start_run('sizes', $1::text::jsonb)").bind(&is_over);
    for start in [over_by_typed_text, over_as_jsonb] {
        let error = start.execute(engine.pool()).await.unwrap_err();
        assert_eq!(error.as_database_error().unwrap().code().unwrap(), "WF006");
        assert!(error.to_string().contains("has 2177 bytes, more than the limit of 2000"), "{error}");
    }
    worker.accept(worker.claim_one().await.complete_text(&is_over)).await;
    let error = engine.words("select r.error from flow.run r").await;
    assert!(error.starts_with("the output has 2177 bytes, more than the limit of 2000"), "{error}");
}

fn leak(text: String) -> &'static str {
    text.leak()
}

// S17
#[tokio::test]
async fn a_run_output_over_the_limit_fails_the_run_and_blames_no_task() {
    let graph = Graph::new("leaves").single("a", &[]).single("b", &[]).single("c", &[]).with("when_exhausted", "skip");
    let engine = Engine::with(&graph).await;
    engine.run_sql("select flow.set_setting('max_aggregate_bytes', 2000)").await;
    let run = engine.start("leaves", 1).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(10).await;
    worker.accept(claims[0].complete("x".repeat(1500))).await;
    worker.accept(claims[1].complete("y".repeat(1500))).await;
    // The settlement that ends the run is no completion.
    worker.accept(claims[2].fail_for_good("no")).await;
    let (status, error): (String, String) =
        sqlx::query_as("select r.status::text, r.error from flow.run r where r.run_id = $1 and r.error_step = 2")
            .bind(run)
            .fetch_one(engine.pool())
            .await
            .unwrap();
    assert_eq!(status, "failed");
    assert!(
        error.starts_with("the outputs of the leaf steps have 3018 bytes together, more than the limit of 2000"),
        "{error}"
    );
    assert_eq!(engine.steps(run).await, "a=completed b=completed c=failed");
    engine.check().await;
}

// S17
#[tokio::test]
async fn a_map_output_over_the_limit_fails_its_step_and_blames_no_task() {
    let graph = Graph::new("parts").map("m", "input", &[]).single("z", &["m"]);
    let engine = Engine::with(&graph).await;
    engine.run_sql("select flow.set_setting('max_aggregate_bytes', 2000)").await;
    let run = engine.start("parts", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(10).await;
    for claim in &claims {
        worker.accept(claim.complete("x".repeat(1500))).await;
    }
    assert_eq!(engine.steps(run).await, "m=failed z=cancelled");
    assert_eq!(engine.task_counts(run, "m").await, "2 completed");
    let error = engine.words("select r.error from flow.run r").await;
    assert!(
        error.starts_with("the outputs of map \"m\" have 3008 bytes together, more than the limit of 2000"),
        "{error}"
    );
    assert_eq!(engine.value::<i64>("select count(*) from flow.attempt_error").await, 0);
    engine.check().await;
}

// S17
#[tokio::test]
async fn a_condition_never_puts_its_subject_together() {
    let mut graph = Graph::new("subjects");
    let sources: Vec<String> = (0..4).map(|at| format!("s{at}")).collect();
    for source in &sources {
        graph = graph.single(source, &[]);
    }
    let needs: Vec<&str> = sources.iter().map(String::as_str).collect();
    graph = graph
        .single("z", &needs)
        .with("run_if", json!({ "s0": { "go": [true] } }))
        .with("run_unless", json!({ "s9": 1 }));
    let graph = graph.with("run_unless", json!({ "s1": { "go": true } }));
    let engine = Engine::with(&graph).await;
    let run = engine.start("subjects", 1).await;
    let worker = engine.worker(&graph).await;
    for claim in worker.claim(10).await {
        worker.accept(claim.complete(json!({ "go": [true, 1] }))).await;
    }
    assert_eq!(engine.steps(run).await, "s0=completed s1=completed s2=completed s3=completed z=started");
}

// W13
#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_values_cannot_be_sent_fails_its_run_and_the_worker_goes_on() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let client = Client::new(&db);
    Worker::builder(&db).flow(Floats).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    let mut runs = client.start_many::<Floats>(&vec![vec![1.0]; 3]).await.unwrap();
    // No way in lets such a value pass, so it is put in its place by hand: small as JSON, more than a reply as text.
    let wild =
        format!("update flow.run set input = '[{}]' where run_id = '{}'", ["1e131071"; 8999].join(","), runs[1].id());
    sqlx::raw_sql(AssertSqlSafe(wild)).execute(test.pool()).await.unwrap();
    let worker = Worker::builder(&db).flow(Floats).build().unwrap().start().await.unwrap();
    let ill = runs.remove(1);
    let error = ill.wait().await.err().unwrap().to_string();
    assert!(error.contains("the values that step \"same\" takes cannot be put into one reply"), "{error}");
    assert!(error.contains("input ") && error.contains("the limit is 1 GB"), "{error}");
    for run in runs {
        assert_eq!(run.wait().await.unwrap().again, [1.0]);
    }
    worker.shutdown().await.unwrap();
}

// W13
#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_cannot_be_recorded_fails_its_run_and_the_worker_goes_on() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&db).flow(Maker).build().unwrap().start().await.unwrap();
    // Stands for whatever the database may refuse for one failure and no other.
    sqlx::raw_sql(
        "create function refuse() returns trigger language plpgsql as
             $$ begin raise exception 'not this one' using errcode = '22000'; end $$;
         create trigger refuse before insert on flow.attempt_error for each row execute function refuse()",
    )
    .execute(test.pool())
    .await
    .unwrap();
    let client = Client::new(&db);
    let error = error_of(&client, Wanted::ErrorBytes(4)).await;
    assert!(
        error.starts_with("make: the failure of an attempt could not be recorded: not this one; the attempt said: éé"),
        "{error}"
    );
    assert_eq!(client.start::<Maker>(&Wanted::Bytes(1)).await.unwrap().wait().await.unwrap().take.text, "x");
    worker.shutdown().await.unwrap();
}

struct Echo;

#[flow(input = String)]
impl Echo {
    #[step]
    async fn count(&self, input: String) -> Result<usize, StepError> {
        Ok(input.len())
    }
}

// R20
#[tokio::test]
async fn doors_that_do_not_fit_are_refused_in_words() {
    let engine = Engine::with(&Graph::new("doors").single("a", &[])).await;
    for (call, code, text) in [
        (
            "select flow.start_run('doors', '1', key => '')",
            "WF004",
            "idempotency key 1 has 0 bytes; a key has 1 to 256",
        ),
        ("select flow.start_run('doors', '1', key => repeat('é', 129))", "WF004", "has 258 bytes"),
        ("select flow.start_runs('doors', '{1,2}', p_keys => '{a}')", "WF004", "2 inputs come with 1 idempotency keys"),
        (
            "select flow.start_runs('doors', '{1}', p_start_at => '{now,now}')",
            "WF004",
            "1 inputs come with 2 start times",
        ),
        ("select flow.start_runs('doors', '{1,2}', array[gen_random_uuid()])", "WF004", "2 inputs come with 1 run ids"),
        ("select flow.start_run('doors', null)", "WF004", "an input is SQL null"),
        ("select flow.start_run('none', '1')", "WF001", "flow \"none\" is not deployed"),
        ("select flow.set_setting('max_value_bytes', 1e30::text)", "WF012", "from 1024 to 104857600"),
        ("select flow.set_setting('max_value_bytes', 104857601)", "WF012", "from 1024 to 104857600"),
        ("select flow.set_setting('max_aggregate_bytes', 1023)", "WF012", "from 1024 to 209715200"),
        ("select flow.set_setting('environment', 'testing')", "WF012", "production or development"),
        ("select flow.set_setting('environment', null)", "WF012", "production or development"),
        ("select flow.set_setting(null, 'production')", "WF012", "there is no setting"),
        ("select flow.set_setting('interface', '7')", "WF012", "there is no setting"),
    ] {
        let error = sqlx::raw_sql(call).execute(engine.pool()).await.expect_err(call);
        assert_eq!(error.as_database_error().unwrap().code().unwrap(), code, "{call}");
        assert!(error.to_string().contains(text), "{call}: {error}");
    }
    for call in [
        "select flow.start_run('doors', '1', key => repeat('é', 128))",
        "select flow.set_setting('environment', 'development')",
        "select flow.set_setting('environment', '\"production\"')",
        "select flow.set_setting('max_value_bytes', 104857600)",
        "select flow.set_setting('max_value_bytes', '1024')",
    ] {
        sqlx::raw_sql(call).execute(engine.pool()).await.expect(call);
    }
    assert_eq!(
        engine.value::<Value>("select s.value from flow.setting s where s.name = 'max_value_bytes'").await,
        1024
    );
    assert_eq!(engine.value::<i64>("select count(*) from flow.run").await, 1);
}

// R20
#[tokio::test]
async fn a_mistake_of_the_users_is_told_as_one() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let client = Client::new(&db);
    Worker::builder(&db).flow(Echo).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    for key in ["", "a\0b", &"k".repeat(257)] {
        let error = client.start::<Echo>(&String::new()).idempotency_key(key).await.unwrap_err();
        assert!(matches!(&error, StartError::Input(_)), "{error:?}");
    }
    let error = client.start::<Echo>(&"x".repeat(17 << 20)).await.unwrap_err();
    assert!(matches!(&error, StartError::Input(text) if text.contains("17825794 bytes")), "{error:?}");
    let error = client.start_json("Nobody", &json!(1)).await.unwrap_err();
    assert!(
        matches!(&error, StartError::NotDeployed(text) if text.contains("\"Nobody\" is not deployed")),
        "{error:?}"
    );
    assert_eq!(StepError::new("x").with_action(FailureAction::RetryAfter(Duration::ZERO)).message(), "x");
}
