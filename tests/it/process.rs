//! Several processes on one database, and what happens when one of them dies.

use std::time::{Duration, Instant};

use flow_runtime::prelude::*;
use flow_tests::{
    flows::{Order, Orders, Relay},
    support::{Process, TestDb, eventually},
};

pub(crate) fn start(args: &[&str]) -> Process {
    Process::start(env!("CARGO_BIN_EXE_flow_process"), args)
}

/// Waits until a worker has deployed the flow.
async fn deployed(db: &TestDb) {
    eventually("the flow is deployed", async || {
        let count = "select count(*) from flow.worker w";
        sqlx::query_scalar::<_, i64>(count).fetch_one(db.pool()).await.unwrap() > 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_process_serves_a_client_process() {
    let db = TestDb::new().await;
    let mut worker = start(&["worker", db.url(), "30000"]);
    worker.line_with("starting");
    deployed(&db).await;
    let mut client = start(&["client", db.url(), "1", "tea", "cup"]);
    client.line();
    assert_eq!(client.line(), "0:TEA,1:CUP");
    worker.signal("TERM");
    assert!(worker.ended().await.0);
    let stopped = "select count(*) from flow.worker w where w.stopped_at is not null";
    assert_eq!(sqlx::query_scalar::<_, i64>(stopped).fetch_one(db.pool()).await.unwrap(), 1);
}

// L4
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_workers_task_is_finished_by_another() {
    let db = TestDb::new().await;
    let mut first = start(&["worker", db.url(), "1000"]);
    deployed(&db).await;
    let client = Client::connect(db.url()).await.unwrap();
    let order = Order { items: vec!["tea".into()], pick_ms: 3_000 };
    let run = client.start::<Orders>(&order).await.unwrap();
    assert_eq!(first.line_with("picking"), "picking 0:tea attempt 1");
    first.signal("KILL");
    first.ended().await;

    let mut second = start(&["worker", db.url(), "1000"]);
    assert_eq!(second.line_with("picking"), "picking 0:tea attempt 2");
    assert_eq!(run.wait().await.unwrap().ship, "0:TEA");
    let history = "select concat_ws(' ', e.attempt, e.cause) from flow.attempt_error e";
    assert_eq!(sqlx::query_scalar::<_, String>(history).fetch_all(db.pool()).await.unwrap(), ["1 lease_expired"]);
}

// L5
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_kills_every_worker_fails_after_its_attempts() {
    let db = TestDb::new().await;
    let mut worker = start(&["worker", db.url(), "1000"]);
    deployed(&db).await;
    let client = Client::connect(db.url()).await.unwrap();
    let run = client.start::<Orders>(&Order { items: vec!["bomb".into()], pick_ms: 60_000 }).await.unwrap();
    for attempt in 1..=3 {
        assert_eq!(worker.line_with("picking"), format!("picking 0:bomb attempt {attempt}"));
        worker.signal("KILL");
        worker.ended().await;
        worker = start(&["worker", db.url(), "1000"]);
    }
    let error = run.wait().await.err().unwrap().to_string();
    assert!(error.contains("`pick`") && error.contains("lease"), "{error}");
    let history = "select concat_ws(' ', e.attempt, e.cause) from flow.attempt_error e order by e.attempt";
    let history: Vec<String> = sqlx::query_scalar(history).fetch_all(db.pool()).await.unwrap();
    assert_eq!(history, ["1 lease_expired", "2 lease_expired", "3 lease_expired"]);
}

// L19
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_tasks_of_a_killed_process_are_done_soon_by_another() {
    let db = TestDb::new().await;
    let mut first = start(&["worker", db.url(), "2000"]);
    deployed(&db).await;
    let client = Client::connect(db.url()).await.unwrap();
    let run = client.start::<Orders>(&Order { items: vec!["tea".into(); 100], pick_ms: 1_000 }).await.unwrap();
    first.line_with("picking");
    let mut second = start(&["worker", db.url(), "2000"]);
    second.line_with("starting");
    first.signal("KILL");
    let killed_at = Instant::now();
    first.ended().await;
    run.wait().await.unwrap();
    assert!(killed_at.elapsed() < Duration::from_secs(2 + 10), "{:?}", killed_at.elapsed());
    let attempts = "select count(*) from flow.attempt_error e where e.cause <> 'lease_expired' or e.attempt > 1";
    assert_eq!(sqlx::query_scalar::<_, i64>(attempts).fetch_one(db.pool()).await.unwrap(), 0);
}

// L6
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_workers_result_is_refused() {
    let db = TestDb::new().await;
    let mut frozen = start(&["worker", db.url(), "1000"]);
    deployed(&db).await;
    let client = Client::connect(db.url()).await.unwrap();
    let run = client.start::<Orders>(&Order { items: vec!["tea".into()], pick_ms: 2_000 }).await.unwrap();
    frozen.line_with("picking");
    frozen.signal("STOP");
    let mut other = start(&["worker", db.url(), "1000"]);
    assert_eq!(other.line_with("picking"), "picking 0:tea attempt 2");
    frozen.signal("CONT");
    assert_eq!(run.wait().await.unwrap().ship, "0:TEA");
    let attempts = "select t.attempt from flow.tasks t where t.step = 'pick'";
    assert_eq!(sqlx::query_scalar::<_, i32>(attempts).fetch_one(db.pool()).await.unwrap(), 2);
    frozen.signal("TERM");
    assert!(frozen.ended().await.0, "the worker that had lost its task goes on and stops in order");
}

// Q21 Q25
#[tokio::test(flavor = "multi_thread")]
async fn a_steps_tasks_wait_for_the_process_that_serves_it() {
    let db = TestDb::new().await;
    let mut doubling = start(&["step", db.url(), "30000", "double"]);
    deployed(&db).await;
    let client = Client::connect(db.url()).await.unwrap();
    let run = client.start::<Relay>(&vec![1, 2, 3]).await.unwrap();
    let queues =
        "select string_agg(concat_ws(' ', q.queue, q.messages, q.workers), ', ' order by q.queue) from flow.queues q";
    eventually("the absent process's task waits", async || {
        let queues: String = sqlx::query_scalar(queues).fetch_one(db.pool()).await.unwrap();
        queues == "relay__add 1 0, relay__double 0 1"
    })
    .await;
    assert_eq!(run.status().await.unwrap().steps_done, 1);

    let mut adding = start(&["step", db.url(), "30000", "add"]);
    assert_eq!(run.wait().await.unwrap().add, 12);
    for process in [&mut doubling, &mut adding] {
        process.signal("TERM");
        assert!(process.ended().await.0);
    }
    let mut doubled = doubling.rest();
    doubled.sort();
    assert_eq!(doubled, ["doubling 1", "doubling 2", "doubling 3"]);
    assert_eq!(adding.rest(), ["adding 3"]);
}

// L4
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_pools_tasks_wait_for_its_next_process() {
    let db = TestDb::new().await;
    let args = |step| ["step", db.url(), "1000", step];
    let _adding = start(&args("add"));
    deployed(&db).await;
    let mut dying = Process::start_with(env!("CARGO_BIN_EXE_flow_process"), &args("double"), "handling:2:kill");
    let client = Client::connect(db.url()).await.unwrap();
    let run = client.start::<Relay>(&vec![1, 2, 3]).await.unwrap();
    assert!(!dying.ended().await.0);
    assert_eq!(run.status().await.unwrap().steps_done, 0);

    let mut next = start(&args("double"));
    assert_eq!(run.wait().await.unwrap().add, 12);
    let most = "select max(t.attempt) from flow.tasks t";
    // They were lost in company, so none of them has used an attempt.
    assert_eq!(sqlx::query_scalar::<_, i32>(most).fetch_one(db.pool()).await.unwrap(), 1);
    next.signal("TERM");
    assert!(next.ended().await.0);
}

// W10
#[tokio::test(flavor = "multi_thread")]
async fn ten_flows_with_four_workers_each_complete_a_hundred_runs_a_flow() {
    let db = TestDb::new().await;
    // Each process has a worker for each of the ten flows, and nothing but a notification wakes them.
    let mut processes: Vec<Process> = (0..4).map(|_| start(&["ten", db.url()])).collect();
    let number = async |query: &'static str| sqlx::query_scalar::<_, i64>(query).fetch_one(db.pool()).await.unwrap();
    let full = "select count(*) from (select from flow.worker w where w.stopped_at is null group by w.flow_id
                having count(*) = 4) f";
    eventually("ten flows have four workers each", async || number(full).await == 10).await;
    let starts = (0..10).map(|flow| {
        let inputs: Vec<String> = (0..100).map(|n| format!("[{flow}, {n}]")).collect();
        let pool = db.pool().clone();
        tokio::spawn(async move {
            let start = "select flow.start_runs($1, $2)";
            sqlx::query(start).bind(format!("ten_{flow}")).bind(inputs).execute(&pool).await.unwrap();
        })
    });
    for start in starts.collect::<Vec<_>>() {
        start.await.unwrap();
    }
    let completed = "select count(*) from flow.run r where r.status = 'completed'";
    eventually("every run has completed", async || number(completed).await == 1_000).await;
    let right = "select count(*) from flow.runs r where r.output = jsonb_build_object('only', r.input)
                 and r.flow = 'ten_' || (r.input ->> 0)";
    assert_eq!(number(right).await, 1_000);
    let once = "select count(*) from flow.tasks t join flow.workers w using (worker_id, flow) where t.attempt = 1";
    assert_eq!(number(once).await, 1_000, "each task ran once, on a worker of its flow");
    assert_eq!(number("select count(*) from flow.attempt_error").await, 0);
    for process in &processes {
        process.signal("TERM");
    }
    for process in &mut processes {
        let (is_success, error) = process.ended().await;
        assert!(is_success, "{error}");
    }
    assert_eq!(number("select count(*) from flow.worker w where w.stopped_at is null").await, 0);
}
