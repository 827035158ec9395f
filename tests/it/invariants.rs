//! The invariants hold after histories of every kind, and each kind of damage is found.

use flow_tests::support::{Engine, Graph};
use serde_json::json;
use sqlx::Row;

/// A flow that can come to every status: a single step, a map behind it, an end, a step that is skipped, one beside them.
fn graph() -> Graph {
    Graph::new("all")
        .option("base_delay_ms", 0)
        .single("a", &[])
        .map("m", "input", &["a"])
        .single("gone", &["a"])
        .with("run_if", json!({"a": "never"}))
        .single("end", &["m", "gone"])
        .single("soft", &["a"])
        .with("when_exhausted", "skip")
}

/// One run in each state: fresh (0), half done (1), completed (2), failed (3), cancelled (4).
async fn histories() -> Engine {
    let graph = graph();
    let engine = Engine::of_rows().await;
    engine.deploy(&graph).await;
    let worker = engine.worker(&graph).await;
    for state in 0..5 {
        let run: uuid::Uuid = sqlx::query_scalar("select flow.start_run('all', '[1, 2, 3]', $1, $2)")
            .bind(uuid::Uuid::from_u128(state))
            .bind(format!("key {state}"))
            .fetch_one(engine.pool())
            .await
            .unwrap();
        if state == 0 {
            engine.run_sql("select test.put_off()").await;
            continue;
        }
        let a = worker.claim_one().await;
        worker.accept(a.fail("once")).await;
        let a = worker.claim_one().await;
        let claims = worker.exchange(10, &[a.complete(1)]).await.claims;
        let of = |step, task| claims.iter().find(|claim| (claim.step, claim.task) == (step, task)).unwrap();
        worker.accept(of(1, 1).complete("one")).await;
        match state {
            1 => worker.accept(of(1, 0).fail("once")).await,
            2 => {
                worker.accept(of(4, 0).fail_for_good("no")).await;
                worker.settle(&[of(1, 2).complete("two"), of(1, 0).complete("zero")]).await;
                let end = worker.claim_one().await;
                worker.accept(end.complete("end")).await;
            }
            3 => worker.accept(of(1, 0).fail_for_good("no")).await,
            _ => assert_eq!(engine.cancel(run).await, "cancelled"),
        }
        engine.run_sql("select test.put_off()").await;
    }
    engine
}

/// The invariants that `damage` breaks; the damage is undone.
async fn broken_by(engine: &Engine, damage: &str) -> Vec<String> {
    let mut transaction = engine.pool().begin().await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(damage.to_owned())).execute(&mut *transaction).await.unwrap();
    let rows = sqlx::query("select distinct b.invariant from flow.broken_rows() b order by 1")
        .fetch_all(&mut *transaction)
        .await
        .unwrap();
    transaction.rollback().await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn healthy_histories_break_nothing() {
    let engine = histories().await;
    assert_eq!(
        engine.words("select r.status::text from flow.run r order by r.run_id").await,
        "started started completed failed cancelled"
    );
    engine.check().await;
}

