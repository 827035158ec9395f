//! What goes over the wire: a door between a worker and its server counts what the worker asks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use flow_runtime::prelude::*;
use flow_tests::support::TestDb;
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

/// Passes connections on to the server, and counts the round trips of those that have asked for an exchange.
struct Door {
    url: String,
    round_trips: Arc<AtomicUsize>,
}

impl Door {
    async fn open(url: &str) -> Self {
        let (user, rest) = url.split_once('@').unwrap();
        let (server, database) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (round_trips, server) = (Arc::new(AtomicUsize::new(0)), server.to_owned());
        let counter = Arc::clone(&round_trips);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (from, mut to) = client.into_split();
                let (mut back, forth) = TcpStream::connect(&server).await.unwrap().into_split();
                tokio::spawn(count(from, forth, Arc::clone(&counter)));
                tokio::spawn(async move { tokio::io::copy(&mut back, &mut to).await });
            }
        });
        let plain = if database.contains('?') { "&sslmode=disable" } else { "?sslmode=disable" };
        Self { url: format!("{user}@{address}/{database}{plain}"), round_trips }
    }
}

/// Passes on what a client sends. A round trip ends with the message that makes the server answer: Sync or Query.
async fn count(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, round_trips: Arc<AtomicUsize>) -> std::io::Result<()> {
    let mut exchanges = false;
    // The first message is the only one without a letter before its length.
    let mut has_letter = false;
    loop {
        let letter = if has_letter { from.read_u8().await? } else { 0 };
        let length = from.read_u32().await?;
        let mut body = vec![0; length as usize - 4];
        from.read_exact(&mut body).await?;
        exchanges |= body.windows(13).any(|part| part == b"flow.exchange");
        if exchanges && matches!(letter, b'S' | b'Q') {
            round_trips.fetch_add(1, Ordering::SeqCst);
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
    let door = Door::open(test.url()).await;
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
