//! The two ways to roll out another shape, rehearsed with an old and a new program, step by step as docs/operations.md has them.

use std::path::PathBuf;

use flow_runtime::{Untyped, prelude::*};
use flow_tests::{
    flows::Parcel,
    support::{Process, TestDb, eventually},
};
use serde_json::json;

/// The written list: the names of the old program's workers, and of the new one's.
const OLD_NAMES: [&str; 2] = ["parcels-old-1", "parcels-old-2"];
const NEW_NAMES: [&str; 2] = ["parcels-new-1", "parcels-new-2"];

/// A production database, a client, and gates that hold handlers until they are opened.
pub(crate) struct Rehearsal {
    pub(crate) test: TestDb,
    pub(crate) client: Client,
    gates: PathBuf,
}

impl Rehearsal {
    pub(crate) async fn new() -> Self {
        let test = TestDb::new().await;
        let client = Client::new(&Db::new(test.url()).unwrap());
        let gates = std::env::temp_dir().join(format!("flow-gates-{}", uuid::Uuid::now_v7().simple()));
        std::fs::create_dir(&gates).unwrap();
        let rehearsal = Self { test, client, gates };
        rehearsal.sql("select flow.set_setting('environment', '\"production\"')").await;
        rehearsal
    }

    pub(crate) async fn sql(&self, text: &'static str) {
        sqlx::raw_sql(text).execute(self.test.pool()).await.unwrap();
    }

    pub(crate) async fn number(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(self.test.pool()).await.unwrap()
    }

    pub(crate) async fn disable(&self, names: &[&str]) {
        let all = "select flow.disable_worker(n, 'rollout 42') from unnest($1) n";
        sqlx::query(all).bind(names).execute(self.test.pool()).await.unwrap();
    }

    pub(crate) async fn enable(&self, names: &[&str]) {
        let all = "select flow.enable_worker(n) from unnest($1) n";
        sqlx::query(all).bind(names).execute(self.test.pool()).await.unwrap();
    }

    pub(crate) async fn alive(&self, names: &[&str]) -> i64 {
        let alive = "select count(*) from flow.workers w where w.name = any ($1) and w.alive";
        sqlx::query_scalar(alive).bind(names).fetch_one(self.test.pool()).await.unwrap()
    }

    /// Waits until none of the names has a worker.
    pub(crate) async fn drained(&self, names: &[&str]) {
        eventually("the workers have stopped", async || self.alive(names).await == 0).await;
    }

    /// Runs under way of a flow.
    pub(crate) async fn under_way(&self) -> i64 {
        self.number("select count(*) from flow.runs where flow = 'parcels' and status = 'started'").await
    }

    pub(crate) async fn start_old(&self) -> Vec<Process> {
        let started = OLD_NAMES.map(|name| self.old(name)).into();
        eventually("the old workers work", async || self.alive(&OLD_NAMES).await == 2).await;
        started
    }

    pub(crate) fn old(&self, name: &str) -> Process {
        Process::start(env!("CARGO_BIN_EXE_rollout_old"), &[self.test.url(), name])
    }

    pub(crate) async fn start_new(&self, way: &str) -> Vec<Process> {
        let started = NEW_NAMES.map(|name| self.new_program(way, name)).into();
        eventually("the new workers work", async || self.alive(&NEW_NAMES).await == 2).await;
        started
    }

    pub(crate) fn new_program(&self, way: &str, name: &str) -> Process {
        Process::start(env!("CARGO_BIN_EXE_rollout_new"), &[way, self.test.url(), name])
    }

    /// Starts a run whose handler of step `held` waits until [`Rehearsal::open`]; of none when it is empty.
    pub(crate) async fn run(&self, slug: &str, name: &str, held: &str) -> RunHandle<Untyped> {
        let input = Parcel { name: name.to_owned(), gates: self.gates.to_string_lossy().into(), held: held.to_owned() };
        self.client.start_json(slug, &json!(input)).await.unwrap()
    }

    /// Waits until as many handlers are at work.
    pub(crate) async fn at_work(&self, tasks: i64) {
        let started = "select count(*) from flow.tasks where status = 'started'";
        eventually("handlers are at work", async || self.number(started).await == tasks).await;
    }

    /// Lets the held handlers of a step go on.
    pub(crate) fn open(&self, step: &str) {
        std::fs::write(self.gates.join(step), "").unwrap();
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.gates);
    }
}

/// A program that a supervisor brings back is refused, and says why.
pub(crate) async fn check_refused(mut program: Process, why: &str) {
    let (is_success, error) = program.ended().await;
    assert!(!is_success && error.contains(why), "{error}");
}

