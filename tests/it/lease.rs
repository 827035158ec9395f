//! Leases: how long a process holds what it has claimed, who takes over when its lease ends, and what giving back leaves behind.

use std::time::Duration;

use flow_tests::support::{Engine, Graph, Hand};
use serde_json::json;
use uuid::Uuid;

fn one_step() -> Graph {
    Graph::new("one").option("base_delay_ms", 0).single("a", &[])
}

fn each() -> Graph {
    Graph::new("each").option("base_delay_ms", 0).map("m", "input", &[])
}

/// Ends whichever processes have leases that are over, and recovers what they held.
async fn recover(engine: &Engine) {
    engine.run_sql("select flow.end_process(p.process_id) from flow.process p where p.ended_at is null").await;
    engine.recover().await;
}

/// Lets a worker go on under a number that is so much above that of its first process; whether it may.
async fn revive(engine: &Engine, worker: &Hand<'_>, above: i64) -> bool {
    let revive = "select flow.revive_process(array[$1], $2, 'by hand', 30000)";
    sqlx::query_scalar(revive).bind(worker.id).bind(worker.process + above).fetch_one(engine.pool()).await.unwrap()
}

// L1
#[tokio::test]
async fn a_lease_holds_for_its_length() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    let run = engine.start("each", json!([1, 2])).await;
    for lease in [30, 5] {
        let process = engine.process(Duration::from_secs(lease)).await;
        assert_eq!(engine.worker_in(process, &graph, "each", &[0]).await.claim(1).await.len(), 1);
    }
    for (passed, waiting) in [("3 s", 0), ("2 s", 1), ("22 s", 1), ("3 s", 2)] {
        sqlx::query("update flow.process set lease_until = lease_until - $1::text::interval")
            .bind(passed)
            .execute(engine.pool())
            .await
            .unwrap();
        recover(&engine).await;
        assert_eq!(engine.visible().await, waiting, "after {passed} more");
    }
    let taken = engine.worker(&graph).await.claim(10).await;
    assert!(taken.len() == 2 && taken.iter().all(|claim| claim.attempt == 2), "{taken:?}");
    assert_eq!(engine.tasks(run).await, "m.0=started/2 m.1=started/2");
    engine.check().await;
}

// L1
#[tokio::test]
async fn a_heartbeat_renews_the_lease_of_everything_that_a_process_holds() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let mut worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    engine.run_sql("update flow.process set lease_until = now()").await;
    worker.lease = Duration::from_secs(5);
    assert_eq!(worker.heartbeat(&claims).await, ("ok".to_owned(), vec!["held".to_owned(); 2]));
    recover(&engine).await;
    assert_eq!(engine.visible().await, 0);
    let left: i64 =
        engine.value("select round(extract(epoch from lease_until - now()))::bigint from flow.process").await;
    assert_eq!(left, 5);
    engine.check().await;
}

// L1
#[tokio::test]
async fn a_process_past_its_lease_settles_and_does_not_claim_until_it_renews() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(1).await;
    engine.run_sql("update flow.process set lease_until = now()").await;
    let reply = worker.exchange(10, &[claims[0].complete(1)]).await;
    assert_eq!((reply.state.as_str(), reply.verdicts, reply.claims.len()), ("late", vec!["accepted".to_owned()], 0));
    worker.heartbeat(&[]).await;
    assert_eq!(worker.claim(10).await.len(), 1);
    engine.check().await;
}

// L3
#[tokio::test]
async fn work_is_taken_back_ten_seconds_after_its_timeout_though_its_process_lives() {
    let graph = each().option("timeout_ms", 60_000).option("max_attempts", 2);
    let engine = Engine::with(&graph).await;
    let run = engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    let (first, second) = (claims[0].task, claims[1].task);
    // A shorter timeout that is deployed meanwhile takes nothing from a running handler.
    engine.deploy(&graph.clone().option("timeout_ms", 1000)).await;
    let back = async |seconds: f64| {
        let claimed = "update flow.task set claimed_at = claimed_at - $1 * interval '1 s'";
        sqlx::query(claimed).bind(seconds).execute(engine.pool()).await.unwrap();
    };
    back(69.0).await;
    assert_eq!(worker.heartbeat_with(&claims, None, &[0, 1]).await.1, ["held", "held"]);
    back(2.0).await;
    assert_eq!(
        worker.heartbeat_with(&claims, None, &[0]).await.1,
        ["taken", "held"],
        "only what has no result waiting"
    );
    let tasks = engine.tasks(run).await;
    assert!(
        tasks.contains(&format!("m.{first}=queued/1")) && tasks.contains(&format!("m.{second}=started/1")),
        "{tasks}"
    );
    assert_eq!(worker.settle(&[claims[0].complete(1), claims[1].complete(1)]).await, ["lost", "accepted"]);
    let again = worker.claim_one().await;
    back(11.5).await;
    assert_eq!(
        worker.heartbeat_with(std::slice::from_ref(&again), None, &[0]).await.1,
        ["taken"],
        "claimed under the new one"
    );
    engine.check().await;
}

