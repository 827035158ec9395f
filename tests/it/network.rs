//! Connections that freeze and break: every call ends, and every program recovers by itself.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use flow_runtime::{error::DbError, prelude::*};
use flow_tests::{
    flows::Tick,
    support::{Log, Proxy, TestDb, eventually},
};
use tokio::task::JoinSet;

/// Longer than every deadline of a worker and of a client's call, one after the other.
const ALL_DEADLINES: Duration = Duration::from_secs(120);

// W17
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_whose_connections_freeze_works_on_with_new_ones() {
    let test = TestDb::new().await;
    let proxy = Proxy::start(test.url()).await;
    let db = Db::new(proxy.url()).unwrap();
    let worker = Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap();
    let direct = Client::new(&Db::new(test.url()).unwrap());
    direct.start::<Tick>(&1).await.unwrap().wait().await.unwrap();
    eventually("all three connections are there", async || proxy.made() >= 3).await;
    proxy.freeze_present();
    let run = direct.start::<Tick>(&2).await.unwrap();
    let output = tokio::time::timeout(ALL_DEADLINES, run.wait()).await.expect("the worker stood still").unwrap();
    assert_eq!(output.only, 2);
    worker.shutdown().await.unwrap();
}

// H12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clients_calls_and_waits_end_when_its_connections_freeze() {
    let test = TestDb::new().await;
    let direct = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&direct).flow(Tick).build().unwrap().start().await.unwrap();
    let proxy = Proxy::start(test.url()).await;
    let client = Client::new(&Db::new(proxy.url()).unwrap());
    let later = chrono::Utc::now() + chrono::Duration::seconds(3);
    let run = client.start::<Tick>(&1).start_at(later).await.unwrap();
    let waiting = tokio::spawn({
        let run = run.clone();
        async move { run.wait().await }
    });
    eventually("the handle listens and looks", async || proxy.made() >= 3).await;
    proxy.freeze_present();
    // Every connection of the pool and the listening one are frozen, and no call hangs.
    let started =
        tokio::time::timeout(ALL_DEADLINES, client.start::<Tick>(&2).into_future()).await.expect("a start hangs");
    assert_eq!(started.unwrap().wait().await.unwrap().only, 2);
    let waited = tokio::time::timeout(ALL_DEADLINES, waiting).await.expect("a wait hangs").unwrap();
    assert_eq!(waited.unwrap().only, 1);
    worker.shutdown().await.unwrap();
}

// L23 R3
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_reply_is_lost_is_made_again_and_starts_nothing_twice() {
    let test = TestDb::new().await;
    let direct = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&direct).flow(Tick).build().unwrap().start().await.unwrap();
    let proxy = Proxy::start(test.url()).await;
    let client = Client::new(&Db::new(proxy.url()).unwrap());
    let first = client.start::<Tick>(&0).await.unwrap();
    let later = chrono::Utc::now() + chrono::Duration::days(1);
    let mut runs = vec![first.clone()];
    // Each call meets a connection in the pool that is about to lose its next answer.
    let lose_next = async || {
        first.status().await.unwrap();
        proxy.lose_replies();
    };
    for number in (1..20).step_by(4) {
        lose_next().await;
        runs.push(client.start::<Tick>(&number).await.unwrap());
        lose_next().await;
        runs.push(client.start::<Tick>(&(number + 1)).idempotency_key(number.to_string()).await.unwrap());
        lose_next().await;
        runs.extend(client.start_many::<Tick>(&[number + 2, number + 3]).await.unwrap());
        let held = client.start::<Tick>(&6).start_at(later).await.unwrap();
        lose_next().await;
        assert_eq!(held.cancel().await.unwrap(), flow_runtime::RunStatus::Cancelled);
    }
    for (number, run) in (0..).zip(&runs) {
        assert_eq!(run.wait().await.unwrap().only, number);
    }
    println!("{} answers were lost", proxy.lost());
    assert!(proxy.lost() >= 15, "{} answers were lost", proxy.lost());
    let started: i64 = sqlx::query_scalar("select count(*) from flow.run").fetch_one(test.pool()).await.unwrap();
    assert_eq!(started, 26);
    worker.shutdown().await.unwrap();
}

// H12
#[tokio::test]
async fn a_connection_that_is_dead_on_first_use_costs_no_error() {
    let test = TestDb::new().await;
    let direct = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&direct).flow(Tick).build().unwrap().start().await.unwrap();
    let proxy = Proxy::start(test.url()).await;
    let client = Client::new(&Db::new(proxy.url()).unwrap());
    let run = client.start::<Tick>(&0).await.unwrap();
    run.wait().await.unwrap();
    for number in 1..20 {
        proxy.cut_present();
        let run = client.start::<Tick>(&number).await.unwrap();
        proxy.cut_present();
        assert_eq!(run.status().await.unwrap().steps_total, 1);
        assert_eq!(run.wait().await.unwrap().only, number);
    }
    worker.shutdown().await.unwrap();
}

