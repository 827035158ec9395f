//! What goes over the wire: a door between a program and its server counts what the program asks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use flow_runtime::prelude::*;
use flow_tests::{flows::Tick, support::TestDb};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Barrier,
};

/// How many tasks make a batch.
const BATCH: usize = 10;

/// Passes connections on to the server, and counts the round trips of those that have called a function, and how many of them are simple queries.
struct Door {
    url: String,
    round_trips: Arc<AtomicUsize>,
    queries: Arc<AtomicUsize>,
}

impl Door {
    async fn open(url: &str, function: &'static str) -> Self {
        let (user, rest) = url.split_once('@').unwrap();
        let (server, database) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (round_trips, server) = (Arc::new(AtomicUsize::new(0)), server.to_owned());
        let queries = Arc::new(AtomicUsize::new(0));
        let counters = [Arc::clone(&round_trips), Arc::clone(&queries)];
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (from, mut to) = client.into_split();
                let (mut back, forth) = TcpStream::connect(&server).await.unwrap().into_split();
                tokio::spawn(count(from, forth, function.as_bytes(), counters.clone()));
                tokio::spawn(async move { tokio::io::copy(&mut back, &mut to).await });
            }
        });
        let plain = if database.contains('?') { "&sslmode=disable" } else { "?sslmode=disable" };
        Self { url: format!("{user}@{address}/{database}{plain}"), round_trips, queries }
    }
}

/// Passes on what a client sends. A round trip ends with the message that makes the server answer: Sync or Query.
async fn count(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    function: &[u8],
    [round_trips, queries]: [Arc<AtomicUsize>; 2],
) -> std::io::Result<()> {
    let mut has_called = false;
    // The first message is the only one without a letter before its length.
    let mut has_letter = false;
    loop {
        let letter = if has_letter { from.read_u8().await? } else { 0 };
        let length = from.read_u32().await?;
        let mut body = vec![0; length as usize - 4];
        from.read_exact(&mut body).await?;
        has_called |= body.windows(function.len()).any(|part| part == function);
        if has_called && matches!(letter, b'S' | b'Q') {
            round_trips.fetch_add(1, Ordering::SeqCst);
        }
        if has_called && letter == b'Q' {
            queries.fetch_add(1, Ordering::SeqCst);
        }
        if has_letter {
            to.write_u8(letter).await?;
        }
        to.write_u32(length).await?;
        to.write_all(&body).await?;
        has_letter = true;
    }
}

/// Handlers that end when as many are at work as a batch has tasks.
struct Together(Barrier);

#[flow(input = Vec<u32>)]
impl Together {
    #[map(over = input)]
    async fn act(&self, item: u32) -> Result<u32, StepError> {
        self.0.wait().await;
        Ok(item)
    }
}

// B9
#[tokio::test]
async fn a_busy_worker_settles_a_batch_and_claims_the_next_in_one_round_trip() {
    let test = TestDb::new().await;
    let door = Door::open(test.url(), "flow.exchange").await;
    let far = Duration::from_secs(600);
    let worker = Worker::builder(&Db::new(&door.url).unwrap()).flow(Together(Barrier::new(BATCH)));
    let worker = worker.concurrency(BATCH).batch(BATCH).poll_interval(far).lease(far).build().unwrap();
    let worker = worker.start().await.unwrap();
    // The client does not pass the door.
    let client = Client::new(&Db::new(test.url()).unwrap());
    let round_trips_of = async |batches: u32| {
        let began = door.round_trips.load(Ordering::SeqCst);
        let input: Vec<u32> = (0..BATCH as u32 * batches).collect();
        let run = client.start::<Together>(&input).await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(60), run.wait()).await.expect("no handler waits in vain");
        assert_eq!(ended.unwrap().act, input);
        door.round_trips.load(Ordering::SeqCst) - began
    };
    round_trips_of(1).await;
    let (few, many) = (round_trips_of(10).await, round_trips_of(110).await);
    println!("{few} round trips for 10 batches, {many} for 110");
    // A hundred more batches; some fall apart where the machine lets a handler wait for its turn, and the last look may come with either.
    assert!((98..140).contains(&(many - few)), "{} round trips for 100 batches", many - few);
    worker.shutdown().await.unwrap();
}

// B9
#[tokio::test]
async fn a_connection_in_steady_use_is_not_asked_before_a_call() {
    let test = TestDb::new().await;
    let worker_db = Db::new(test.url()).unwrap();
    let worker = Worker::builder(&worker_db).flow(Tick).build().unwrap().start().await.unwrap();
    let door = Door::open(test.url(), "flow.start_runs").await;
    let client = Client::new(&Db::new(&door.url).unwrap());
    let run = client.start::<Tick>(&0).await.unwrap();
    let count = || (door.round_trips.load(Ordering::SeqCst), door.queries.load(Ordering::SeqCst));
    let began = count();
    for number in 1..=50 {
        client.start::<Tick>(&number).await.unwrap();
        run.status().await.unwrap();
    }
    let ended = count();
    let (round_trips, queries) = (ended.0 - began.0, ended.1 - began.1);
    // The pool asks each connection that comes back, when its call has been answered; before a call it asks nothing.
    println!("{round_trips} round trips for {queries} calls and tellings");
    assert!(
        queries >= 100 && round_trips <= 2 * queries + 5,
        "{round_trips} round trips for {queries} calls and tellings"
    );
    worker.shutdown().await.unwrap();
}
