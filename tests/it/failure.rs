//! Failure: when an attempt is retried, how long that waits, and what follows when no attempt is left.

use std::time::Duration;

use flow_tests::support::{Claim, Engine, Graph, Hand};
use serde_json::{Value, json};
use uuid::Uuid;

fn one_step() -> Graph {
    Graph::new("one").single("a", &[])
}

/// A step that fails for good, as `mode` says, before `b`, `c` behind `b`, and `d` beside them.
fn before_two(mode: &str) -> Graph {
    Graph::new("before")
        .single("a", &[])
        .with("when_exhausted", mode)
        .single("b", &["a"])
        .single("c", &["b"])
        .single("d", &[])
}

/// Fails the task of step `step` for good; the others that were claimed with it stay started.
async fn break_step(worker: &Hand<'_>, step: i32) -> Vec<Claim> {
    let mut claims = worker.claim(20).await;
    let at = claims.iter().position(|claim| claim.step == step).unwrap();
    worker.accept(claims.remove(at).fail_for_good("broken")).await;
    claims
}

/// How long the message of the only task stays hidden, from its task's failure, in milliseconds.
async fn hidden_ms(engine: &Engine, attempt: i32) -> i64 {
    let query =
        "select (extract(epoch from coalesce((select m.due_at from test.messages() m), e.at) - e.at) * 1000)::bigint
                 from flow.attempt_error e where e.attempt = $1";
    sqlx::query_scalar(query).bind(attempt).fetch_one(engine.pool()).await.unwrap()
}

async fn ended_at(engine: &Engine, run: Uuid, step: &str) -> Value {
    engine.step(run, step).await["ended_at"].clone()
}

// F1
#[tokio::test]
async fn a_failure_with_attempts_left_queues_the_task_again() {
    let graph = one_step();
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.fail("boom")).await;
    assert_eq!(engine.tasks(run).await, "a.0=queued/1");
    let cleared = "select t.worker_id is null and t.claimed_at is null and t.batch is null from flow.tasks t";
    assert!(engine.value::<bool>(cleared).await);
    assert_eq!(
        engine.words("select concat_ws('/', e.attempt, e.cause, e.error) from flow.attempt_error e").await,
        "1/error/boom"
    );
    assert!((1000..=1100).contains(&hidden_ms(&engine, 1).await));
    assert_eq!(worker.claim(10).await, []);
    engine.check().await;
}

// F2 F3
#[tokio::test]
async fn delays_double_up_to_the_longest() {
    let graph = one_step().option("max_attempts", 20);
    let engine = Engine::with(&graph).await;
    engine.start("one", 1).await;
    let worker = engine.worker(&graph).await;
    for (attempt, delay) in (1..).zip([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]) {
        let claim = worker.claim_one().await;
        worker.accept(claim.fail("boom")).await;
        let hidden = hidden_ms(&engine, attempt).await;
        assert!((delay * 1000..=delay * 1100).contains(&hidden), "attempt {attempt}: {hidden} ms");
        engine.pass_time().await;
    }
    engine.check().await;
}

// F2
#[tokio::test]
async fn a_base_delay_of_zero_never_waits() {
    let graph = one_step().option("max_attempts", 20).option("base_delay_ms", 0);
    let engine = Engine::with(&graph).await;
    engine.start("one", 1).await;
    let worker = engine.worker(&graph).await;
    for attempt in 1..=11 {
        let claim = worker.claim_one().await;
        assert_eq!(claim.attempt, attempt);
        worker.accept(claim.fail("boom")).await;
        assert_eq!(hidden_ms(&engine, attempt).await, 0);
    }
    engine.check().await;
}

// F3
#[tokio::test]
async fn tasks_that_fail_together_do_not_come_back_together() {
    let graph = Graph::new("each").map("one", "input", &[]).option("base_delay_ms", 15).option("max_delay_ms", 15);
    let engine = Engine::with(&graph).await;
    engine.start("each", vec![0; 100]).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(100).await;
    worker.settle(&claims.iter().map(|claim| claim.fail("all")).collect::<Vec<_>>()).await;
    let delays: Vec<f64> = sqlx::query_scalar(
        "select (extract(epoch from m.due_at - (select e.at from flow.attempt_error e limit 1)) * 1000)::float8 from test.messages() m",
    )
    .fetch_all(engine.pool())
    .await
    .unwrap();
    assert!(delays.iter().all(|delay| (15.0..=16.5).contains(delay)), "{delays:?}");
    assert!(delays.iter().any(|delay| *delay != delays[0]), "all {} ms", delays[0]);
    engine.check().await;
}