// L6
#[tokio::test]
async fn a_heartbeat_says_why_work_is_lost() {
    let graph = Graph::new("three").single("a", &[]).map("m", "input", &[]).with("when_exhausted", "skip");
    let engine = Engine::with(&graph).await;
    let worker = engine.worker(&graph).await;
    let run = engine.start("three", json!([1, 2])).await;
    let mut claims = worker.claim(10).await;
    claims.sort_by_key(|claim| claim.step);
    let (a, m) = (&claims[0], &claims[1..]);
    assert_eq!((a.step, m.len()), (0, 2));
    worker.accept(m[0].fail_for_good("no")).await;
    assert_eq!(worker.heartbeat(&[m[0].clone(), m[1].clone(), a.clone()]).await.1, ["taken", "skipped", "held"]);
    engine.cancel(run).await;
    assert_eq!(worker.heartbeat(std::slice::from_ref(a)).await.1, ["cancelled"]);
    assert_eq!(worker.heartbeat(&[a.with_run(Uuid::now_v7())]).await.1, ["gone"]);
    assert_eq!(worker.heartbeat(&[]).await, ("ok".to_owned(), vec![]));
    engine.check().await;
}

// L6
#[tokio::test]
async fn a_process_that_was_ended_has_lost_everything_and_goes_on_under_another_number() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(1).await;
    engine.expire_leases().await;
    let reply = worker.exchange(10, &[claims[0].complete(1)]).await;
    assert_eq!(
        (reply.state.as_str(), reply.verdicts, reply.claims.len()),
        ("process_ended", vec!["lost".to_owned()], 0)
    );
    assert_eq!(worker.heartbeat(&claims).await, ("process_ended".to_owned(), vec!["taken".to_owned()]));
    assert!(!revive(&engine, &worker, 1).await, "what it held is still listed");
    engine.recover().await;
    assert!(revive(&engine, &worker, 1).await);
    assert_eq!(worker.settle(&[claims[0].complete(1)]).await, ["lost"]);
    let taken = worker.claim(10).await;
    assert_eq!(taken.iter().map(|claim| claim.attempt).sum::<i32>(), 3);
    engine.check().await;
}

// L6
#[tokio::test]
async fn an_exchange_for_a_process_that_its_worker_has_left_does_nothing() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    engine.end_leases().await;
    assert!(revive(&engine, &worker, 1).await);
    // It has been on its way since before, so the lock that it takes keeps nobody from ending the present process.
    let late =
        "select e.p_state from flow.exchange($1, $2, 1, 10, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}') e";
    let state: String =
        sqlx::query_scalar(late).bind(worker.process).bind(worker.id).fetch_one(engine.pool()).await.unwrap();
    assert_eq!((state.as_str(), engine.visible().await), ("process_ended", 2));
    assert_eq!(worker.claim(10).await.len(), 2);
    engine.check().await;
}

// L6
#[tokio::test]
async fn a_process_whose_new_number_was_lost_with_a_reply_takes_its_workers_along_to_the_next() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    engine.end_leases().await;
    assert!(revive(&engine, &worker, 1).await);
    assert!(revive(&engine, &worker, 2).await);
    let unrenewed = "update flow.process set lease_until = now() where process_id = $1";
    sqlx::query(unrenewed).bind(worker.process + 1).execute(engine.pool()).await.unwrap();
    recover(&engine).await;
    assert_eq!(worker.claim(10).await.len(), 2);
    engine.check().await;
}

