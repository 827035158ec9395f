//! Cost that stays flat as work grows: ratios of medians, taken side by side, never a time of its own.

use std::time::{Duration, Instant};

use flow_tests::support::{Engine, Graph, Hand, eventually};
use serde_json::{Value, json};
use sqlx::PgPool;

/// How many times a pair of costs is measured anew before a ratio counts as too high: other work on the machine comes and
/// goes, growth stays.
const TRIES: usize = 4;

/// The middle one.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// Measures pairs of (small, large) until their ratio is at most `limit`.
async fn ratio_is_at_most(limit: f64, what: &str, mut measure: impl AsyncFnMut() -> (f64, f64)) {
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let (small, large) = measure().await;
        seen.push(large / small);
        if large <= limit * small {
            println!("{what}: {:.2} (limit {limit})", large / small);
            return;
        }
    }
    panic!("{what}: {seen:.2?}, the limit is {limit}");
}

async fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let began_at = Instant::now();
    let done = work.await;
    (began_at.elapsed(), done)
}

/// A worker by hand whose handlers do not take the run's input, which is large here.
async fn worker<'a>(engine: &'a Engine, graph: &Graph) -> Hand<'a> {
    let worker = engine.worker(graph).await;
    let no_input = "update flow.worker set input_steps = '{}' where worker_id = $1";
    sqlx::query(no_input).bind(worker.id).execute(engine.pool()).await.unwrap();
    worker
}

fn over_input(slug: &str) -> Graph {
    Graph::new(slug).map("each", "input", &[])
}

fn over_step(slug: &str) -> Graph {
    Graph::new(slug).single("src", &[]).map("each", "src", &[])
}

/// Elements of 256 bytes each.
fn elements(count: usize) -> Value {
    (0..count).map(|n| format!("{n:0254}")).collect::<Vec<_>>().into()
}

/// Starts a map of so many elements and leaves its tasks in the queue.
async fn fill(engine: &Engine, graph: &Graph, count: usize) {
    engine.deploy(graph).await;
    engine.run_sql("select flow.set_setting('max_value_bytes', '100000000')").await;
    engine.start(graph.slug(), elements(if graph.len() == 1 { count } else { 0 })).await;
    if graph.len() == 2 {
        let worker = worker(engine, graph).await;
        let source = worker.claim_one().await;
        worker.accept(source.complete(elements(count))).await;
    }
}

// B1
#[tokio::test]
async fn a_claim_costs_the_same_whatever_the_map_and_the_batch() {
    let engine = Engine::new().await;
    let maps = [over_input("small_in"), over_input("large_in"), over_step("small_step"), over_step("large_step")];
    for (map, count) in maps.iter().zip([1_000, 100_000, 1_000, 100_000]) {
        fill(&engine, map, count).await;
    }
    let mut workers = Vec::new();
    for map in &maps {
        workers.push(worker(&engine, map).await);
    }
    for pair in [0, 2] {
        ratio_is_at_most(1.3, "claim of 10 from a map of 100,000 against one of 1,000", async || {
            let (mut small, mut large) = (Vec::new(), Vec::new());
            for _ in 0..20 {
                small.push(timed(workers[pair].claim(10)).await.0);
                large.push(timed(workers[pair + 1].claim(10)).await.0);
            }
            (median(small), median(large))
        })
        .await;
    }
    ratio_is_at_most(1.2, "a task in a claim of 50 against one of 10", async || {
        let (mut tens, mut fifties) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            tens.push(timed(workers[1].claim(10)).await.0 / 10);
            fifties.push(timed(workers[1].claim(50)).await.0 / 50);
        }
        (median(tens), median(fifties))
    })
    .await;
}