// F4
#[tokio::test]
async fn a_steps_max_attempts_overrides_the_flows() {
    for (of_flow, of_step, expected) in [(2, None, 2), (5, Some(2), 2), (2, Some(5), 5)] {
        let mut graph = one_step().option("max_attempts", of_flow).option("base_delay_ms", 0);
        if let Some(of_step) = of_step {
            graph = graph.step_option("max_attempts", of_step);
        }
        let engine = Engine::with(&graph).await;
        let run = engine.start("one", 1).await;
        let worker = engine.worker(&graph).await;
        for attempt in 1..=expected {
            let claim = worker.claim_one().await;
            worker.accept(claim.fail("boom")).await;
            let status = if attempt < expected { "queued" } else { "failed" };
            assert_eq!(engine.tasks(run).await, format!("a.0={status}/{attempt}"));
        }
        assert_eq!(engine.run(run).await["status"], "failed");
    }
}

// F5
#[tokio::test]
async fn a_permanent_error_ends_the_task_at_once() {
    for (mode, step, run_status) in [("fail", "failed", "failed"), ("skip", "skipped:handler_failed", "completed")] {
        let graph = one_step().option("max_attempts", 5).with("when_exhausted", mode);
        let engine = Engine::with(&graph).await;
        let run = engine.start("one", 1).await;
        break_step(&engine.worker(&graph).await, 0).await;
        assert_eq!(engine.tasks(run).await, "a.0=failed/1");
        assert_eq!(engine.steps(run).await, format!("a={step}"));
        assert_eq!(engine.run(run).await["status"], run_status);
    }
}

// F6
#[tokio::test]
async fn a_chosen_delay_replaces_the_steps_own() {
    let graph = one_step().option("max_attempts", 2).option("base_delay_ms", 100).option("max_delay_ms", 200);
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.fail_for("later", Duration::from_secs(7))).await;
    assert_eq!(hidden_ms(&engine, 1).await, 7000);
    engine.pass_time().await;
    let last = worker.claim_one().await;
    worker.accept(last.fail_for("too late", Duration::from_secs(7))).await;
    assert_eq!(engine.steps(run).await, "a=failed");
    assert_eq!(engine.messages().await, 0);
    engine.check().await;
}

// F11
#[tokio::test]
async fn a_start_delay_is_not_applied_again_on_retry() {
    let graph = one_step().step_option("start_delay_ms", 3000);
    let engine = Engine::with(&graph).await;
    engine.start("one", 1).await;
    let visible_after =
        "select (extract(epoch from m.due_at - t.queued_at) * 1000)::bigint from test.messages() m, flow.tasks t";
    assert_eq!(engine.value::<i64>(visible_after).await, 3000);
    engine.pass_time().await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.fail("boom")).await;
    assert!((1000..=1100).contains(&hidden_ms(&engine, 1).await));
    engine.check().await;
}

// F12 F13
#[tokio::test]
async fn a_failed_step_fails_its_run_and_cancels_the_rest() {
    let graph = Graph::new("wide")
        .single("done", &[])
        .single("skipped", &[])
        .with("run_if", json!({"never": true}))
        .single("broken", &[])
        .map("m", "input", &[])
        .single("held", &[])
        .single("later", &["m"])
        .step_queues();
    let engine = Engine::with(&graph).await;
    let run = engine.start("wide", json!([1, 2])).await;
    let other = engine.start("wide", json!([1, 2])).await;
    for (queue, step) in [("wide__done", 0), ("wide__held", 4), ("wide__broken", 2)] {
        let worker = engine.worker_of(&graph, queue, &[step]).await;
        let claim = worker.claim(10).await.into_iter().find(|claim| claim.run == run).unwrap();
        match step {
            0 => worker.accept(claim.complete(1)).await,
            2 => worker.accept(claim.fail_for_good("the cause")).await,
            _ => {}
        }
    }
    assert_eq!(
        engine.steps(run).await,
        "done=completed skipped=skipped:condition_unmet broken=failed m=cancelled held=cancelled later=cancelled"
    );
    assert_eq!(
        engine.tasks(run).await,
        "done.0=completed/1 broken.0=failed/1 m.0=cancelled/0 m.1=cancelled/0 held.0=cancelled/1"
    );
    let row = engine.run(run).await;
    assert_eq!((&row["error"], &row["error_step"]), (&json!("the cause"), &json!("broken")));
    assert_eq!(engine.step(run, "broken").await["error"], "the cause");
    let owners = "select distinct m.run_id::text from test.messages() m";
    assert_eq!(engine.words(owners).await, other.to_string());
    assert_eq!(engine.messages().await, 2);
    engine.check().await;
}

