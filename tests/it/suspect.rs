//! Crashes in company: whose fault the end of a process was, what is suspect, and how work that kills its process is found.

use flow_tests::support::{Claim, Engine, Graph, Hand, complete_each};
use serde_json::json;

fn each() -> Graph {
    Graph::new("each").option("base_delay_ms", 0).map("m", "input", &[])
}

/// An engine with a run of so many elements.
async fn with_elements(graph: &Graph, count: usize) -> (Engine, uuid::Uuid) {
    let engine = Engine::with_connections(4).await;
    engine.deploy(graph).await;
    let run = engine.start(graph.slug(), (0..count).collect::<Vec<_>>()).await;
    (engine, run)
}

fn tasks(claims: &[Claim]) -> Vec<i32> {
    let mut tasks: Vec<i32> = claims.iter().map(|claim| claim.task).collect();
    tasks.sort_unstable();
    tasks
}

/// `task/limit` for each suspect, with `*` when it is held.
async fn suspects(engine: &Engine) -> String {
    let query = "select concat(s.task_index, '/', s.suspect_limit, case when s.process_id is not null then '*' end)
                 from flow.suspect s order by s.run_id, s.step_index, s.task_index";
    engine.words(query).await
}

/// A new worker claims so much, and its process ends. Returns what was lost.
async fn lose(engine: &Engine, graph: &Graph, limit: i32) -> Vec<Claim> {
    let worker = engine.worker(graph).await;
    let claims = worker.claim(limit).await;
    end(engine, &worker).await;
    claims
}

/// Ends one process and recovers what it held.
async fn end(engine: &Engine, worker: &Hand<'_>) {
    let over = "update flow.process set lease_until = clock_timestamp() where process_id = $1";
    sqlx::query(over).bind(worker.process).execute(engine.pool()).await.unwrap();
    sqlx::query("select flow.end_process($1)").bind(worker.process).execute(engine.pool()).await.unwrap();
    engine.recover().await;
}

/// Makes element 0 a suspect that must be alone: it was lost as the only suspect beside another.
async fn make_alone(engine: &Engine, graph: &Graph) {
    lose(engine, graph, 2).await;
    let worker = engine.worker(graph).await;
    // The other one of the two is beyond suspicion.
    let first = worker.claim(1).await.remove(0);
    assert_eq!(first.task, 0);
    let other = worker.claim(2).await;
    assert_eq!(other.len(), 2, "{other:?}");
    end(engine, &worker).await;
}

/// The poison among so many runs ends as its mode says, and was run this often; what it cost is printed.
async fn find_poison(count: usize, poisons: usize, mode: &str) {
    let graph = Graph::new("poison")
        .option("base_delay_ms", 0)
        .option("max_attempts", 3)
        .single("a", &[])
        .with("when_exhausted", mode)
        .single("b", &["a"]);
    let engine = Engine::with(&graph).await;
    let mut runs = Vec::new();
    for number in 0..count {
        runs.push(engine.start("poison", number).await);
    }
    // One in the middle, another at the begin.
    let poison: Vec<_> = [count / 2, 0][..poisons].iter().map(|at| runs[*at]).collect();
    let (mut kills, mut crashes) = (vec![0_usize; poisons], 0);
    let kills_its_process = |claim: &&Claim| claim.step == 0 && poison.contains(&claim.run);
    loop {
        let worker = engine.worker(&graph).await;
        let mut claims = worker.claim(100).await;
        while !claims.is_empty() && !claims.iter().any(|claim| kills_its_process(&claim)) {
            claims = worker.exchange(100, &complete_each(&claims, |_| json!(1))).await.claims;
        }
        if claims.is_empty() {
            break;
        }
        // The first of them kills the process, and the others have not begun.
        let first = claims.iter().find(kills_its_process).unwrap();
        kills[poison.iter().position(|run| *run == first.run).unwrap()] += 1;
        crashes += 1;
        end(&engine, &worker).await;
        assert!(crashes < 1_000, "no end: {kills:?}");
    }
    engine.check().await;
    println!("{count} runs, {poisons} poisons, {mode}: {crashes} crashes, {kills:?} by each");
    let most = 3 + 2 * count.ilog2() as usize + 4;
    assert!(kills.iter().all(|kills| *kills <= most), "{kills:?} of at most {most}");
    let expected = match mode {
        "fail" => ("failed", "a=failed b=cancelled"),
        "skip" => ("completed", "a=skipped:handler_failed b=completed"),
        _ => ("completed", "a=skipped:handler_failed b=skipped:dependency_skipped"),
    };
    for run in &runs {
        let (status, steps) = if poison.contains(run) { expected } else { ("completed", "a=completed b=completed") };
        assert_eq!(
            (engine.run(*run).await["status"].as_str().unwrap(), engine.steps(*run).await.as_str()),
            (status, steps)
        );
    }
    let used = "select count(distinct e.run_id) from flow.attempt_error e where e.used_attempt";
    assert_eq!(engine.value::<i64>(used).await, i64::try_from(poisons).unwrap(), "nobody else has used an attempt");
    assert_eq!(suspects(&engine).await, "");
}