// L7
#[tokio::test]
async fn released_work_is_claimable_at_once_and_keeps_its_attempts() {
    let graph = one_step().option("max_attempts", 1);
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    for _ in 0..5 {
        let worker = engine.worker(&graph).await;
        let claim = worker.claim_one().await;
        assert_eq!((claim.attempt, claim.is_exhausted), (1, false));
        let stranger = engine.worker(&graph).await;
        assert_eq!(stranger.release(std::slice::from_ref(&claim)).await, [false]);
        assert_eq!(worker.release(&[claim.with_batch(0), claim.clone()]).await, [false, true]);
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

// L7
#[tokio::test]
async fn work_that_is_released_twice_in_one_call_gets_one_message() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1])).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    assert_eq!(worker.release(&[claim.clone(), claim]).await, [true, true]);
    assert_eq!(engine.messages().await, 1);
    engine.check().await;
}

// L17
#[tokio::test]
async fn an_exchange_whose_reply_was_lost_is_answered_from_what_it_wrote() {
    let graph = each().option("max_attempts", 1);
    let engine = Engine::with(&graph).await;
    engine.start("each", (0..6).collect::<Vec<_>>()).await;
    let (worker, other) = (engine.worker(&graph).await, engine.worker(&graph).await);
    let held = worker.claim(2).await;
    let mut lost = worker.exchange(2, &[held[0].complete(1)]).await.claims;
    other.claim(1).await;
    let mut reply = worker.repeat(10, &[held[0].complete(1), held[1].complete(1)]).await;
    lost.sort_by_key(|claim| claim.task);
    reply.claims.sort_by_key(|claim| claim.task);
    assert_eq!(reply.claims, lost, "what it handed out, and nothing more");
    assert_eq!(reply.verdicts, ["already_settled", "busy"], "what it did not settle is to be sent again");
    worker.accept(lost[0].complete(1)).await;
    // An exchange that handed nothing out is made anew: nothing is lost with it.
    assert_eq!(worker.repeat(10, &[]).await.claims.len(), 1);
    engine.check().await;
}

// L17
#[tokio::test]
async fn work_that_failed_and_was_claimed_again_is_handed_out_once() {
    let graph = one_step();
    let engine = Engine::with(&graph).await;
    engine.start("one", 1).await;
    let worker = engine.worker(&graph).await;
    let first = worker.claim_one().await;
    let second = worker.exchange(1, &[first.fail("again")]).await.claims;
    assert_eq!(second.iter().map(|claim| claim.attempt).collect::<Vec<_>>(), [2]);
    // It is listed in two rows of the hand, and only one of them is of the exchange that is answered again.
    assert_eq!(engine.hands().await.len(), 2);
    assert_eq!(worker.repeat(1, &[first.fail("again")]).await.claims, second);
    engine.check().await;
}

// L17
#[tokio::test]
async fn a_lost_reply_is_answered_while_nothing_may_be_claimed() {
    let graph = each().option("max_attempts", 1);
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let lost = worker.claim(1).await;
    engine.run_sql("select flow.pause_queue('each', 'for a test')").await;
    let reply = worker.repeat(10, &[]).await;
    assert_eq!((reply.state.as_str(), &reply.claims), ("paused", &lost));
    engine.run_sql("update flow.worker set draining_at = now()").await;
    let reply = worker.repeat(10, &[]).await;
    assert_eq!((reply.state.as_str(), &reply.claims), ("draining", &lost));
    engine.check().await;
}

// L17
#[tokio::test]
async fn what_a_worker_was_handed_and_never_took_over_is_given_back_by_its_heartbeat() {
    let graph = each().option("max_attempts", 1);
    let engine = Engine::with(&graph).await;
    let run = engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let held = worker.claim(1).await;
    worker.claim(1).await;
    let batch = worker.batch.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(worker.heartbeat_with(&held, Some(batch), &[]).await.1, ["held"]);
    assert_eq!(engine.visible().await, 0, "its reply may still come");
    assert_eq!(worker.heartbeat(&held).await.1, ["held"]);
    assert_eq!(engine.visible().await, 1);
    let tasks = engine.tasks(run).await;
    assert!(tasks.contains("queued/0") && tasks.contains("started/1"), "{tasks}");
    engine.check().await;
}

// L17
#[tokio::test]
async fn an_exchange_beside_an_earlier_one_of_its_worker_changes_nothing() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let mut earlier = engine.pool().begin().await.unwrap();
    sqlx::query("select pg_advisory_xact_lock($1)").bind(worker.id).execute(&mut *earlier).await.unwrap();
    let reply = worker.exchange(10, &[]).await;
    assert_eq!((reply.state.as_str(), reply.claims.len()), ("busy", 0));
    earlier.rollback().await.unwrap();
    assert_eq!(worker.claim(10).await.len(), 2);
    engine.check().await;
}

