//! Races on real connections: one winner each time, no deadlock, and every invariant at the end.
//!
//! Each storm lasts two seconds, unless `FLOW_STORM_SECONDS` says otherwise; the one against everything else goes on until
//! `FLOW_STORM_SETTLEMENTS` settlements were sent.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use flow_tests::support::{Claim, Engine, Graph, Settle, complete_each};
use serde_json::json;
use sqlx::{Connection, PgConnection};
use tokio::task::JoinSet;
use uuid::Uuid;

fn storm_length() -> Duration {
    Duration::from_secs(number("FLOW_STORM_SECONDS").unwrap_or(2))
}

/// What an environment variable says, if it is set.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| value.parse().unwrap())
}

/// How much of a storm is still to come, for those who make it.
struct Storm {
    until: Instant,
    settlements_wanted: usize,
    settlements: AtomicUsize,
    accepted: AtomicUsize,
}

impl Storm {
    fn new(settlements_wanted: usize) -> Arc<Self> {
        let until = Instant::now() + storm_length();
        Arc::new(Self { until, settlements_wanted, settlements: AtomicUsize::new(0), accepted: AtomicUsize::new(0) })
    }

    fn goes_on(&self) -> bool {
        Instant::now() < self.until || self.settlements.load(Ordering::Relaxed) < self.settlements_wanted
    }

    fn count(&self, verdicts: &[String]) {
        self.settlements.fetch_add(verdicts.len(), Ordering::Relaxed);
        let accepted = verdicts.iter().filter(|verdict| *verdict == "accepted").count();
        self.accepted.fetch_add(accepted, Ordering::Relaxed);
    }
}

/// Numbers that look random and are the same each time for one seed.
struct Dice(u64);