// L5
#[tokio::test]
async fn work_that_kills_its_process_is_found_and_costs_nobody_else_an_attempt() {
    for count in [2, 10, 100] {
        for mode in ["fail", "skip", "skip_cascade"] {
            find_poison(count, 1, mode).await;
        }
        find_poison(count, 2, "skip").await;
    }
}

// L5
#[tokio::test]
async fn with_a_single_attempt_a_crash_always_uses_it() {
    let graph = each().option("max_attempts", 1).with("when_exhausted", "skip");
    let (engine, run) = with_elements(&graph, 3).await;
    assert_eq!(lose(&engine, &graph, 2).await.len(), 2);
    assert_eq!(engine.task_counts(run, "m").await, "2 failed, 1 skipped");
    let record = "select concat_ws(' ', e.used_attempt, e.company, e.suspect_limit) from flow.attempt_error e";
    assert_eq!(engine.words(record).await, "t 1 t 1");
    assert_eq!(suspects(&engine).await, "");
    engine.check().await;
}

// L5
#[tokio::test]
async fn what_is_lost_in_company_gets_a_limit_and_uses_no_attempt() {
    let graph = each();
    let (engine, run) = with_elements(&graph, 7).await;
    assert_eq!(tasks(&lose(&engine, &graph, 5).await), [0, 1, 2, 3, 4]);
    assert_eq!(suspects(&engine).await, "0/2 1/2 2/2 3/2 4/2");
    assert_eq!(engine.messages().await, 2, "suspects have none");
    assert!(engine.tasks(run).await.starts_with("m.0=queued/0 m.1=queued/0"));

    let worker = engine.worker(&graph).await;
    let claims = worker.claim(10).await;
    assert_eq!(tasks(&claims), [0, 1, 5, 6], "two suspects, the oldest, and what is none");
    assert!(claims.iter().all(|claim| claim.attempt == 1), "{claims:?}");
    assert_eq!(suspects(&engine).await, "0/2* 1/2* 2/2 3/2 4/2");
    assert_eq!(worker.claim(10).await, [], "no further suspect fits");
    end(&engine, &worker).await;
    assert_eq!(suspects(&engine).await, "0/1 1/1 2/2 3/2 4/2 5/1 6/1", "half of the suspects, half of the others");

    assert_eq!(tasks(&lose(&engine, &graph, 10).await), [0], "the oldest allows no other");
    assert_eq!(suspects(&engine).await, "0/0 1/1 2/2 3/2 4/2 5/1 6/1", "it was alone");
    let record = "select concat_ws('/', e.task_index, e.attempt, e.used_attempt, e.company, e.suspect_limit)
                  from flow.attempt_error e where e.task_index in (0, 2, 5) order by e.task_index, e.at";
    assert_eq!(engine.words(record).await, "0/1/f/4/2 0/1/f/3/1 0/1/t/0/0 2/1/f/4/2 5/1/f/3/1");
    let named = "select count(*) from flow.attempt_error e join flow.process p on p.process_id = e.process_id
                 where p.lost_suspects + p.lost_others = e.company + 1";
    assert_eq!(engine.value::<i64>(named).await, 10);
    engine.check().await;
}