// L21
#[tokio::test]
async fn after_a_goodbye_what_is_listed_is_given_back_without_an_attempt() {
    let graph = each().option("max_attempts", 1);
    let engine = Engine::with(&graph).await;
    let run = engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    worker.claim(2).await;
    sqlx::query("select flow.stop_worker($1)").bind(worker.id).execute(engine.pool()).await.unwrap();
    engine.run_sql("select flow.prune(now() + interval '1 h')").await;
    let rows = "select concat((select count(*) from flow.worker), ' ', (select count(*) from flow.process))";
    assert_eq!(engine.words(rows).await, "1 1", "a hand names them");
    engine.recover().await;
    assert_eq!(engine.tasks(run).await, "m.0=queued/0 m.1=queued/0");
    assert_eq!(engine.value::<i64>("select count(*) from flow.attempt_error").await, 0);
    engine
        .run_sql("select flow.stop_process(process_id) from flow.process; select flow.prune(now() + interval '1 h')")
        .await;
    assert_eq!(engine.words(rows).await, "0 0");
    engine.check().await;
}

// L22
#[tokio::test]
async fn one_locked_run_stops_neither_the_heartbeat_nor_the_recovery_nor_the_results_of_others() {
    let graph = one_step();
    let engine = Engine::with_connections(4).await;
    engine.deploy(&graph).await;
    let runs = [engine.start("one", 1).await, engine.start("one", 2).await, engine.start("one", 3).await];
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(3).await;
    let of = |run: usize| claims.iter().find(|claim| claim.run == runs[run]).unwrap();
    let mut locked = engine.pool().begin().await.unwrap();
    sqlx::query("select from flow.run r where r.run_id = $1 for update")
        .bind(runs[0])
        .execute(&mut *locked)
        .await
        .unwrap();
    assert_eq!(worker.settle(&[of(0).complete(1), of(1).complete(1)]).await, ["busy", "accepted"]);
    assert_eq!(worker.heartbeat(&[of(0).clone(), of(2).clone()]).await.1, ["held", "held"]);
    engine.end_leases().await;
    assert_eq!(engine.tasks(runs[2]).await, "a.0=queued/0");
    assert_eq!(engine.tasks(runs[0]).await, "a.0=started/1", "what is locked stays listed");
    assert_eq!(engine.hands().await.len(), 1);
    locked.rollback().await.unwrap();
    engine.recover().await;
    assert_eq!(engine.tasks(runs[0]).await, "a.0=queued/0", "lost in company, whoever comes last");
    assert_eq!(engine.hands().await, vec![]);
    engine.check().await;
}

// B19
#[tokio::test]
async fn the_rows_of_a_hand_stay_few_beside_work_that_takes_long() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.start("each", (0..200).collect::<Vec<_>>()).await;
    let worker = engine.worker(&graph).await;
    let long = worker.claim(1).await.remove(0);
    let (mut settle, mut finished) = (Vec::new(), Vec::new());
    for batch in long.batch + 1..long.batch + 150 {
        let reply = worker.exchange_as(batch, 1, &settle, &finished).await.unwrap();
        assert!(reply.verdicts.iter().all(|verdict| verdict == "accepted"));
        settle = reply.claims.iter().map(|claim| claim.complete(1)).collect();
        // Never the batch of the long one: that is not answered for.
        finished = if batch % 3 == 0 && batch - 1 > long.batch { vec![batch - 1] } else { vec![] };
        assert!(engine.hands().await.len() < 10, "after {batch} exchanges");
    }
    engine.check().await;
    let last = worker.exchange_as(long.batch + 1000, 0, &[long.complete(1)], &[]).await.unwrap();
    assert_eq!(last.verdicts, ["accepted"]);
}

// Q12
#[tokio::test]
async fn a_second_message_of_held_work_is_removed_and_uses_no_attempt() {
    let graph = one_step();
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    engine.run_sql("select test.write_message('one', t.run_id, 0, -1) from flow.tasks t").await;
    let other = engine.worker(&graph).await;
    assert_eq!(other.claim(10).await, []);
    assert_eq!(engine.messages().await, 0);
    assert_eq!(engine.tasks(run).await, "a.0=started/1");
    worker.accept(claim.complete(1)).await;
    engine.check().await;
}

