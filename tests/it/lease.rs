//! Leases: how long a claim holds, who takes over when it ends, and what giving a task back leaves behind.

use std::time::Duration;

use flow_tests::support::{Claim, Engine, Graph, Hand};
use serde_json::json;
use uuid::Uuid;

fn one_step() -> Graph {
    Graph::new("one").option("base_delay_ms", 0).single("a", &[])
}

fn each() -> Graph {
    Graph::new("each").option("base_delay_ms", 0).map("m", "input", &[])
}

/// A run of `one_step` whose task was claimed with its last attempt by a worker that is gone since.
async fn exhausted<'a>(engine: &'a Engine, graph: &Graph) -> (Uuid, Hand<'a>) {
    engine.deploy(graph).await;
    let run = engine.start(graph.slug(), 1).await;
    let gone = engine.worker(graph).await;
    gone.claim_one().await;
    engine.pass_time().await;
    (run, gone)
}

/// Milliseconds from the claim to the end of each message's invisibility.
async fn hidden_ms(engine: &Engine, queue: &str) -> Vec<i64> {
    let query = format!(
        "select (extract(epoch from m.vt - t.claimed_at) * 1000)::bigint from pgmq.q_{queue} m
         join flow.tasks t on t.message_id = m.msg_id where t.claimed_at is not null order by m.msg_id"
    );
    sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_all(engine.pool()).await.unwrap()
}

// L1
#[tokio::test]
async fn a_lease_hides_the_task_for_its_length() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let mut worker = engine.worker(&graph).await;
    worker.claim(1).await;
    worker.lease = Duration::from_secs(5);
    worker.claim(1).await;
    assert_eq!(hidden_ms(&engine, "each").await, [30_000, 5000]);
    assert_eq!(worker.claim(10).await, []);
    for (passed, claimable) in [("3 s", 0), ("2 s", 1), ("22 s", 1), ("3 s", 2)] {
        sqlx::query("update flow.task set lease_until = lease_until - $1::text::interval")
            .bind(passed)
            .execute(engine.pool())
            .await
            .unwrap();
        sqlx::query("update pgmq.q_each set vt = vt - $1::text::interval")
            .bind(passed)
            .execute(engine.pool())
            .await
            .unwrap();
        assert_eq!(engine.visible().await, claimable, "after {passed} more");
    }
    let taken = worker.claim(10).await;
    assert!(taken.len() == 2 && taken.iter().all(|claim| claim.attempt == 2), "{taken:?}");
    engine.check().await;
}

// L3
#[tokio::test]
async fn a_renewal_ends_ten_seconds_after_the_timeout_at_the_latest() {
    let graph = one_step().option("timeout_ms", 60_000).single("long", &[]).step_option("timeout_ms", 1000);
    let engine = Engine::with(&graph).await;
    engine.start("one", 1).await;
    let mut worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    worker.lease = Duration::from_secs(3600);
    assert_eq!(worker.renew(&claims).await, ("ok".to_owned(), vec!["renewed".to_owned(); 2]));
    assert_eq!(hidden_ms(&engine, "one").await, [70_000, 11_000]);
    assert!(
        engine
            .value::<bool>(
                "select bool_and(m.vt = t.lease_until) from pgmq.q_one m join flow.tasks t on t.message_id = m.msg_id"
            )
            .await
    );

    worker.lease = Duration::from_secs(2);
    worker.renew(&claims).await;
    assert!(hidden_ms(&engine, "one").await.iter().all(|ms| (2000..3000).contains(ms)));
    engine.check().await;
}

// L6
#[tokio::test]
async fn a_renewal_says_why_a_lease_is_lost() {
    let graph = Graph::new("three").single("a", &[]).map("m", "input", &[]).with("when_exhausted", "skip");
    let engine = Engine::with(&graph).await;
    let worker = engine.worker(&graph).await;
    let run = engine.start("three", json!([1, 2])).await;
    let claims = worker.claim(10).await;
    let (a, m) = (&claims[0], &claims[1..]);
    assert_eq!((a.step, m.len()), (0, 2));
    worker.accept(m[0].fail_for_good("no")).await;
    assert_eq!(
        worker.renew(&[m[0].clone(), m[1].clone(), a.clone()]).await.1,
        ["lost:taken", "lost:skipped", "renewed"]
    );
    engine.cancel(run).await;
    assert_eq!(worker.renew(std::slice::from_ref(a)).await.1, ["lost:cancelled"]);
    assert_eq!(worker.renew(&[a.with_run(Uuid::now_v7())]).await.1, ["lost:gone"]);
    assert_eq!(worker.renew(&[]).await, ("ok".to_owned(), vec![]));
    engine.check().await;
}