// F12
#[tokio::test]
async fn steps_that_fail_in_one_call_are_all_failed_and_the_lowest_is_the_runs() {
    let graph = Graph::new("both").single("a", &[]).single("b", &[]).single("c", &[]).with("when_exhausted", "skip");
    let engine = Engine::with(&graph).await;
    let run = engine.start("both", 1).await;
    let worker = engine.worker(&graph).await;
    let mut claims = worker.claim(3).await;
    claims.sort_by_key(|claim| -claim.step);
    let settlements: Vec<_> = claims.iter().map(|claim| claim.fail_for_good(&format!("step {}", claim.step))).collect();
    assert_eq!(worker.settle(&settlements).await, ["accepted"; 3]);
    assert_eq!(engine.steps(run).await, "a=failed b=failed c=cancelled");
    assert_eq!(engine.tasks(run).await, "a.0=failed/1 b.0=failed/1 c.0=cancelled/1");
    let row = engine.run(run).await;
    assert_eq!((&row["error"], &row["error_step"]), (&json!("step 0"), &json!("a")));
    assert_eq!(engine.step(run, "b").await["error"], "step 1");
    assert_eq!(engine.value::<i64>("select count(*) from flow.attempt_error").await, 3);
    engine.check().await;
}

// F14
#[tokio::test]
async fn a_skipped_failure_lets_the_run_go_on() {
    let graph = before_two("skip");
    let engine = Engine::with(&graph).await;
    let run = engine.start("before", 1).await;
    let worker = engine.worker(&graph).await;
    break_step(&worker, 0).await;
    assert_eq!(engine.steps(run).await, "a=skipped:handler_failed b=started c=created d=started");
    assert_eq!(engine.step(run, "a").await["error"], "broken");
    assert!(ended_at(&engine, run, "a").await.is_string());
    assert_eq!(engine.run(run).await["remaining_steps"], 3);
    assert_eq!(worker.claim_one().await.dep(0), None);
    engine.check().await;
}