// Q13
#[tokio::test]
async fn work_of_a_process_past_its_lease_is_handed_out_again() {
    let graph = one_step();
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    let first = engine.worker(&graph).await;
    first.claim_one().await;
    let before: String = engine.value("select t.claimed_at::text from flow.tasks t").await;
    engine.end_leases().await;
    assert_eq!(engine.tasks(run).await, "a.0=queued/1");
    let second = engine.worker(&graph).await;
    let taken = second.claim_one().await;
    assert_eq!((taken.attempt, taken.is_exhausted), (2, false));
    let row = "select concat_ws(' ', t.status, t.worker_id) from flow.tasks t";
    assert_eq!(engine.words(row).await, format!("started {}", second.id));
    assert_ne!(engine.value::<String>("select t.claimed_at::text from flow.tasks t").await, before);
    second.accept(taken.complete(1)).await;
    assert_eq!(engine.tasks(run).await, "a.0=completed/2");
    engine.check().await;
}

// Q14 L5
#[tokio::test]
async fn the_recovery_itself_fails_work_without_attempts_left() {
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
        let engine = Engine::with(&graph).await;
        let run = engine.start(graph.slug(), 1).await;
        for attempt in 1..=2 {
            let worker = engine.worker(&graph).await;
            assert_eq!(worker.claim_one().await.attempt, attempt);
            engine.end_leases().await;
        }
        assert_eq!((engine.steps(run).await.as_str(), &engine.run(run).await["status"]), (step, &json!(status)));
        assert_eq!(engine.step(run, "a").await["error"], "the lease ended before the attempt was settled");
        let history = "select concat(e.attempt, '/', e.cause) from flow.attempt_error e order by e.attempt";
        assert_eq!(engine.words(history).await, "1/lease_expired 2/lease_expired");
        engine.check().await;
    }
}

// Q15
#[tokio::test]
async fn messages_of_ended_tasks_are_removed_without_an_error() {
    let graph = each().with("when_exhausted", "skip");
    let engine = Engine::with(&graph).await;
    let worker = engine.worker(&graph).await;
    // One task of each end: completed, failed with a skipped sibling, cancelled.
    let skipped = engine.start("each", json!([1, 2, 3])).await;
    let claims = worker.claim(2).await;
    worker.accept(claims[0].complete(1)).await;
    worker.accept(claims[1].fail_for_good("no")).await;
    let cancelled = engine.start("each", json!([1])).await;
    engine.cancel(cancelled).await;
    let ends = "select distinct t.status::text from flow.tasks t order by 1";
    assert_eq!(engine.words(ends).await, "cancelled completed failed skipped");

    let before = (engine.tasks(skipped).await, engine.tasks(cancelled).await);
    for _ in 0..2 {
        engine
            .run_sql("select test.write_message('each', t.run_id, t.step_index, t.task_index) from flow.task t")
            .await;
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
async fn messages_of_locked_work_keep_none_behind_them_waiting() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    let run = engine.start("each", (0..25).collect::<Vec<_>>()).await;
    let worker = engine.worker(&graph).await;
    let mut locked = engine.pool().begin().await.unwrap();
    sqlx::query("select from flow.task t where t.task_index < 20 for update").execute(&mut *locked).await.unwrap();
    let one = worker.claim(1).await.remove(0);
    assert!(one.task >= 20, "one slot is filled from behind the locked: {}", one.task);
    assert_eq!(worker.claim(3).await.len(), 3);
    assert_eq!(worker.claim(10).await.len(), 1);
    assert_eq!(worker.claim(10).await, []);
    assert_eq!((engine.messages().await, engine.visible().await), (20, 20));
    locked.rollback().await.unwrap();
    assert_eq!(worker.claim(30).await.len(), 20);
    assert_eq!(engine.task_counts(run, "m").await, "25 started");
    engine.check().await;
}

// Q26
#[tokio::test]
async fn a_message_whose_work_is_locked_is_passed_over() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    let run = engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let mut locked = engine.pool().begin().await.unwrap();
    sqlx::query("select from flow.task t where t.task_index = 0 for update").execute(&mut *locked).await.unwrap();
    let reply = worker.exchange(10, &[]).await;
    assert_eq!((reply.state.as_str(), reply.claims.len()), ("ok", 1));
    assert_eq!(engine.tasks(run).await, "m.0=queued/0 m.1=started/1");
    assert_eq!((engine.messages().await, engine.visible().await), (1, 1));
    locked.rollback().await.unwrap();
    assert_eq!(worker.claim_one().await.attempt, 1);
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
            of(0).with_batch(7).complete(1),
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
    assert_eq!(engine.messages().await, 2);
    engine.check().await;
}
