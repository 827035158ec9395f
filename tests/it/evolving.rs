//! Types that change under an unchanged shape: the recipes of docs/evolving.md, each with an old and a new program.

use flow_runtime::{Untyped, prelude::*};
use flow_tests::support::{Process, TestDb, eventually};
use serde_json::json;

/// A production database, and programs of one flow in several builds.
struct Rollout {
    test: TestDb,
    client: Client,
}

impl Rollout {
    async fn new() -> Self {
        let test = TestDb::new().await;
        sqlx::raw_sql("select flow.set_setting('environment', 'production')").execute(test.pool()).await.unwrap();
        let client = Client::new(&Db::new(test.url()).unwrap());
        Self { test, client }
    }

    fn program(&self, args: &[&str]) -> Process {
        let (build, more) = args.split_first().unwrap();
        let args: Vec<&str> = [*build, self.test.url()].into_iter().chain(more.iter().copied()).collect();
        Process::start(env!("CARGO_BIN_EXE_evolving"), &args)
    }

    /// Starts a build and waits until it works.
    fn start(&self, args: &[&str]) -> Process {
        let mut program = self.program(args);
        program.line_with("started");
        program
    }

    async fn stop(&self, mut program: Process) {
        program.signal("TERM");
        let (is_well, error) = program.ended().await;
        assert!(is_well, "{error}");
    }

    /// A run whose first step has been done by whoever works.
    async fn packed(&self, name: &str) -> RunHandle<Untyped> {
        let run = self.client.start_json("evolving", &json!(name)).await.unwrap();
        eventually("the first step is done", async || {
            self.number("select count(*) from test.messages() m where m.due_at > now() + interval '10 min'").await > 0
        })
        .await;
        run
    }

    /// Lets the second step of all runs begin.
    async fn let_on(&self) {
        sqlx::raw_sql("select test.make_due(); select pg_notify('flow_queue', '*')")
            .execute(self.test.pool())
            .await
            .unwrap();
    }

    async fn number(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(self.test.pool()).await.unwrap()
    }

    async fn text(&self, query: &'static str) -> String {
        sqlx::query_scalar(query).fetch_one(self.test.pool()).await.unwrap()
    }
}

async fn output(run: &RunHandle<Untyped>) -> String {
    run.wait().await.unwrap()["hold"].as_str().unwrap().to_owned()
}

/// A value that the old program wrote is read by the new one, which deploys beside it.
async fn new_reads_old(old: &str, new: &str, read: &str) {
    let rollout = Rollout::new().await;
    let old = rollout.start(&[old]);
    let run = rollout.packed("tea").await;
    let new = rollout.start(&[new]);
    rollout.stop(old).await;
    rollout.let_on().await;
    assert_eq!(output(&run).await, read);
    rollout.stop(new).await;
}

/// A value that the new program wrote is read by the old one, which still works beside it.
async fn old_reads_new(old: &str, new: &str, read: &str) {
    let rollout = Rollout::new().await;
    let old = rollout.start(&[old]);
    sqlx::raw_sql("select flow.pause_queue('evolving', 'for the new program')")
        .execute(rollout.test.pool())
        .await
        .unwrap();
    let new = rollout.start(&[new]);
    old.signal("STOP");
    sqlx::raw_sql("select flow.resume_queue('evolving')").execute(rollout.test.pool()).await.unwrap();
    let run = rollout.packed("tea").await;
    rollout.stop(new).await;
    old.signal("CONT");
    rollout.let_on().await;
    assert_eq!(output(&run).await, read);
    rollout.stop(old).await;
}

// P34
#[tokio::test(flavor = "multi_thread")]
async fn a_field_is_added_as_an_optional_one() {
    new_reads_old("base", "added", "added:tea:None").await;
    old_reads_new("base", "added", "base:tea").await;
}

// P34
#[tokio::test(flavor = "multi_thread")]
async fn a_field_is_renamed_by_writing_both_names_then_reading_the_new_one_then_dropping_the_old_one() {
    new_reads_old("base", "both", "both:tea").await;
    old_reads_new("base", "both", "base:tea").await;
    new_reads_old("both", "switched", "switched:tea").await;
    old_reads_new("both", "switched", "both:tea").await;
    new_reads_old("switched", "removed", "removed:tea").await;
}

// P34
#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_cannot_read_runs_under_way_is_refused_in_production() {
    let rollout = Rollout::new().await;
    let old = rollout.start(&["base"]);
    let run = rollout.packed("tea").await;
    let stored = "select string_agg(c.hash, ' ' order by c.step_index) from flow.contract c";
    let before = rollout.text(stored).await;
    let (is_well, error) = rollout.program(&["renamed"]).ended().await;
    assert!(!is_well);
    assert!(
        error.contains("pack/title is not always there, and is required") && error.contains("OnDrift::Allow"),
        "{error}"
    );
    assert_eq!(rollout.text(stored).await, before, "something was written");
    assert_eq!(rollout.number("select count(*) from flow.worker w where w.name = 'renamed'").await, 0);

    rollout.let_on().await;
    assert_eq!(output(&run).await, "base:tea", "the old program works on");
    rollout.stop(old).await;
    sqlx::raw_sql("select flow.set_setting('environment', 'development')").execute(rollout.test.pool()).await.unwrap();
    let new = rollout.start(&["renamed"]);
    rollout.stop(new).await;
}

// F10
#[tokio::test(flavor = "multi_thread")]
async fn under_a_recorded_drift_a_value_waits_for_a_program_that_can_read_it() {
    let rollout = Rollout::new().await;
    let old = rollout.start(&["base"]);
    let run = rollout.packed("tea").await;
    rollout.stop(old).await;
    let new = rollout.start(&["renamed", "allow"]);
    rollout.let_on().await;
    let failed = "select count(*) from flow.attempt_error e where e.cause = 'error' and e.error like 'parameter `pack` does not decode%'";
    eventually("the new program has tried", async || rollout.number(failed).await > 1).await;
    assert_eq!(rollout.text("select status::text from flow.runs").await, "started");
    rollout.stop(new).await;
    let old = rollout.start(&["base", "allow"]);
    assert_eq!(output(&run).await, "base:tea");
    rollout.stop(old).await;
}