// B3
#[tokio::test]
async fn starting_a_map_grows_with_its_elements() {
    let engine = Engine::new().await;
    engine.deploy(&over_input("each")).await;
    let (small, large) = (elements(1_000), elements(10_000));
    ratio_is_at_most(15.0, "start of a map of 10,000 against one of 1,000", async || {
        let (mut smalls, mut larges) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            smalls.push(timed(engine.start("each", small.clone())).await.0);
            larges.push(timed(engine.start("each", large.clone())).await.0);
        }
        (median(smalls), median(larges))
    })
    .await;
}

/// Diamonds on top of each other; the first step's failure skips all.
fn diamonds(slug: &str, count: usize) -> Graph {
    let mut graph = Graph::new(slug).single("top", &[]).with("when_exhausted", "skip_cascade");
    let mut top = "top".to_owned();
    for n in 0..count {
        let (left, right, bottom) = (format!("l{n}"), format!("r{n}"), format!("b{n}"));
        graph = graph.single(&left, &[&top]).single(&right, &[&top]).single(&bottom, &[&left, &right]);
        top = bottom;
    }
    graph
}

// B5
#[tokio::test]
async fn a_cascade_grows_with_edges() {
    let engine = Engine::new().await;
    let graphs = [diamonds("few", 20), diamonds("many", 200)];
    for graph in &graphs {
        engine.deploy(graph).await;
    }
    let workers = [engine.worker(&graphs[0]).await, engine.worker(&graphs[1]).await];
    ratio_is_at_most(12.0, "cascade over 200 diamonds against 20", async || {
        let mut medians = [0.0, 0.0];
        for (at, worker) in workers.iter().enumerate() {
            let mut times = Vec::new();
            for _ in 0..7 {
                engine.start(graphs[at].slug(), 1).await;
                let claim = worker.claim_one().await;
                times.push(timed(worker.accept(claim.fail_for_good("no"))).await.0);
            }
            medians[at] = median(times);
        }
        (medians[0], medians[1])
    })
    .await;
}

fn chain_of(slug: &str, count: usize, step: impl Fn(Graph, &str, &str) -> Graph) -> Graph {
    (1..count).fold(Graph::new(slug).map("s0", "input", &[]), |graph, n| {
        step(graph, &format!("s{n}"), &format!("s{}", n - 1))
    })
}

// B6
#[tokio::test]
async fn chains_resolve_in_time_that_grows_with_them() {
    let engine = Engine::new().await;
    let map = |graph: Graph, slug: &str, before: &str| graph.map(slug, before, &[]);
    let skip =
        |graph: Graph, slug: &str, before: &str| graph.single(slug, &[before]).with("run_if", json!({ before: [1] }));
    let pairs = [
        (chain_of("maps_few", 100, map), chain_of("maps_many", 1_000, map)),
        (chain_of("skips_few", 100, skip), chain_of("skips_many", 1_000, skip)),
    ];
    for (few, many) in &pairs {
        engine.deploy(few).await;
        engine.deploy(many).await;
        ratio_is_at_most(12.0, "a chain of 1,000 against one of 100", async || {
            let (mut small, mut large) = (Vec::new(), Vec::new());
            for _ in 0..5 {
                small.push(timed(engine.start(few.slug(), json!([]))).await.0);
                large.push(timed(engine.start(many.slug(), json!([]))).await.0);
            }
            (median(small), median(large))
        })
        .await;
    }
}

/// The median cost of a claim and settlement of ten tasks of a queue that always has some.
async fn cost_of_ten(worker: &Hand<'_>) -> f64 {
    let mut times = Vec::new();
    for _ in 0..15 {
        let (time, _) = timed(async {
            let claims = worker.claim(10).await;
            assert_eq!(claims.len(), 10);
            worker.settle(&claims.iter().map(|claim| claim.complete(1)).collect::<Vec<_>>()).await
        })
        .await;
        times.push(time);
    }
    median(times)
}