// H13
#[tokio::test]
async fn many_waits_through_a_broken_network_say_so_once() {
    let test = TestDb::with_connections(20).await;
    let direct = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&direct).flow(Tick).build().unwrap().start().await.unwrap();
    let proxy = Proxy::start(test.url()).await;
    let (log, _guard) = Log::begin();
    let client = Client::new(&Db::new(proxy.url()).unwrap());
    let later = chrono::Utc::now() + chrono::Duration::seconds(8);
    let mut waiting = JoinSet::new();
    let handles = Arc::new(client.start_many::<Tick>(&(0..2_000).collect::<Vec<_>>()).await.unwrap());
    let last = client.start::<Tick>(&9).start_at(later).await.unwrap();
    for at in 0..handles.len() {
        let handles = Arc::clone(&handles);
        waiting.spawn(async move { handles[at].wait().await.map(|output| (at, output.only)) });
    }
    waiting.spawn(async move { last.wait().await.map(|output| (9, output.only)) });
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        proxy.cut_present();
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    while let Some(ended) = waiting.join_next().await {
        let (at, output) = ended.unwrap().unwrap();
        assert_eq!(usize::try_from(output).unwrap(), at);
    }
    // The driver's pool has a line of its own for each connection that broke; ours are one for each time that the cause changed.
    let warnings = log.lines_with(" WARN flow").len();
    assert!((1..60).contains(&warnings), "{warnings} warnings for one cause");
    worker.shutdown().await.unwrap();
}

// H14
#[tokio::test]
async fn a_server_without_room_says_so_in_its_own_words() {
    let test = TestDb::new().await;
    let role = test.role("connection limit 0").await;
    let client = Client::new(&Db::new(&role.url).unwrap());
    let error = client.start::<Tick>(&1).await.unwrap_err();
    let mut told = String::new();
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    while let Some(error) = cause {
        told = format!("{told}: {error}");
        cause = error.source();
    }
    assert!(told.contains("too many connections for role"), "{told}");
    let error = client.run_json(uuid::Uuid::now_v7().into()).status().await.unwrap_err();
    assert!(
        matches!(&error, flow_runtime::error::RunError::Db(DbError::Other(cause)) if cause.code().as_deref() == Some("53300")),
        "{error:?}"
    );
    test.drop_role(role).await;
}

// P37
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_servers_the_next_one_is_used_when_one_is_gone() {
    let test = TestDb::new().await;
    let (first, second) = (Proxy::start(test.url()).await, Proxy::start(test.url()).await);
    let place = |url: &str| url.rsplit_once('@').unwrap().1.split_once('/').unwrap().0.to_owned();
    let (user, database) = (test.url().rsplit_once('@').unwrap().0, test.url().rsplit_once('/').unwrap().1);
    // Nobody listens at the first address.
    let several = format!("{user}@127.0.0.1:1,{},{}/{database}", place(first.url()), place(second.url()));
    let db = Db::new(&several).unwrap();
    let worker = Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    assert_eq!(client.start::<Tick>(&1).await.unwrap().wait().await.unwrap().only, 1);
    assert_eq!(second.made(), 0);
    let later = chrono::Utc::now() + chrono::Duration::seconds(2);
    let waiting = client.start::<Tick>(&2).start_at(later).await.unwrap();
    drop(first);
    let waited = tokio::time::timeout(ALL_DEADLINES, waiting.wait()).await.expect("a wait hangs");
    assert_eq!(waited.unwrap().only, 2);
    assert_eq!(client.start::<Tick>(&3).await.unwrap().wait().await.unwrap().only, 3);
    assert!(second.made() > 0);
    worker.shutdown().await.unwrap();
}

// W18
#[tokio::test]
async fn a_worker_without_its_second_connection_does_not_start() {
    let test = TestDb::new().await;
    Worker::builder(&Db::new(test.url()).unwrap())
        .flow(Tick)
        .build()
        .unwrap()
        .start()
        .await
        .unwrap()
        .shutdown()
        .await
        .unwrap();
    let role = test.worker_role("connection limit 2").await;
    // One of the two connections is somebody else's.
    let other = sqlx::PgPool::connect(&role.url).await.unwrap();
    let held = other.acquire().await.unwrap();
    let worker = Worker::builder(&Db::new(&role.url).unwrap().managed(true)).flow(Tick).build().unwrap();
    let error = worker.start().await.err().unwrap();
    let text = format!("{error:?}");
    assert!(text.contains("too many connections for role"), "{text}");
    let alive = "select count(*) from flow.workers w where w.alive";
    assert_eq!(sqlx::query_scalar::<_, i64>(alive).fetch_one(test.pool()).await.unwrap(), 0);
    drop(held);
    other.close().await;
    test.drop_role(role).await;
}