impl Dice {
    fn new(seed: usize) -> Self {
        Self((seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}

/// A flow with every kind of traffic: maps, a join, retries, skips and failures.
fn busy() -> Graph {
    Graph::new("busy")
        .option("base_delay_ms", 0)
        .option("max_attempts", 3)
        .single("first", &[])
        .map("soft", "input", &[])
        .with("when_exhausted", "skip")
        .map("hard", "input", &["first"])
        .single("join", &["first", "soft"])
        .single("end", &["hard", "join"])
}

async fn engine_with(graph: &Graph) -> Arc<Engine> {
    let engine = Engine::with_connections(17).await;
    engine.deploy(graph).await;
    Arc::new(engine)
}

/// Checks the invariants, then that the server met no deadlock in this database.
async fn assert_calm(engine: &Engine) {
    engine.check().await;
    assert_eq!(
        engine.words("select concat(q.name, ': ', q.paused_why) from flow.queue q where q.paused_at is not null").await,
        ""
    );
    // What a connection counted is in the statistics once it is closed.
    engine.pool().close().await;
    let mut connection = PgConnection::connect(engine.url()).await.unwrap();
    let count = "select d.deadlocks from pg_stat_database d where d.datname = current_database()";
    assert_eq!(sqlx::query_scalar::<_, i64>(count).fetch_one(&mut connection).await.unwrap(), 0);
    connection.close().await.unwrap();
}

/// Runs all tasks to their end; each fails the test by its panic.
async fn join_all(mut tasks: JoinSet<()>) {
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
}

/// A worker that claims under short leases and settles at random, also late, twice and for nothing.
async fn work(engine: Arc<Engine>, graph: Graph, seed: usize, lease: Duration, storm: Arc<Storm>) {
    let mut dice = Dice::new(seed);
    let mut worker = engine.worker(&graph).await;
    worker.lease = lease;
    let mut held: Vec<Claim> = Vec::new();
    while storm.goes_on() {
        let settlements: Vec<Settle> = (0..dice.roll(12))
            .filter_map(|_| {
                let at = held.len().checked_sub(1).map(|last| dice.roll(last + 1))?;
                let claim = if dice.roll(10) == 0 { held[at].clone() } else { held.swap_remove(at) };
                Some(match dice.roll(12) {
                    _ if claim.is_exhausted => claim.ended("lease_expired", Some("over")),
                    0 => claim.fail("again"),
                    1 if claim.step == 1 => claim.fail_for_good("skips"),
                    2 if dice.roll(8) == 0 => claim.fail_for_good("fails the run"),
                    _ => claim.complete(claim.task),
                })
            })
            .collect();
        let reply = worker.exchange(i32::try_from(dice.roll(20)).unwrap(), &settlements).await;
        assert!(
            ["ok", "late", "process_ended", "busy"].contains(&reply.state.as_str()),
            "{}: {}",
            reply.state,
            reply.reason
        );
        storm.count(&reply.verdicts);
        held.extend(reply.claims);
        let busy = settlements.iter().zip(&reply.verdicts).filter(|(_, verdict)| *verdict == "busy");
        held.extend(busy.map(|(settle, _)| settle.claim().clone()));
        if reply.state == "busy" {
            held.extend(settlements.iter().map(|settle| settle.claim().clone()));
        }
        if reply.state == "process_ended" || dice.roll(100) == 0 {
            engine.end_lost_processes().await;
            engine.recover().await;
            engine.revive().await;
        }
        if dice.roll(3) == 0 {
            worker.heartbeat(&held).await;
        }
        if dice.roll(40) == 0 {
            worker.release(&held.split_off(held.len() / 2)).await;
            worker = engine.worker(&graph).await;
            worker.lease = lease;
            held.clear();
        }
    }
}

/// Starts runs, cancels and retries some of them, and prunes what has ended.
async fn meddle(engine: Arc<Engine>, seed: usize, storm: Arc<Storm>) {
    let mut dice = Dice::new(seed);
    let mut runs: Vec<Uuid> = Vec::new();
    while storm.goes_on() {
        match dice.roll(8) {
            0..=3 => runs.push(engine.start("busy", vec![0; dice.roll(12)]).await),
            4 | 5 if !runs.is_empty() => {
                let run = runs[dice.roll(runs.len())];
                // It may be pruned by now.
                let _ =
                    sqlx::query("select flow.cancel_run($1)").bind(run).execute(engine.pool()).await.map_err(allowed);
            }
            6 if !runs.is_empty() => {
                let run = runs[dice.roll(runs.len())];
                let _ =
                    sqlx::query("select flow.retry_run($1)").bind(run).execute(engine.pool()).await.map_err(allowed);
            }
            _ => engine.run_sql("select flow.prune(clock_timestamp() - interval '50 ms', 5)").await,
        }
    }
}

/// Lets refusals by the engine's own rules pass, and nothing else.
fn allowed(error: sqlx::Error) {
    let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned();
    assert!(["WF002", "WF017"].contains(&code.as_str()), "{error}");
}

// C14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_against_everything_else_meet_no_deadlock() {
    let graph = busy();
    let engine = engine_with(&graph).await;
    let storm = Storm::new(number("FLOW_STORM_SETTLEMENTS").unwrap_or(0) as usize);
    let mut tasks = JoinSet::new();
    for seed in 0..8 {
        tasks.spawn(work(Arc::clone(&engine), graph.clone(), seed, Duration::from_millis(400), Arc::clone(&storm)));
        tasks.spawn(meddle(Arc::clone(&engine), 100 + seed, Arc::clone(&storm)));
    }
    join_all(tasks).await;
    println!("{:?} settlements, {:?} accepted", storm.settlements, storm.accepted);
    assert_calm(&engine).await;
}

// S14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_workers_settle_over_shared_runs_without_a_deadlock() {
    let graph = busy();
    let engine = engine_with(&graph).await;
    let storm = Storm::new(0);
    let mut tasks = JoinSet::new();
    for seed in 0..8 {
        tasks.spawn(work(Arc::clone(&engine), graph.clone(), seed, Duration::from_secs(30), Arc::clone(&storm)));
    }
    let starter = Arc::clone(&engine);
    tasks.spawn(async move {
        let live = "select count(*) from flow.run r where r.status = 'started'";
        while storm.goes_on() {
            let missing = 50 - starter.value::<i64>(live).await;
            let inputs = vec!["[1, 2, 3, 4, 5, 6, 7, 8]"; usize::try_from(missing.max(0)).unwrap()];
            sqlx::query("select flow.start_runs('busy', $1)").bind(&inputs).execute(starter.pool()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    join_all(tasks).await;
    assert_calm(&engine).await;
}

// Q26
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_and_a_starter_at_full_speed_never_pause_a_queue() {
    let graph = Graph::new("quick").single("a", &[]).map("b", "input", &["a"]).single("c", &["b"]);
    let engine = engine_with(&graph).await;
    let until = Instant::now() + storm_length();
    let mut tasks = JoinSet::new();
    let starter = Arc::clone(&engine);
    tasks.spawn(async move {
        while Instant::now() < until {
            starter.run_sql("select flow.start_runs('quick', array_fill('[1, 2, 3]'::text, array[20]))").await;
        }
    });
    for _ in 0..8 {
        let (engine, graph) = (Arc::clone(&engine), graph.clone());
        tasks.spawn(async move {
            let process = engine.process(Duration::from_secs(3600)).await;
            let worker = engine.worker_in(process, &graph, "quick", &[0, 1, 2]).await;
            let mut settlements: Vec<Settle> = Vec::new();
            while Instant::now() < until || !settlements.is_empty() {
                let reply = worker.exchange(if Instant::now() < until { 50 } else { 0 }, &settlements).await;
                assert_eq!(reply.state, "ok", "{}", reply.reason);
                let well = ["accepted", "busy"];
                assert!(reply.verdicts.iter().all(|verdict| well.contains(&verdict.as_str())), "{:?}", reply.verdicts);
                let busy = settlements.into_iter().zip(&reply.verdicts).filter(|(_, verdict)| *verdict == "busy");
                settlements = busy.map(|(settle, _)| settle).collect();
                settlements.extend(complete_each(&reply.claims, |claim| json!(claim.task)));
            }
        });
    }
    join_all(tasks).await;
    assert_calm(&engine).await;
}

// K4
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_and_the_last_settlement_have_one_winner() {
    let graph = Graph::new("one").single("a", &[]);
    let engine = engine_with(&graph).await;
    sqlx::query("select flow.start_runs('one', $1)").bind(vec!["1"; 1000]).execute(engine.pool()).await.unwrap();
    let mut lanes = JoinSet::new();
    for _ in 0..4 {
        let (engine, graph) = (Arc::clone(&engine), graph.clone());
        lanes.spawn(async move {
            let worker = engine.worker(&graph).await;
            for claim in worker.claim(250).await {
                let settlements = [claim.complete(1)];
                let (verdicts, status) = tokio::join!(worker.settle(&settlements), engine.cancel(claim.run));
                let winner = if verdicts == ["accepted"] { "completed" } else { "cancelled" };
                assert_eq!((status.as_str(), verdicts.len()), (winner, 1));
                assert_eq!(engine.steps(claim.run).await, format!("a={winner}"));
            }
        });
    }
    join_all(lanes).await;
    assert_eq!(engine.value::<i64>("select count(*) from flow.run r where r.status <> 'started'").await, 1000);
    assert_calm(&engine).await;
}

// S4 I10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_settlements_of_one_attempt_have_one_winner() {
    let graph = Graph::new("one").single("a", &[]).single("b", &["a"]);
    let engine = engine_with(&graph).await;
    for round in 0..20 {
        let run = engine.start("one", round).await;
        let worker = engine.worker(&graph).await;
        let claim = worker.claim_one().await;
        let mut tasks = JoinSet::new();
        for output in 0..16 {
            let (engine, claim, id) = (Arc::clone(&engine), claim.clone(), worker.id);
            tasks.spawn(async move {
                loop {
                    // One exchange of a worker at a time: the others are told to come again.
                    if let Some(verdict) = engine.hand(id).settle(&[claim.complete(output)]).await.pop() {
                        return verdict;
                    }
                }
            });
        }
        let mut verdicts = tasks.join_all().await;
        verdicts.sort();
        assert_eq!(verdicts[0], "accepted");
        assert!(verdicts[1..].iter().all(|verdict| verdict == "already_settled"), "{verdicts:?}");
        assert_eq!(engine.tasks(run).await, "a.0=completed/1 b.0=queued/0");
        engine.cancel(run).await;
    }
    assert_calm(&engine).await;
}

/// As many workers as there are tasks, each with one of them.
async fn one_claim_each(engine: &Engine, graph: &Graph, count: usize) -> Vec<(i64, Claim)> {
    let mut claims = Vec::new();
    for _ in 0..count {
        let worker = engine.worker(graph).await;
        claims.push((worker.id, worker.claim(1).await.remove(0)));
    }
    claims
}

// M6 S13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thirty_two_workers_end_one_step_once() {
    let graph = Graph::new("wide").map("m", "input", &[]).single("last", &["m"]);
    let engine = engine_with(&graph).await;
    for round in 0..5 {
        let run = engine.start("wide", (0..32).collect::<Vec<_>>()).await;
        let mut tasks = JoinSet::new();
        for (worker, claim) in one_claim_each(&engine, &graph, 32).await {
            let engine = Arc::clone(&engine);
            tasks.spawn(async move { engine.hand(worker).accept(claim.complete(claim.task)).await });
        }
        join_all(tasks).await;
        assert_eq!(engine.steps(run).await, "m=completed last=started", "round {round}");
        assert_eq!(engine.step(run, "m").await["output"], json!((0..32).collect::<Vec<_>>()));
        assert_eq!(engine.messages().await, 1);
        engine.cancel(run).await;
    }
    assert_calm(&engine).await;
}

// F13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_sixteen_steps_that_fail_at_once_one_fails_the_run() {
    let graph = (0..16).fold(Graph::new("falls"), |graph, step| graph.single(&format!("s{step}"), &[]));
    let engine = engine_with(&graph).await;
    for _ in 0..10 {
        let run = engine.start("falls", 1).await;
        let mut tasks = JoinSet::new();
        for (worker, claim) in one_claim_each(&engine, &graph, 16).await {
            let engine = Arc::clone(&engine);
            tasks.spawn(async move { engine.hand(worker).settle(&[claim.fail_for_good("no")]).await.remove(0) });
        }
        let verdicts = tasks.join_all().await;
        assert_eq!(verdicts.iter().filter(|verdict| *verdict == "accepted").count(), 1, "{verdicts:?}");
        assert_eq!(engine.steps(run).await.matches("=failed").count(), 1);
    }
    assert_calm(&engine).await;
}

// K6
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flow_deleted_under_load_leaves_nothing_behind() {
    let graph = busy();
    let engine = engine_with(&graph).await;
    let until = Instant::now() + storm_length() / 2;
    let mut tasks = JoinSet::new();
    for seed in 0..8 {
        let engine = Arc::clone(&engine);
        tasks.spawn(async move {
            let mut dice = Dice::new(seed);
            while Instant::now() < until {
                // The flow may be away.
                let started = engine.try_start("busy", vec![0; dice.roll(5)]).await;
                assert!(started.is_ok() || started.is_err_and(|error| error.to_string().contains("is not deployed")));
            }
        });
    }
    let deleter = Arc::clone(&engine);
    tasks.spawn(async move {
        while Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(100)).await;
            while !deleter.value::<bool>("select (flow.delete_flow('busy', true) ->> 'done')::boolean").await {}
            let orphans = "select (select count(*) from flow.run) + (select count(*) from flow.task)";
            assert_eq!(deleter.value::<i64>(orphans).await, 0);
            deleter.deploy(&busy()).await;
        }
    });
    join_all(tasks).await;
    assert_calm(&engine).await;
}

// R19
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keyed_start_beside_a_prune_never_makes_a_run_without_its_key() {
    // Runs of an empty map end at once, so that each may be pruned as soon as it is there.
    let graph = Graph::new("keyed").map("m", "input", &[]);
    let engine = engine_with(&graph).await;
    let until = Instant::now() + storm_length() / 2;
    let mut tasks = JoinSet::new();
    for _ in 0..6 {
        let engine = Arc::clone(&engine);
        tasks.spawn(async move {
            while Instant::now() < until {
                engine.run_sql("select flow.start_run('keyed', '[]', key => 'k')").await;
            }
        });
    }
    for _ in 0..2 {
        let engine = Arc::clone(&engine);
        tasks.spawn(async move {
            while Instant::now() < until {
                engine.run_sql("select flow.prune(now() + interval '1 hour')").await;
            }
        });
    }
    join_all(tasks).await;
    let without =
        "select count(*) from flow.run r where not exists (select from flow.run_key k where k.run_id = r.run_id)";
    assert_eq!(engine.value::<i64>(without).await, 0);
    assert!(engine.value::<i64>("select count(*) from flow.run").await <= 1, "one key names one run");
    assert_calm(&engine).await;
}