// L7
#[tokio::test]
async fn a_released_task_is_claimable_at_once_and_keeps_its_attempts() {
    let graph = one_step().option("max_attempts", 1);
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    for _ in 0..5 {
        let worker = engine.worker(&graph).await;
        let claim = worker.claim_one().await;
        assert_eq!((claim.attempt, claim.is_exhausted), (1, false));
        let stranger = engine.worker(&graph).await;
        assert_eq!(stranger.release(std::slice::from_ref(&claim)).await, [false]);
        assert_eq!(worker.release(&[claim.with_attempt(0), claim.clone()]).await, [false, true]);
        assert_eq!(engine.tasks(run).await, "a.0=queued/0");
        assert_eq!(worker.settle(&[claim.complete(1)]).await, ["lost"]);
        assert_eq!((worker.exchange(10, &[]).await.state.as_str(), engine.visible().await), ("draining", 1));
    }
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.complete(1)).await;
    assert_eq!(engine.value::<i64>("select count(*) from flow.attempt_error").await, 0);
    engine.check().await;
}

// L7 Q14
#[tokio::test]
async fn a_released_task_without_attempts_left_is_handed_over_again() {
    let graph = one_step().option("max_attempts", 1);
    let engine = Engine::new().await;
    let (run, _) = exhausted(&engine, &graph).await;
    for _ in 0..2 {
        let worker = engine.worker(&graph).await;
        let claim = worker.claim_one().await;
        assert_eq!((claim.attempt, claim.is_exhausted), (1, true));
        assert_eq!(worker.release(&[claim]).await, [true]);
        assert_eq!(engine.visible().await, 1);
    }
    let last = engine.worker(&graph).await;
    let claim = last.claim_one().await;
    assert_eq!((claim.attempt, claim.is_exhausted), (1, true));
    // Its last attempt is on record, so it can only be given up.
    assert_eq!(last.settle(&[claim.complete(1)]).await, ["lost"]);
    last.accept(claim.ended("lease_expired", Some("lease over"))).await;
    assert_eq!(engine.tasks(run).await, "a.0=failed/1");
    engine.check().await;
}

// L17
#[tokio::test]
async fn after_a_lost_reply_the_tasks_it_named_are_handed_over_again() {
    let graph = each().option("max_attempts", 1);
    let engine = Engine::with(&graph).await;
    engine.start("each", (0..6).collect::<Vec<_>>()).await;
    let (worker, other) = (engine.worker(&graph).await, engine.worker(&graph).await);
    let held = worker.claim(2).await;
    let lost = worker.claim(2).await;
    let foreign = other.claim(1).await;
    let reply = worker.resume(10, &held).await;
    let mut resumed = reply.claims;
    resumed.sort_by_key(|claim| claim.task);
    assert_eq!(resumed, lost);
    // What is not on the list is handed over each time; what is on it, never.
    let known: Vec<Claim> = held.iter().chain(&lost).cloned().collect();
    let fresh = worker.resume(10, &known).await.claims;
    assert_eq!(fresh.len(), 1, "the last queued task, claimed as ever");
    assert!(fresh[0].task != foreign[0].task && fresh[0].attempt == 1);
    for claim in known.iter().chain(&fresh) {
        worker.accept(claim.complete(1)).await;
    }
    assert_eq!(worker.resume(10, &[]).await.claims, []);
    engine.check().await;
}

// L17
#[tokio::test]
async fn a_resume_works_while_nothing_may_be_claimed() {
    let graph = each().option("max_attempts", 1);
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let lost = worker.claim(1).await;
    engine.run_sql("select flow.pause_queue('each', 'for a test')").await;
    let reply = worker.resume(10, &[]).await;
    assert_eq!((reply.state.as_str(), &reply.claims), ("paused", &lost));
    engine.run_sql("update flow.worker set draining_at = now()").await;
    let reply = worker.resume(0, &[]).await;
    assert_eq!((reply.state.as_str(), &reply.claims), ("draining", &lost));
    let reply = worker.resume(10, &lost).await;
    assert_eq!((reply.state.as_str(), reply.claims.len()), ("draining", 0));
    engine.check().await;
}