// L5
#[tokio::test]
async fn the_only_suspect_beside_others_must_be_alone() {
    let graph = each();
    let (engine, run) = with_elements(&graph, 4).await;
    make_alone(&engine, &graph).await;
    assert_eq!(suspects(&engine).await, "0/0 1/1 2/1 3/1");
    let worker = engine.worker(&graph).await;
    assert_eq!(tasks(&worker.claim(10).await), [0], "and nothing beside it");
    engine.start("each", json!([1])).await;
    assert_eq!(worker.claim(10).await, []);
    end(&engine, &worker).await;
    assert_eq!(suspects(&engine).await, "0/0 1/1 2/1 3/1");
    assert!(engine.tasks(run).await.contains("m.0=queued/1"), "it was alone, so it has used an attempt");
    let last = engine.worker(&graph).await;
    let again = last.claim_one().await;
    assert_eq!((again.task, again.attempt), (0, 2));
    assert_eq!(
        tasks(&last.exchange(10, &[again.complete(1)]).await.claims),
        [0, 1],
        "the next suspect, and the other run"
    );
    engine.check().await;
}

// L5
#[tokio::test]
async fn the_oldest_suspect_that_does_not_fit_blocks_the_younger_ones() {
    let graph = each();
    let (engine, _) = with_elements(&graph, 10).await;
    lose(&engine, &graph, 4).await;
    let claims = lose(&engine, &graph, 8).await;
    assert_eq!(tasks(&claims), [0, 1, 4, 5, 6, 7, 8, 9]);
    assert_eq!(suspects(&engine).await, "0/1 1/1 2/2 3/2 4/3 5/3 6/3 7/3 8/3 9/3");
    // The second does not fit beside the first, and the third, which would, is younger.
    for expected in [vec![0], vec![1], vec![2, 3], vec![4, 5, 6], vec![7, 8, 9]] {
        assert_eq!(tasks(&engine.worker(&graph).await.claim(10).await), expected);
    }
    engine.check().await;
}

// L5
#[tokio::test]
async fn suspects_use_half_of_the_slots_and_at_least_one() {
    let graph = each();
    let (engine, _) = with_elements(&graph, 40).await;
    lose(&engine, &graph, 30).await;
    for (slots, expected) in [(1, vec![0]), (4, vec![1, 2, 30, 31])] {
        let worker = engine.worker(&graph).await;
        assert_eq!(tasks(&worker.claim(slots).await), expected);
        let half = expected.iter().filter(|task| **task < 30).count();
        assert_eq!(worker.claim(0).await.len(), 0);
        assert_eq!(half, usize::try_from(slots / 2).unwrap().max(1));
    }
    let worker = engine.worker(&graph).await;
    let first = worker.claim(2).await;
    assert_eq!(tasks(&first), [3, 32]);
    assert_eq!(tasks(&worker.claim(4).await), [4, 5, 33, 34], "three of six");
    engine.check().await;
}

/// An exchange that is not committed yet, of a worker that makes no other: how much it claims.
async fn claim_in(transaction: &mut sqlx::PgConnection, worker: &Hand<'_>, limit: i32) -> i32 {
    let exchange = "select coalesce(cardinality(e.p_runs), 0)
                    from flow.exchange($1, $2, 1, $3, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}') e";
    let claim = sqlx::query_scalar(exchange).bind(worker.process).bind(worker.id).bind(limit);
    claim.fetch_one(transaction).await.unwrap()
}

// L5
#[tokio::test]
async fn two_pools_of_a_process_hold_no_more_suspects_than_the_limit_together() {
    let graph = each();
    let (engine, _) = with_elements(&graph, 9).await;
    lose(&engine, &graph, 4).await;
    let first = engine.worker(&graph).await;
    let second = engine.worker_in(first.process, &graph, "each", &[0]).await;
    let mut transaction = engine.pool().begin().await.unwrap();
    assert_eq!(claim_in(&mut transaction, &first, 4).await, 4);
    assert_eq!(tasks(&second.claim(2).await), [6, 7], "what is not suspect");
    transaction.commit().await.unwrap();
    assert_eq!(suspects(&engine).await, "0/2* 1/2* 2/2 3/2");
    assert_eq!(tasks(&second.claim(10).await), [8]);
    assert_eq!(tasks(&engine.worker(&graph).await.claim(10).await), [2, 3], "another process may");
    engine.check().await;
}