// B7
#[tokio::test]
async fn hidden_messages_do_not_slow_a_claim() {
    let engine = Engine::new().await;
    let (with, without) = (over_input("with"), over_input("without"));
    fill(&engine, &without, 2_000).await;
    engine.deploy(&with).await;
    let many = "select flow.start_runs('with', array['[' || repeat('0,', 99999) || '0]'], '{}', '{}', array[now() + interval '1 day'])";
    engine.run_sql(many).await;
    engine.start("with", elements(2_000)).await;
    let (with, without) = (worker(&engine, &with).await, worker(&engine, &without).await);
    ratio_is_at_most(2.0, "claim with 100,000 hidden messages against none", async || {
        (cost_of_ten(&without).await, cost_of_ten(&with).await)
    })
    .await;
}

/// A history of 200,000 tasks of ended runs.
async fn insert_history(engine: &Engine) {
    engine.insert_history("each", 20_000, 10).await;
    assert_eq!(engine.value::<i64>("select count(*) from flow.task").await, 200_000);
}

// B8
#[tokio::test]
async fn history_slows_neither_claim_nor_settlement() {
    let (fresh, old) = (Engine::new().await, Engine::new().await);
    let graph = over_input("each");
    for engine in [&fresh, &old] {
        engine.deploy(&graph).await;
    }
    insert_history(&old).await;
    for engine in [&fresh, &old] {
        engine.start("each", elements(2_000)).await;
    }
    let (fresh, old) = (worker(&fresh, &graph).await, worker(&old, &graph).await);
    ratio_is_at_most(1.5, "ten tasks beside 200,000 old ones against none", async || {
        (cost_of_ten(&fresh).await, cost_of_ten(&old).await)
    })
    .await;
}

// B12
#[tokio::test]
async fn a_claims_updates_of_tasks_are_hot() {
    let mut engine = Engine::new().await;
    let graph = over_input("each");
    fill(&engine, &graph, 5_000).await;
    let worker = worker(&engine, &graph).await;
    while !worker.claim(100).await.is_empty() {}
    engine.reconnect().await;
    let query = "select s.n_tup_upd, s.n_tup_hot_upd from pg_stat_user_tables s where s.relname = 'task'";
    let mut shares = (0, 0);
    eventually("the counters arrive", async || {
        shares = sqlx::query_as::<_, (i64, i64)>(query).fetch_one(engine.pool()).await.unwrap();
        shares.0 >= 5_000
    })
    .await;
    assert!(shares.1 * 10 >= shares.0 * 9, "{} of {} updates were HOT", shares.1, shares.0);
}

/// What the server counted for the hot tables since the connections that did the work closed.
async fn scans(pool: &PgPool) -> (i64, i64, i64) {
    let query = "select sum(s.seq_scan)::bigint, sum(s.idx_scan)::bigint, sum(i.idx_tup_read)::bigint
                 from pg_stat_user_tables s
                 cross join lateral (select sum(i.idx_tup_read) as idx_tup_read from pg_stat_user_indexes i where i.relid = s.relid) i
                 where s.relname in ('run', 'step_state', 'task', 'q_chain')";
    sqlx::query_as(query).fetch_one(pool).await.unwrap()
}