// L17 Q14
#[tokio::test]
async fn a_resume_says_again_that_no_attempt_is_left() {
    let graph = one_step().option("max_attempts", 1);
    let engine = Engine::new().await;
    exhausted(&engine, &graph).await;
    let worker = engine.worker(&graph).await;
    let lost = worker.claim_one().await;
    assert!(lost.is_exhausted);
    assert_eq!(worker.resume(10, &[]).await.claims, [lost]);
    engine.check().await;
}

// Q12
#[tokio::test]
async fn a_message_seen_during_its_tasks_lease_is_hidden_until_the_lease_ends() {
    let graph = one_step();
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    engine.run_sql("update pgmq.q_one set vt = now()").await;
    let other = engine.worker(&graph).await;
    assert_eq!(other.claim(10).await, []);
    assert_eq!(hidden_ms(&engine, "one").await, [30_000]);
    assert_eq!(engine.tasks(run).await, "a.0=started/1");
    worker.accept(claim.complete(1)).await;
    engine.check().await;
}

// Q13
#[tokio::test]
async fn a_task_whose_lease_is_over_is_taken_over() {
    let graph = one_step();
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    let first = engine.worker(&graph).await;
    first.claim_one().await;
    engine.pass_time().await;
    let second = engine.worker(&graph).await;
    let before: String = engine.value("select t.claimed_at::text from flow.tasks t").await;
    let taken = second.claim_one().await;
    assert_eq!((taken.attempt, taken.is_exhausted), (2, false));
    let row = "select concat_ws(' ', t.status, t.worker_id, t.lease_until > clock_timestamp()) from flow.tasks t";
    assert_eq!(engine.words(row).await, format!("started {} t", second.id));
    assert_ne!(engine.value::<String>("select t.claimed_at::text from flow.tasks t").await, before);
    second.accept(taken.complete(1)).await;
    assert_eq!(engine.tasks(run).await, "a.0=completed/2");
    engine.check().await;
}

// Q14 L5
#[tokio::test]
async fn a_task_without_attempts_left_is_handed_over_to_be_failed() {
    for (mode, step, status) in [
        ("fail", "a=failed b=cancelled", "failed"),
        ("skip", "a=skipped:handler_failed b=started", "started"),
        ("skip_cascade", "a=skipped:handler_failed b=skipped:dependency_skipped", "completed"),
    ] {
        let graph = Graph::new(&format!("ends_{mode}"))
            .option("max_attempts", 2)
            .option("base_delay_ms", 0)
            .single("a", &[])
            .with("when_exhausted", mode)
            .single("b", &["a"]);
        let engine = Engine::new().await;
        let (run, _) = exhausted(&engine, &graph).await;
        // The first to take it over for good dies as well, and the next one does the same.
        let last = engine.worker(&graph).await.claim_one().await;
        assert_eq!((last.attempt, last.is_exhausted), (2, false));
        for _ in 0..2 {
            engine.pass_time().await;
            let worker = engine.worker(&graph).await;
            let claim = worker.claim_one().await;
            assert_eq!((claim.attempt, claim.is_exhausted), (2, true));
        }
        engine.pass_time().await;
        let worker = engine.worker(&graph).await;
        let claim = worker.claim_one().await;
        worker.accept(claim.ended("lease_expired", Some("the lease ended"))).await;
        assert_eq!(worker.settle(&[claim.complete(1)]).await, ["already_settled"]);
        assert_eq!(engine.tasks(run).await.split(' ').next(), Some("a.0=failed/2"));
        assert_eq!((engine.steps(run).await.as_str(), &engine.run(run).await["status"]), (step, &json!(status)));
        assert_eq!(engine.step(run, "a").await["error"], "the lease ended");
        let history = "select concat(e.attempt, '/', e.cause) from flow.attempt_error e order by e.attempt";
        assert_eq!(engine.words(history).await, "1/lease_expired 2/lease_expired");
    }
}