// L5
#[tokio::test]
async fn many_pools_of_a_process_claim_at_once_and_keep_to_the_limit() {
    let graph = each();
    let (engine, _) = with_elements(&graph, 40).await;
    lose(&engine, &graph, 8).await;
    let first = engine.worker(&graph).await;
    let mut pools = Vec::new();
    for _ in 0..4 {
        pools.push(engine.worker_in(first.process, &graph, "each", &[0]).await);
    }
    engine.make_broken_rows().await;
    for _ in 0..20 {
        let [a, b, c, d] = &pools[..] else { unreachable!() };
        let claims = tokio::join!(a.claim(2), b.claim(2), c.claim(2), d.claim(2));
        assert_eq!(engine.broken_rows().await, Vec::<String>::new());
        a.release(&claims.0).await;
        b.settle(&claims.1.iter().map(|claim| claim.fail("no")).collect::<Vec<_>>()).await;
        engine.run_sql("update flow.worker set draining_at = null").await;
    }
}

// L5
#[tokio::test]
async fn a_process_is_emptied_for_a_suspect_that_must_be_alone() {
    let graph = each();
    let (engine, _) = with_elements(&graph, 4).await;
    // Claimed before there was a suspect.
    engine.start("each", json!([7, 8, 9])).await;
    let busy = engine.worker(&graph).await;
    let pool = engine.worker_in(busy.process, &graph, "each", &[0]).await;
    engine
        .run_sql(
            "select test.put_off('infinity', 'run_id = (select run_id from flow.run order by started_at limit 1)')",
        )
        .await;
    let held = busy.claim(1).await;
    engine.run_sql("select test.make_due(); select test.put_off('infinity', 'run_id = (select run_id from flow.run order by started_at desc limit 1)')").await;
    make_alone(&engine, &graph).await;
    engine.run_sql("select test.make_due()").await;

    assert_eq!(busy.claim(5).await, [], "it is not empty");
    assert_eq!(pool.claim(5).await, []);
    assert_eq!(engine.visible().await, 2);
    let reply = busy.exchange(5, &[held[0].complete(1)]).await;
    assert_eq!(tasks(&reply.claims), [0], "now it is, and gets the suspect");
    assert_eq!(suspects(&engine).await, "0/0* 1/1 2/1 3/1");
    assert_eq!(pool.claim(5).await, [], "nothing beside it");
    assert_eq!(busy.claim(5).await, []);
    assert_eq!(engine.worker(&graph).await.claim(5).await.len(), 3, "another process is not concerned");
    assert_eq!(busy.settle(&[reply.claims[0].complete(1)]).await, ["accepted"]);
    assert_eq!(tasks(&pool.claim(5).await), [2]);
    engine.check().await;
}

// L5
#[tokio::test]
async fn what_follows_from_a_result_is_not_handed_to_a_process_that_is_to_be_emptied() {
    let graph =
        Graph::new("chain").option("base_delay_ms", 0).map("m", "input", &[]).single("a", &[]).single("b", &["a"]);
    let engine = Engine::with(&graph).await;
    let busy = engine.worker(&graph).await;
    engine.start("chain", json!([])).await;
    let held = busy.claim_one().await;
    assert_eq!(held.step, 1);
    engine.start("chain", json!([0, 1, 2, 3])).await;
    engine.run_sql("update flow.step_state set started_at = started_at").await;
    lose(&engine, &graph, 2).await;
    let worker = engine.worker(&graph).await;
    worker.claim(1).await;
    worker.claim(2).await;
    end(&engine, &worker).await;
    assert!(suspects(&engine).await.contains("/0"));
    let reply = busy.exchange(5, &[held.complete(1)]).await;
    assert_eq!(reply.claims.len(), 1, "{:?}", reply.claims);
    assert!(suspects(&engine).await.contains("/0*"), "the suspect alone: {:?}", reply.claims);
    engine.check().await;
}