// B13
#[tokio::test]
async fn hot_statements_look_rows_up_whatever_the_statistics_say() {
    let graph = Graph::new("chain").single("a", &[]).single("b", &["a"]).single("c", &["b"]);
    for (state, before) in [
        ("new", ""),
        ("analysed while empty", "analyze flow.run, flow.step_state, flow.task, flow.message, flow.delayed"),
        ("full, no statistics", "HISTORY"),
        ("full, fresh statistics", "HISTORY; analyze flow.run, flow.step_state, flow.task, flow.message, flow.delayed"),
        ("full, stale statistics", "analyze flow.run, flow.step_state, flow.task, flow.message, flow.delayed; HISTORY"),
    ] {
        let mut engine = Engine::new().await;
        engine.deploy(&graph).await;
        engine.deploy(&over_input("each")).await;
        for part in before.split("; ").filter(|part| !part.is_empty()) {
            if part == "HISTORY" {
                insert_history(&engine).await;
            } else {
                sqlx::query(part).execute(engine.pool()).await.unwrap();
            }
        }
        engine.reconnect().await;
        let mut began = scans(engine.pool()).await;
        // The counters of the connections that have just closed may still be on their way.
        eventually("the counters stand still", async || {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let now = scans(engine.pool()).await;
            std::mem::replace(&mut began, now) == now
        })
        .await;
        sqlx::query("select flow.start_runs('chain', array_fill('1'::text, array[300]))")
            .execute(engine.pool())
            .await
            .unwrap();
        engine.worker(&graph).await.complete_all(|_| json!(1)).await;
        engine.reconnect().await;
        let mut ended = began;
        eventually("the counters arrive", async || {
            ended = scans(engine.pool()).await;
            ended.1 - began.1 > 3_000
        })
        .await;
        let (sequential, read) = (ended.0 - began.0, ended.2 - began.2);
        assert_eq!(sequential, 0, "{state}: a hot table was scanned");
        // Each of the 900 steps looks up a dozen or two rows; a statement that walks an index would read thousands.
        assert!(read < 900 * 60, "{state}: {read} index entries were read for 900 steps");
        println!("{state}: {:.1} index entries a step", read as f64 / 900.0);
    }
}

// B13
#[tokio::test]
async fn a_connection_that_planned_early_stays_fast() {
    let engine = Engine::new().await;
    let graph = Graph::new("chain").single("a", &[]).single("b", &["a"]).single("c", &["b"]);
    engine.deploy(&graph).await;
    engine.run_sql("analyze flow.run, flow.step_state, flow.task, flow.message, flow.delayed").await;
    let worker = engine.worker(&graph).await;
    let start = async || {
        sqlx::query("select flow.start_runs('chain', array_fill('1'::text, array[200]))")
            .execute(engine.pool())
            .await
            .unwrap();
    };
    let mut costs = Vec::new();
    for _ in 0..15 {
        start().await;
        costs.push(timed(worker.complete_all(|_| json!(1))).await.0);
    }
    let (first, last) = (median(costs[..4].to_vec()), median(costs[11..].to_vec()));
    let mut later = last;
    ratio_is_at_most(1.5, "a step after 3,000 runs against the first ones", async || {
        let pair = (first, later);
        start().await;
        later = timed(worker.complete_all(|_| json!(1))).await.0.as_secs_f64();
        pair
    })
    .await;
}

// B14 B16
#[tokio::test]
async fn a_shared_value_is_stored_once_and_sent_once() {
    let engine = Engine::new().await;
    let graph = Graph::new("shared").single("list", &[]).single("big", &[]).map("each", "list", &["big"]);
    engine.deploy(&graph).await;
    engine.start("shared", 1).await;
    let worker = engine.worker(&graph).await;
    let roots = worker.claim(2).await;
    let size = async || engine.value::<i64>("select pg_database_size(current_database())").await;
    let before = size().await;
    // Letters that do not repeat, so that compression does not hide a second copy.
    let big: String = (0..1_000_000_u64)
        .map(|n| char::from(b'!' + (n.wrapping_mul(n ^ 0x9e37_79b9_7f4a_7c15) >> 32) as u8 % 90))
        .collect();
    let list: Vec<u32> = (0..1_000).collect();
    worker.settle(&[roots[0].complete(list), roots[1].complete(big.clone())]).await;
    let grown = size().await - before;
    assert!(grown < 3_000_000, "the database grew by {grown} bytes");

    let claims = worker.claim(50).await;
    assert_eq!(claims.len(), 50);
    let values = &claims[0].values;
    assert_eq!(values.iter().filter(|(step, _)| *step == 1).count(), 1, "one value for fifty tasks");
    assert_eq!(claims[49].dep(1), Some(&json!(big)));
}
