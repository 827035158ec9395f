//! More workers, and more runs: what eight workers gain, and that a worker's memory does not grow with what it has done.

use std::{convert::Infallible, time::Instant};

use flow_runtime::prelude::*;
use flow_tests::{
    flows::Tick,
    support::{TestDb, eventually},
};

use crate::process::Process;

/// Passes each number on.
struct PassOn;

#[flow(input = Vec<u32>)]
impl PassOn {
    #[map(over = input)]
    async fn each(&self, item: u32) -> Result<u32, Infallible> {
        Ok(item)
    }
}

/// How long `workers` take from the start of these runs to the end of the last.
async fn seconds(workers: usize, inputs: &[Vec<u32>]) -> f64 {
    let test_db = TestDb::new().await;
    let db = Db::new(test_db.url()).unwrap();
    let client = Client::new(&db);
    let mut running = Vec::new();
    for _ in 0..workers {
        running.push(Worker::builder(&db).flow(PassOn).build().unwrap().start().await.unwrap());
    }
    let began_at = Instant::now();
    for run in client.start_many::<PassOn>(inputs).await.unwrap() {
        run.wait().await.unwrap();
    }
    let took = began_at.elapsed().as_secs_f64();
    for worker in running {
        worker.shutdown().await.unwrap();
    }
    took
}

/// Measures eight workers beside one, three times, and again while other work on the machine gets in between.
async fn eight_against_one(inputs: &[Vec<u32>], limit: f64) {
    let mut seen = Vec::new();
    for _ in 0..4 {
        let (mut one, mut eight) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            one.push(seconds(1, inputs).await);
            eight.push(seconds(8, inputs).await);
        }
        one.sort_by(f64::total_cmp);
        eight.sort_by(f64::total_cmp);
        seen.push(eight[1] / one[1]);
        println!("eight workers against one, {} runs: {:.2} (limit {limit})", inputs.len(), eight[1] / one[1]);
        if eight[1] <= one[1] * limit {
            return;
        }
    }
    panic!("eight workers took {seen:.2?} of the time of one; the limit is {limit}");
}

// B4
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_workers_are_not_in_each_others_way() {
    eight_against_one(&[(0..10_000).collect()], 1.6).await;
    eight_against_one(&vec![(0..50).collect(); 200], 1.0).await;
}

/// What a process keeps in memory, in kB.
fn resident_kb(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

// B15
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_workers_memory_does_not_grow_with_its_runs() {
    let db = TestDb::new().await;
    let mut worker = Process::start(&["tick", db.url(), "30000"]);
    worker.line_with("starting");
    let client = Client::connect(db.url()).await.unwrap();
    let mut sizes = Vec::new();
    eventually("the flow is deployed", async || {
        sqlx::query("select from flow.worker").fetch_optional(db.pool()).await.unwrap().is_some()
    })
    .await;
    for (batches, all) in [(10, 10_000), (90, 100_000)] {
        for _ in 0..batches {
            let runs = client.start_many::<Tick>(&(0..1_000).collect::<Vec<_>>()).await.unwrap();
            runs.last().unwrap().wait().await.unwrap();
        }
        let count = "select count(*) from flow.run r where r.status = 'completed'";
        eventually("the runs have ended", async || {
            sqlx::query_scalar::<_, i64>(count).fetch_one(db.pool()).await.unwrap() == all
        })
        .await;
        sizes.push(resident_kb(&worker));
    }
    println!("resident after 10,000 and 100,000 runs: {sizes:?} kB");
    assert!(sizes[1] * 2 <= sizes[0] * 3, "{sizes:?} kB");
}