// L5
#[tokio::test]
async fn a_suspect_that_must_be_alone_waits_for_an_exchange_beside_it() {
    let graph = each();
    let (engine, _) = with_elements(&graph, 4).await;
    make_alone(&engine, &graph).await;
    let first = engine.worker(&graph).await;
    let second = engine.worker_in(first.process, &graph, "each", &[0]).await;
    let mut transaction = engine.pool().begin().await.unwrap();
    assert_eq!(claim_in(&mut transaction, &first, 0).await, 0, "it may claim at this moment");
    assert_eq!(second.claim(5).await, []);
    transaction.rollback().await.unwrap();
    assert_eq!(tasks(&second.claim(5).await), [0]);
    engine.check().await;
}

// L5
#[tokio::test]
async fn a_suspect_of_another_queue_closes_the_whole_process_unless_that_queue_is_paused() {
    let graph = Graph::new("two").option("base_delay_ms", 0).map("m", "input", &[]).single("a", &[]).step_queues();
    let engine = Engine::with(&graph).await;
    let queues = ["two__m", "two__a"];
    let maps = async || engine.worker_of(&graph, queues[0], &[0]).await;
    engine.start("two", json!([0, 1, 2, 3])).await;
    let lost = maps().await;
    lost.claim(2).await;
    end(&engine, &lost).await;
    let lost = maps().await;
    lost.claim(1).await;
    lost.claim(2).await;
    end(&engine, &lost).await;
    assert_eq!(suspects(&engine).await, "0/0 1/1 2/1 3/1");

    let mapper = maps().await;
    let single = engine.worker_in(mapper.process, &graph, queues[1], &[1]).await;
    assert_eq!(single.claim(5).await, [], "its process is to be empty");
    sqlx::query("select flow.pause_queue($1, 'a test')").bind(queues[0]).execute(engine.pool()).await.unwrap();
    assert_eq!(mapper.exchange(5, &[]).await.state, "paused");
    let claim = single.claim_one().await;
    sqlx::query("select flow.resume_queue($1)").bind(queues[0]).execute(engine.pool()).await.unwrap();
    assert_eq!(mapper.claim(5).await, [], "now it is not empty");
    single.accept(claim.complete(1)).await;
    assert_eq!(tasks(&mapper.claim(5).await), [0]);
    engine.check().await;
}

// L5 L7
#[tokio::test]
async fn any_settlement_clears_suspicion_and_a_release_does_not() {
    let graph = each().with("when_exhausted", "skip");
    for settle in ["complete", "error", "permanent", "timeout", "over", "release", "unknown"] {
        let (engine, run) = with_elements(&graph, 2).await;
        lose(&engine, &graph, 2).await;
        let worker = engine.worker(&graph).await;
        let claim = worker.claim_one().await;
        let after = match settle {
            "release" => {
                assert_eq!(worker.release(std::slice::from_ref(&claim)).await, [true]);
                "0/1 1/1"
            }
            "unknown" => {
                worker.heartbeat(&[]).await;
                "0/1 1/1"
            }
            "over" => {
                engine.run_sql("update flow.task set claimed_at = claimed_at - interval '1 h'").await;
                worker.heartbeat_with(std::slice::from_ref(&claim), None, &[0]).await;
                "1/1"
            }
            "complete" => {
                worker.accept(claim.complete(1)).await;
                "1/1"
            }
            "permanent" => {
                worker.accept(claim.fail_for_good("no")).await;
                ""
            }
            ending => {
                worker.accept(claim.ended(ending, Some("no"))).await;
                "1/1"
            }
        };
        assert_eq!(suspects(&engine).await, after, "{settle}");
        let used = i32::from(matches!(settle, "error" | "timeout" | "over"));
        if used == 1 || after.starts_with("0/1") {
            assert!(engine.tasks(run).await.starts_with(&format!("m.0=queued/{used}")), "{settle}");
            assert_eq!(engine.messages().await, i64::from(used), "{settle}");
        }
        engine.check().await;
    }
}