// F15 F16
#[tokio::test]
async fn a_skipped_map_ends_its_live_tasks_and_takes_no_late_news() {
    let graph = Graph::new("mapped")
        .option("base_delay_ms", 600_000)
        .option("max_delay_ms", 600_000)
        .map("m", "input", &[])
        .with("when_exhausted", "skip")
        .single("last", &["m"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("mapped", json!([0, 1, 2, 3, 4])).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(4).await;
    worker.accept(claims[0].complete(0)).await;
    worker.accept(claims[3].fail("comes back later")).await;
    worker.accept(claims[1].fail_for_good("broken")).await;
    assert_eq!(engine.steps(run).await, "m=skipped:handler_failed last=started");
    assert_eq!(engine.task_counts(run, "m").await, "1 completed, 1 failed, 3 skipped");
    assert_eq!(engine.step(run, "m").await["output"], Value::Null);
    assert_eq!(engine.messages().await, 1);

    let before = (engine.run(run).await, engine.tasks(run).await, engine.steps(run).await);
    assert_eq!(worker.settle(&[claims[2].complete(2)]).await, ["lost"]);
    assert_eq!(worker.settle(&[claims[2].fail_for_good("me too")]).await, ["lost"]);
    assert_eq!((engine.run(run).await, engine.tasks(run).await, engine.steps(run).await), before);
    assert_eq!(engine.messages().await, 1);
    engine.check().await;
}

// F16
#[tokio::test]
async fn siblings_that_fail_in_one_call_skip_their_step_once() {
    let graph = Graph::new("mapped").map("m", "input", &[]).with("when_exhausted", "skip").single("last", &["m"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("mapped", json!([0, 1, 2, 3])).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(4).await;
    let settlements = [
        claims[2].fail_for_good("two"),
        claims[0].complete(0),
        claims[1].fail_for_good("one"),
        claims[3].fail("again"),
    ];
    assert_eq!(worker.settle(&settlements).await, ["accepted"; 4]);
    assert_eq!(engine.steps(run).await, "m=skipped:handler_failed last=started");
    assert_eq!(engine.step(run, "m").await["error"], "one");
    assert_eq!(engine.task_counts(run, "m").await, "1 completed, 2 failed, 1 skipped");
    assert_eq!(engine.run(run).await["remaining_steps"], 1);
    assert_eq!(engine.messages().await, 1);
    engine.check().await;
}

// F17
#[tokio::test]
async fn a_skip_counts_as_an_end_for_the_dependents() {
    let graph =
        Graph::new("diamond").single("a", &[]).with("when_exhausted", "skip").single("b", &["a"]).single("c", &["a"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("diamond", 1).await;
    break_step(&engine.worker(&graph).await, 0).await;
    assert_eq!(engine.steps(run).await, "a=skipped:handler_failed b=started c=started");

    let graph =
        Graph::new("join").single("a", &[]).with("when_exhausted", "skip").single("b", &[]).single("c", &["a", "b"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("join", 1).await;
    assert_eq!(engine.step(run, "c").await["remaining_deps"], 2);
    let worker = engine.worker(&graph).await;
    let left = break_step(&worker, 0).await;
    assert_eq!(engine.step(run, "c").await["remaining_deps"], 1);
    worker.accept(left[0].complete("b")).await;
    let last = worker.claim_one().await;
    assert_eq!((last.step, last.dep(0), last.dep(1)), (2, None, Some(&json!("b"))));

    let graph = one_step().with("when_exhausted", "skip");
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    break_step(&engine.worker(&graph).await, 0).await;
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({})));
    engine.check().await;
}

// F18
#[tokio::test]
async fn a_condition_behind_a_skipped_failure_is_tested() {
    for (when_unmet, steps, status) in [
        ("skip", "a=skipped:handler_failed b=skipped:condition_unmet", "completed"),
        ("fail", "a=skipped:handler_failed b=failed", "failed"),
    ] {
        let graph = Graph::new("then")
            .single("a", &[])
            .with("when_exhausted", "skip")
            .single("b", &["a"])
            .with("run_if", json!({"a": 1}))
            .with("when_unmet", when_unmet);
        let engine = Engine::with(&graph).await;
        let run = engine.start("then", 1).await;
        break_step(&engine.worker(&graph).await, 0).await;
        assert_eq!(engine.steps(run).await, steps);
        assert_eq!(engine.run(run).await["status"], status);
        assert_eq!(engine.messages().await, 0);
    }
}

// F19
#[tokio::test]
async fn a_cascade_skips_everything_behind_the_failure() {
    let graph = before_two("skip_cascade");
    let engine = Engine::with(&graph).await;
    let run = engine.start("before", 1).await;
    let worker = engine.worker(&graph).await;
    let left = break_step(&worker, 0).await;
    assert_eq!(
        engine.steps(run).await,
        "a=skipped:handler_failed b=skipped:dependency_skipped c=skipped:dependency_skipped d=started"
    );
    assert_eq!(engine.run(run).await["remaining_steps"], 1);
    worker.accept(left[0].complete("d")).await;
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({"d": "d"})));
    engine.check().await;
}

// F20
#[tokio::test]
async fn a_skip_comes_after_all_attempts() {
    let graph = one_step().with("when_exhausted", "skip").option("max_attempts", 3).option("base_delay_ms", 0);
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    let worker = engine.worker(&graph).await;
    for attempt in 1..=3 {
        assert_eq!(engine.steps(run).await, "a=started");
        let claim = worker.claim_one().await;
        assert_eq!(claim.attempt, attempt);
        worker.accept(claim.fail("boom")).await;
    }
    assert_eq!(engine.steps(run).await, "a=skipped:handler_failed");

    let run = engine.start("one", 1).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.complete(7)).await;
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({"a": 7})));
    engine.check().await;
}

// P3
#[tokio::test]
async fn options_lowered_while_a_task_waits_end_it_with_its_last_error() {
    let graph = one_step().option("max_attempts", 5).option("base_delay_ms", 0);
    let engine = Engine::with(&graph).await;
    let run = engine.start("one", 1).await;
    let worker = engine.worker(&graph).await;
    for _ in 0..3 {
        let claim = worker.claim_one().await;
        worker.accept(claim.fail("boom")).await;
    }
    engine.deploy(&graph.clone().option("max_attempts", 2)).await;
    let claim = worker.claim_one().await;
    assert_eq!((claim.attempt, claim.is_exhausted), (3, true));
    worker.accept(claim.ended("lease_expired", Some("no attempt is left"))).await;
    let row = engine.run(run).await;
    assert_eq!((&row["status"], &row["error"]), (&json!("failed"), &json!("boom")));
    assert_eq!(engine.value::<i64>("select count(*) from flow.attempt_error").await, 3);
}
