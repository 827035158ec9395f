//! Processes that freeze while the server sends them more than their sockets hold: how long others wait for what they keep.

use std::time::{Duration, Instant};

use flow_runtime::prelude::*;
use flow_tests::{
    outage::Echo,
    support::{Process, Proxy, TestDb, eventually},
};
use sqlx::PgPool;

use super::{ALL_DEADLINES, PROGRAM};

/// More than all buffers between a server and a stopped process hold together, and less than the largest value.
const LARGE: usize = 15 << 20;

/// More than one piece of a reply, so that the rest is on its way.
const UNDER_WAY: u64 = 300 << 10;

/// The server process that cannot send what it has for a call whose text holds `text`.
async fn blocked(pool: &PgPool, text: &str) -> i32 {
    let mut found = None;
    eventually(text, async || {
        let blocked = "select a.pid from pg_stat_activity a
                       where a.datname = current_database() and a.wait_event = 'ClientWrite' and strpos(lower(a.query), $1) > 0";
        found = sqlx::query_scalar(blocked).bind(text).fetch_optional(pool).await.unwrap();
        found.is_some()
    })
    .await;
    found.unwrap()
}

/// How long a server process goes on.
async fn time_until_gone(pool: &PgPool, process: i32) -> Duration {
    let began = Instant::now();
    let is_there = "select exists (select from pg_stat_activity a where a.pid = $1)";
    while sqlx::query_scalar::<_, bool>(is_there).bind(process).fetch_one(pool).await.unwrap() {
        assert!(began.elapsed() < ALL_DEADLINES, "a server process waits for a frozen one for ever");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    began.elapsed()
}

/// Stops a process while the server sends it a reply through its proxy, which was slow until now.
async fn stop_under_way(process: &Process, proxy: &Proxy, received: u64) {
    eventually("a reply is under way", async || proxy.received() > received + UNDER_WAY).await;
    process.signal("STOP");
    proxy.speed_up();
}

// W22 H16
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_process_keeps_its_locks_and_its_snapshot_for_half_a_minute() {
    let test = TestDb::new().await;
    let client = Client::new(&Db::new(test.url()).unwrap());
    let slow = |proxy: &Proxy| proxy.slow_down(Duration::from_millis(5), 10 << 20);
    let text = "x".repeat(LARGE);

    let to_worker = Proxy::start(test.url()).await;
    let worker = Process::start(PROGRAM, &["echo", to_worker.url()]);
    eventually("the flow is deployed", async || client.start::<Echo>(&String::new()).await.is_ok()).await;
    let ended = client.start::<Echo>(&text).await.unwrap();
    ended.wait().await.unwrap();

    slow(&to_worker);
    let received = to_worker.received();
    let run = client.start::<Echo>(&text).await.unwrap();
    stop_under_way(&worker, &to_worker, received).await;
    let exchange = blocked(test.pool(), "flow.exchange").await;
    let cancelled = tokio::spawn({
        let run = run.clone();
        async move {
            let began = Instant::now();
            run.cancel().await.unwrap();
            began.elapsed()
        }
    });

    let to_reader = Proxy::start(test.url()).await;
    slow(&to_reader);
    // A client's calls set nothing, since a pooler may stand in between: its address does.
    let address = format!("{}?options[tcp_user_timeout]=30s", to_reader.url());
    let reader = Process::start(PROGRAM, &["reader", &address, &ended.id().to_string()]);
    stop_under_way(&reader, &to_reader, 0).await;
    let read = blocked(test.pool(), "flow.get_run").await;

    let later = client.start::<Echo>(&text).start_at(chrono::Utc::now() + chrono::Duration::hours(1)).await.unwrap();
    let listener = Process::start(PROGRAM, &["reader", test.url(), &later.id().to_string()]);
    let listens = "select exists (select from pg_stat_activity a
                                  where a.datname = current_database() and a.query ilike 'listen%flow_run%')";
    eventually("the client listens", async || {
        sqlx::query_scalar::<_, bool>(listens).fetch_one(test.pool()).await.unwrap()
    })
    .await;
    listener.signal("STOP");
    let many = "select pg_notify('flow_run', repeat('x', 7000) || g) from generate_series(1, 3000) g";
    sqlx::query(many).execute(test.pool()).await.unwrap();
    let listening = blocked(test.pool(), "listen \"flow_run\"").await;

    let (read, listening, exchange) = tokio::join!(
        time_until_gone(test.pool(), read),
        time_until_gone(test.pool(), listening),
        time_until_gone(test.pool(), exchange),
    );
    let cancelled = tokio::time::timeout(ALL_DEADLINES, cancelled).await.expect("a lock is held for ever").unwrap();
    println!("| frozen | others wait s |\n|---|--:|");
    for (frozen, waited) in [
        ("a worker that claims: a cancel of its run", cancelled),
        ("the same: its server process", exchange),
        ("a client that reads: its server process", read),
        ("a process that listens: its server process", listening),
    ] {
        println!("| {frozen} | {:.1} |", waited.as_secs_f64());
    }

    worker.signal("CONT");
    client.start::<Echo>(&"small".to_owned()).await.unwrap().wait().await.unwrap();
}