// L5 I12
#[tokio::test]
async fn suspects_that_wait_are_waiting_work_to_everybody_else() {
    let graph = each();
    for what in ["cancel", "held", "retry", "delete"] {
        let (engine, run) = with_elements(&graph, 2).await;
        lose(&engine, &graph, 2).await;
        let counted = "select concat_ws(' ', q.messages, q.suspects) from flow.queues q";
        assert_eq!(engine.words(counted).await, "0 2");
        let unserved = "select array_to_string(flow.unserved_queues('each'), ' ')";
        assert_eq!(engine.value::<String>(unserved).await, "each");
        let worker = engine.worker(&graph).await;
        engine.run_sql("select flow.pause_queue('each', 'a test')").await;
        assert_eq!(worker.claim(5).await, []);
        engine.run_sql("select flow.resume_queue('each')").await;
        let held = if what == "held" { worker.claim(5).await } else { Vec::new() };
        if what == "delete" {
            engine.run_sql("select flow.delete_flow('each', true)").await;
            assert_eq!(suspects(&engine).await, "");
            continue;
        }
        engine.cancel(run).await;
        assert_eq!(suspects(&engine).await, "");
        assert_eq!(worker.settle(&complete_each(&held, |_| json!(1))).await, vec!["lost"; held.len()]);
        if what == "retry" {
            sqlx::query("select flow.retry_run($1)").bind(run).execute(engine.pool()).await.unwrap();
            assert_eq!((engine.messages().await, suspects(&engine).await.as_str()), (2, ""));
            assert_eq!(worker.claim(5).await.len(), 2);
        }
        engine.run_sql("select flow.prune(now() + interval '1 h')").await;
        engine.check().await;
    }
}

// L5
#[tokio::test]
async fn a_suspect_whose_values_cannot_be_sent_fails_its_run_alone() {
    let graph = each();
    let (engine, run) = with_elements(&graph, 2).await;
    lose(&engine, &graph, 2).await;
    let worker = engine.worker(&graph).await;
    engine
        .run_sql(
            "create or replace function flow.shared_values(p_self flow.worker_state, p_claims flow.claim[],
                 out p_runs uuid[], out p_steps integer[], out p_values text[]) language plpgsql as $$
             begin
                 if cardinality(p_claims) > 0 then
                     raise program_limit_exceeded using message = 'too much';
                 end if;
             end $$",
        )
        .await;
    let careful = "select e.p_state from flow.exchange($1, $2, 1, 1, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', true) e";
    let state: String =
        sqlx::query_scalar(careful).bind(worker.process).bind(worker.id).fetch_one(engine.pool()).await.unwrap();
    assert_eq!((state.as_str(), engine.run(run).await["status"].as_str()), ("ok", Some("failed")));
    assert_eq!(suspects(&engine).await, "");
    engine.check().await;
}

// L18
#[tokio::test]
async fn a_clock_that_went_back_by_an_hour_takes_nobodys_work_and_keeps_none_for_longer() {
    let graph = each().option("timeout_ms", 60_000);
    let (engine, run) = with_elements(&graph, 4).await;
    let (first, second, dead) = (engine.worker(&graph).await, engine.worker(&graph).await, engine.worker(&graph).await);
    let (held, other) = (first.claim(2).await, second.claim(1).await);
    dead.claim(1).await;
    // As if all that is stored were of an hour later.
    engine
        .run_sql(
            "update flow.process set lease_until = lease_until + interval '1 h', seen_at = seen_at + interval '1 h';
             update flow.task set claimed_at = claimed_at + interval '1 h', queued_at = queued_at + interval '1 h'",
        )
        .await;
    assert_eq!(first.heartbeat(&held).await.1, ["held", "held"]);
    assert_eq!(second.heartbeat(&other).await.1, ["held"]);
    let too_long =
        "select count(*) from flow.process p where p.lease_until > clock_timestamp() + p.lease_ms * interval '1 ms'";
    assert_eq!(engine.value::<i64>(too_long).await, 0, "no lease ends later than it is long");
    engine.end_lost_processes().await;
    engine.recover().await;
    assert_eq!(engine.task_counts(run, "m").await, "4 started");
    assert_eq!(engine.value::<i64>("select count(*) from flow.attempt_error").await, 0);
    assert_eq!(suspects(&engine).await, "");
    // What has run over its time, as the worker has measured it, is taken back all the same.
    assert_eq!(first.heartbeat_with(&held, None, &[0]).await.1, ["taken", "held"]);
    engine.check().await;
}