/// Programs that were told to drain end in order.
pub(crate) async fn check_ended(programs: Vec<Process>) {
    for mut program in programs {
        let (is_success, error) = program.ended().await;
        assert!(is_success, "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_shape_replaces_the_old_one_in_place() {
    let rehearsal = Rehearsal::new().await;
    let old = rehearsal.start_old().await;
    let before = rehearsal.run("parcels", "before", "").await;
    assert_eq!(before.wait().await.unwrap(), json!({"send": "before, unweighed"}));
    let first = rehearsal.run("parcels", "first step", "pack").await;
    let last = rehearsal.run("parcels", "last step", "send").await;
    rehearsal.at_work(2).await;

    // 3. and 4.: what runs is finished, what has not begun stays.
    let all_names = [OLD_NAMES, NEW_NAMES].concat();
    rehearsal.disable(&all_names).await;
    rehearsal.open("pack");
    rehearsal.open("send");
    rehearsal.drained(&all_names).await;
    check_ended(old).await;
    assert_eq!(last.wait().await.unwrap(), json!({"send": "last step, unweighed"}));
    check_refused(rehearsal.old(OLD_NAMES[0]), "rollout 42").await;
    check_refused(rehearsal.new_program("in_place", NEW_NAMES[0]), "rollout 42").await;

    // 5.: a run is left, and may not go.
    assert_eq!(rehearsal.under_way().await, 1);
    rehearsal.enable(&OLD_NAMES).await;
    let old = rehearsal.start_old().await;
    eventually("no run is under way", async || rehearsal.under_way().await == 0).await;
    rehearsal.disable(&OLD_NAMES).await;
    rehearsal.drained(&OLD_NAMES).await;
    check_ended(old).await;
    assert_eq!(first.wait().await.unwrap(), json!({"send": "first step, unweighed"}));
    let completed = "select count(*) from flow.runs where status = 'completed'";
    assert_eq!((rehearsal.under_way().await, rehearsal.number(completed).await), (0, 3));

    // 6.: a refused program must not bring the old shape back.
    rehearsal.sql("select flow.delete_flow('parcels')").await;
    check_refused(rehearsal.old(OLD_NAMES[1]), "rollout 42").await;
    assert_eq!(rehearsal.number("select count(*) from flow.flow").await, 0);

    // 7. and 8.
    rehearsal.enable(&NEW_NAMES).await;
    let _new = rehearsal.start_new("in_place").await;
    let after = rehearsal.run("parcels", "after", "").await;
    assert_eq!(after.wait().await.unwrap(), json!({"send": "after, 5 g"}));
    check_refused(rehearsal.old(OLD_NAMES[0]), "rollout 42").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_shape_runs_beside_the_old_one_until_that_has_ended() {
    let rehearsal = Rehearsal::new().await;
    let old = rehearsal.start_old().await;
    let held = rehearsal.run("parcels", "held", "pack").await;
    rehearsal.at_work(1).await;

    // 1. and 2.: both at work.
    let _new = rehearsal.start_new("beside").await;
    let new_run = rehearsal.run("parcels_2", "new", "").await;
    assert_eq!(new_run.wait().await.unwrap(), json!({"send": "new, 3 g"}));
    let late = rehearsal.run("parcels", "late", "").await;
    assert_eq!(late.wait().await.unwrap(), json!({"send": "late, unweighed"}));

    // 3.: the old runs end on the old workers.
    assert_eq!(rehearsal.under_way().await, 1);
    rehearsal.open("pack");
    eventually("no run is under way", async || rehearsal.under_way().await == 0).await;
    assert_eq!(held.wait().await.unwrap(), json!({"send": "held, unweighed"}));
    let strays = "select count(*) from flow.tasks t join flow.worker w using (worker_id) where (t.flow = 'parcels') <> (w.name like '%-old-%')";
    assert_eq!(rehearsal.number(strays).await, 0, "no task ran on a worker of the other program");

    // 4., there, back and there again.
    deprecate(&rehearsal, old).await;
    check_refused(rehearsal.old(OLD_NAMES[0]), "deprecated").await;
    rehearsal.sql("select flow.undeprecate('parcels')").await;
    let old = rehearsal.start_old().await;
    deprecate(&rehearsal, old).await;

    // 5.
    rehearsal.disable(&OLD_NAMES).await;
    rehearsal.sql("select flow.delete_flow('parcels')").await;
    check_refused(rehearsal.old(OLD_NAMES[1]), "rollout 42").await;
    assert_eq!(rehearsal.number("select count(*) from flow.flow where slug = 'parcels'").await, 0);
    let after = rehearsal.run("parcels_2", "after", "").await;
    assert_eq!(after.wait().await.unwrap(), json!({"send": "after, 5 g"}));
    assert_eq!(new_run.wait().await.unwrap(), json!({"send": "new, 3 g"}), "the new flow's history stays");
}

/// Deprecates the old flow until none of its workers is left.
async fn deprecate(rehearsal: &Rehearsal, old: Vec<Process>) {
    let call = "select flow.deprecate('parcels')::bigint";
    eventually("no old worker is alive", async || rehearsal.number(call).await == 0).await;
    check_ended(old).await;
}