// Q15
#[tokio::test]
async fn messages_of_ended_tasks_are_removed_without_an_error() {
    let graph = each().with("when_exhausted", "skip");
    let engine = Engine::with(&graph).await;
    let worker = engine.worker(&graph).await;
    engine.run_sql("create table copy as select * from pgmq.q_each").await;
    let stray = "insert into copy select * from pgmq.q_each";
    // One task of each end: completed, failed with a skipped sibling, cancelled.
    let skipped = engine.start("each", json!([1, 2, 3])).await;
    engine.run_sql(stray).await;
    let claims = worker.claim(2).await;
    worker.accept(claims[0].complete(1)).await;
    worker.accept(claims[1].fail_for_good("no")).await;
    let cancelled = engine.start("each", json!([1])).await;
    engine.run_sql(stray).await;
    engine.cancel(cancelled).await;
    let ends = "select distinct t.status::text from flow.tasks t order by 1";
    assert_eq!(engine.words(ends).await, "cancelled completed failed skipped");

    let before = (engine.tasks(skipped).await, engine.tasks(cancelled).await);
    for _ in 0..2 {
        engine.run_sql("insert into pgmq.q_each (msg_id, vt, message) overriding system value select c.msg_id, now(), c.message from copy c").await;
        assert_eq!(engine.visible().await, 4);
        let reply = worker.exchange(10, &[]).await;
        assert_eq!((reply.state.as_str(), reply.claims.len()), ("ok", 0));
        assert_eq!(engine.messages().await, 0);
    }
    assert_eq!((engine.tasks(skipped).await, engine.tasks(cancelled).await), before);
    engine.check().await;
}

// Q26
#[tokio::test]
async fn a_message_whose_task_is_locked_is_hidden_for_a_second() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    let run = engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let mut locked = engine.pool().begin().await.unwrap();
    sqlx::query("select from flow.task t where t.task_index = 0 for update").execute(&mut *locked).await.unwrap();
    let reply = worker.exchange(10, &[]).await;
    assert_eq!((reply.state.as_str(), reply.claims.len()), ("ok", 1));
    assert_eq!(engine.tasks(run).await, "m.0=queued/0 m.1=started/1");
    let hidden = "select (extract(epoch from m.vt - t.claimed_at) * 1000)::bigint from pgmq.q_each m, flow.tasks t
                  where m.msg_id = 1 and t.task_index = 1";
    assert_eq!(engine.value::<i64>(hidden).await, 1000);
    let renewed = worker.renew(&reply.claims).await;
    assert_eq!(renewed.1, ["renewed"]);
    sqlx::query("select from flow.task t where t.task_index = 1 for update").execute(&mut *locked).await.unwrap();
    assert_eq!(worker.renew(&reply.claims).await.1, ["busy"]);
    locked.rollback().await.unwrap();
    engine.pass_time().await;
    assert_eq!(worker.claim(10).await.len(), 2);
    engine.check().await;
}

// S4
#[tokio::test]
async fn two_attempts_of_one_task_in_one_batch_are_judged_apart() {
    let graph = one_step();
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    let worker = engine.worker(&graph).await;
    let first = worker.claim_one().await;
    engine.pass_time().await;
    let second = worker.claim_one().await;
    assert_eq!((first.attempt, second.attempt), (1, 2));
    assert_eq!(worker.settle(&[first.complete("old"), second.complete("new")]).await, ["lost", "accepted"]);
    assert_eq!(engine.result(run).await.1, json!({"a": "new"}));
    engine.check().await;
}

// S9
#[tokio::test]
async fn settlements_of_all_kinds_over_many_runs_mix_in_one_batch() {
    let graph = Graph::new("mix")
        .option("base_delay_ms", 600_000)
        .option("max_delay_ms", 600_000)
        .single("a", &[])
        .single("b", &["a"])
        .with("run_if", json!({"a": 1}))
        .with("when_unmet", "fail");
    let engine = Engine::with(&graph).await;
    let mut runs = Vec::new();
    for input in 0..5 {
        runs.push(engine.start("mix", input).await);
    }
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(10).await;
    let of = |at: usize| claims.iter().find(|claim| claim.run == runs[at]).unwrap();
    let verdicts = worker
        .settle(&[
            of(4).fail_for_good("no"),
            of(3).fail("again"),
            of(2).complete(2),
            of(1).complete(1),
            of(0).with_attempt(3).complete(1),
        ])
        .await;
    assert_eq!(verdicts, ["accepted", "accepted", "accepted", "accepted", "lost"]);
    let mut seen = Vec::new();
    for run in &runs {
        seen.push(engine.steps(*run).await);
    }
    assert_eq!(
        seen,
        [
            "a=started b=created",
            "a=completed b=started",
            "a=completed b=failed",
            "a=started b=created",
            "a=failed b=cancelled"
        ]
    );
    assert_eq!(engine.visible().await, 1);
    assert_eq!(engine.messages().await, 3);
    engine.check().await;
}