/// Damage of each kind, with the invariants that it breaks. Runs are named by their last digit; steps by their index.
const DAMAGES: &[(&str, &[&str])] = &[
    ("update flow.run set remaining_steps = 9 where run_id = id(1)", &["I1"]),
    ("update flow.step_state set remaining_deps = 2 where run_id = id(0) and step_index = 1", &["I2"]),
    ("update flow.step_state set remaining_deps = 0 where run_id = id(1) and step_index = 3", &["I2"]),
    ("update flow.step_state set remaining_tasks = 3 where run_id = id(1) and step_index = 1", &["I3"]),
    (
        "update flow.task set status = 'cancelled', ended_at = now() where run_id = id(1) and ended_at is null;
      delete from flow.delayed where run_id = id(1) and task_index >= 0",
        &["I3", "I7"],
    ),
    (
        "update flow.step_state set status = 'created', queued_at = null where run_id = id(0) and step_index = 0;
      delete from flow.delayed where run_id = id(0)",
        &["I2", "I4"],
    ),
    ("update flow.run set status = 'cancelled', ended_at = now() where run_id = id(1)", &["I5"]),
    (
        "update flow.step_state set status = 'cancelled', ended_at = now()
      where run_id = id(1) and step_index = 4",
        &["I1", "I7"],
    ),
    (
        "update flow.step_state set status = 'cancelled', ended_at = now() where run_id = id(2) and step_index = 0",
        &["I6", "I7", "I8"],
    ),
    ("update flow.run set output = '{}' where run_id = id(2)", &["I6"]),
    ("update flow.run set output = '{}' where run_id = id(3)", &["I6"]),
    ("update flow.run set status = 'cancelled' where run_id = id(3)", &["I7"]),
    ("update flow.run set status = 'failed' where run_id = id(4)", &["I7"]),
    ("update flow.task set status = 'skipped' where run_id = id(4) and status = 'cancelled'", &["I7"]),
    (
        "update flow.task set status = 'cancelled' where run_id = id(2) and step_index = 1 and task_index = 1",
        &["I13", "I7"],
    ),
    ("update flow.step_state set queued_at = now() where run_id = id(0) and step_index = 3", &["I5"]),
    (
        "update flow.step_state set status = 'started', started_at = now(), queued_at = now(), remaining_tasks = 1
      where run_id = id(1) and step_index = 3",
        &["I12", "I8"],
    ),
    ("update flow.step_state set attempt = 4 where run_id = id(2) and step_index = 0", &["I9"]),
    ("delete from flow.attempt_error where run_id = id(2) and step_index = 0", &["I9"]),
    ("delete from flow.attempt_error where run_id = id(1) and step_index = 1", &["I9"]),
    ("insert into flow.attempt_error values (id(2), 0, -1, 1, 1, 2, 'error', 'x', now())", &["I9"]),
    ("insert into flow.attempt_error values (id(2), 0, 7, 1, 1, 1, 'error', 'x', now())", &["I9"]),
    ("delete from flow.delayed where run_id = id(0)", &["I12"]),
    (
        "insert into flow.message select queue_id, priority, age, run_id, step_index, task_index from flow.delayed limit 1",
        &["I12"],
    ),
    ("update flow.delayed set task_index = 7 where run_id = id(0)", &["I12"]),
    ("update flow.task set output = '\"other\"' where run_id = id(2) and step_index = 1 and task_index = 2", &["I13"]),
    ("delete from flow.task where run_id = id(2) and step_index = 1 and task_index = 2", &["I13"]),
    ("update flow.step_state set output = '[\"zero\", \"one\"]' where run_id = id(2) and step_index = 1", &["I13"]),
    ("delete from flow.step_state where run_id = id(4) and step_index = 3", &["I15"]),
    (
        "insert into flow.step_state (run_id, step_index, flow_id, age, remaining_deps, status, ended_at)
      select id(4), 5, flow_id, now(), 0, 'cancelled', now() from flow.flow",
        &["I15"],
    ),
    ("update flow.run_key set run_id = id(9) where key = 'key 2'", &["I15"]),
];

#[tokio::test]
async fn each_kind_of_damage_is_found() {
    let engine = histories().await;
    engine.make_broken_rows().await;
    engine
        .run_sql(
            "create function id(n integer) returns uuid language sql immutable as
                 $$ select ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid $$",
        )
        .await;
    for (damage, expected) in DAMAGES {
        assert_eq!(broken_by(&engine, damage).await, *expected, "{damage}");
    }
}

// I15
#[tokio::test]
async fn a_second_key_or_state_is_refused_by_the_tables() {
    let engine = histories().await;
    for insert in [
        "insert into flow.run_key select flow_id, key, run_id from flow.run_key limit 1",
        "insert into flow.step_state (run_id, step_index, flow_id, age, remaining_deps) select run_id, step_index, flow_id, now(), 0 from flow.step_state limit 1",
    ] {
        let error = sqlx::raw_sql(insert).execute(engine.pool()).await.unwrap_err();
        assert_eq!(error.as_database_error().unwrap().code().unwrap(), "23505");
    }
}
