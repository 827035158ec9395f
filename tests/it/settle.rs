//! Settling: fences, receipts, and what follows from an end.

use std::sync::Arc;

use flow_tests::support::{Engine, Graph};
use serde_json::{Value, json};

fn chain() -> Graph {
    Graph::new("chain").single("a", &[]).single("b", &["a"]).single("c", &["b"])
}

fn pair() -> Graph {
    Graph::new("pair").single("a", &[]).single("b", &[])
}

// S1
#[tokio::test]
async fn completing_a_task_stores_its_output_and_starts_the_dependents() {
    let engine = Engine::new().await;
    let graph = Graph::new("fan").single("a", &[]).single("b", &["a"]).single("c", &["a"]);
    engine.deploy(&graph).await;
    let run = engine.start("fan", 1).await;
    let other = engine.start("fan", 2).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim(10).await.into_iter().find(|claim| claim.run == run).unwrap();
    worker.accept(claim.complete(json!({"n": 1}))).await;
    assert_eq!(engine.steps(run).await, "a=completed b=started c=started");
    assert_eq!(engine.step(run, "a").await["output"], json!({"n": 1}));
    assert_eq!(
        engine.words("select coalesce(t.output::text, 'none') from flow.tasks t where t.status = 'completed'").await,
        "none"
    );
    assert_eq!(engine.tasks(run).await, "a.0=completed/1 b.0=queued/0 c.0=queued/0");
    assert_eq!(engine.tasks(other).await, "a.0=started/1");
    assert_eq!(engine.messages().await, 2);
}

// S2 W1
#[tokio::test]
async fn a_chain_counts_down_to_completed() {
    let engine = Engine::new().await;
    let graph = chain();
    engine.deploy(&graph).await;
    let run = engine.start("chain", 1).await;
    let worker = engine.worker(&graph).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let row = engine.run(run).await;
        seen.push((row["remaining_steps"].clone(), row["status"].clone()));
        let claim = worker.claim_one().await;
        worker.accept(claim.complete(claim.step)).await;
    }
    assert_eq!(seen, [(json!(3), json!("started")), (json!(2), json!("started")), (json!(1), json!("started"))]);
    let row = engine.run(run).await;
    assert_eq!(
        (&row["remaining_steps"], &row["status"], &row["output"]),
        (&json!(0), &json!("completed"), &json!({"c": 2}))
    );
    assert_eq!(engine.messages().await, 0);
}

// S3
#[tokio::test]
async fn settling_a_queued_task_is_lost() {
    let engine = Engine::new().await;
    let graph = pair();
    engine.deploy(&graph).await;
    let run = engine.start("pair", 1).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    worker.release(&claims).await;
    let claimer = engine.worker(&graph).await;
    let before: String = engine.words("select m::text from test.messages() m where m.queue = 'pair' order by m").await;
    for settle in [claims[0].complete(1), claims[0].fail("x"), claims[0].with_batch(0).complete(1)] {
        assert_eq!(claimer.settle(&[settle]).await, ["lost"]);
    }
    assert_eq!(engine.tasks(run).await, "a.0=queued/0 b.0=queued/0");
    assert_eq!(engine.words("select m::text from test.messages() m where m.queue = 'pair' order by m").await, before);
}

// S4
#[tokio::test]
async fn a_second_settlement_of_one_attempt_is_already_settled() {
    let engine = Engine::new().await;
    let graph = Graph::new("again").option("base_delay_ms", 0).single("a", &[]).single("b", &[]);
    engine.deploy(&graph).await;
    let run = engine.start("again", 1).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    let (a, b) = (&claims[0], &claims[1]);
    // In one batch, then in later calls, whichever comes second.
    let batch = [a.complete(1), a.fail("late"), a.complete(3)];
    assert_eq!(worker.settle(&batch).await, ["accepted", "already_settled", "already_settled"]);
    assert_eq!(worker.settle(&[a.fail("later"), a.complete(2)]).await, ["already_settled", "already_settled"]);
    assert_eq!(engine.step(run, "a").await["output"], json!(1));

    // A failure that queued the task again leaves its receipt in the history.
    assert_eq!(worker.settle(&[b.fail("first"), b.complete(1)]).await, ["accepted", "already_settled"]);
    assert_eq!(worker.settle(&[b.complete(2)]).await, ["already_settled"]);
    assert_eq!(engine.words("select e.error from flow.attempt_error e").await, "first");
    let second = worker.claim_one().await;
    assert_eq!(worker.settle(&[b.complete(2)]).await, ["already_settled"]);

    // Also under an ended run.
    worker.accept(second.fail_for_good("for good")).await;
    assert_eq!(engine.run(run).await["status"], "failed");
    assert_eq!(worker.settle(&[a.complete(1), b.fail("first"), second.complete(3)]).await, ["already_settled"; 3]);
    assert_eq!(engine.run(run).await["error"], "for good");
}

// S4 L6
#[tokio::test]
async fn an_attempt_that_was_taken_over_has_no_receipt() {
    let engine = Engine::new().await;
    let graph = pair();
    engine.deploy(&graph).await;
    engine.start("pair", 1).await;
    let (old, new) = (engine.worker(&graph).await, engine.worker(&graph).await);
    let claims = old.claim(1).await;
    engine.pass_time().await;
    let taken = new.claim(2).await.into_iter().find(|claim| claim.step == claims[0].step).unwrap();
    assert_eq!(taken.attempt, 2);
    assert_eq!(old.settle(&[claims[0].complete(1), claims[0].fail("x")]).await, ["lost", "lost"]);
    assert_eq!(old.heartbeat(&claims).await.1, ["taken"]);
    new.accept(taken.complete(2)).await;
    assert_eq!(old.settle(&[claims[0].complete(1)]).await, ["lost"]);
}

// S5
#[tokio::test]
async fn a_settlement_of_an_earlier_attempt_is_lost() {
    let engine = Engine::new().await;
    let graph = Graph::new("old").option("max_attempts", 2).option("base_delay_ms", 0).single("a", &[]);
    engine.deploy(&graph).await;
    let run = engine.start("old", 1).await;
    let (first, second) = (engine.worker(&graph).await, engine.worker(&graph).await);
    let one = first.claim_one().await;
    first.accept(one.fail("boom")).await;
    let two = second.claim_one().await;
    assert_eq!(two.attempt, 2);
    assert_eq!(second.settle(&[one.complete(1), one.fail("x")]).await, ["lost", "lost"]);
    assert_eq!(engine.tasks(run).await, "a.0=started/2");
    second.accept(two.complete(2)).await;
    assert_eq!(engine.run(run).await["output"], json!({"a": 2}));
}

// S6
#[tokio::test]
async fn another_workers_settlement_is_lost() {
    let engine = Engine::new().await;
    let graph = pair();
    engine.deploy(&graph).await;
    let run = engine.start("pair", 1).await;
    let (owner, stranger) = (engine.worker(&graph).await, engine.worker(&graph).await);
    let claims = owner.claim(1).await;
    assert_eq!(stranger.settle(&[claims[0].complete(1), claims[0].fail("x")]).await, ["lost", "lost"]);
    assert_eq!(stranger.release(&claims).await, [false]);
    assert_eq!(engine.tasks(run).await, "a.0=started/1 b.0=queued/0");
    owner.accept(claims[0].complete(1)).await;
}

// S7
#[tokio::test]
async fn settlements_under_ended_runs_and_skipped_steps_are_lost() {
    let engine = Engine::new().await;
    let graph = Graph::new("ends").map("m", "input", &[]).with("when_exhausted", "skip").single("s", &[]);
    engine.deploy(&graph).await;
    let worker = engine.worker(&graph).await;
    let run = engine.start("ends", json!([1, 2, 3])).await;
    let mut claims = worker.claim(10).await;
    claims.sort_by_key(|claim| claim.step);
    worker.accept(claims[0].fail_for_good("no")).await;
    assert_eq!(engine.steps(run).await, "m=skipped:handler_failed s=started");
    let before = engine.run(run).await;
    assert_eq!(worker.settle(&[claims[1].complete(1), claims[2].fail("x")]).await, ["lost", "lost"]);
    assert_eq!(engine.run(run).await, before);

    sqlx::query("select flow.cancel_run($1)").bind(run).execute(engine.pool()).await.unwrap();
    let before = (engine.run(run).await, engine.tasks(run).await);
    assert_eq!(worker.settle(&[claims[3].complete(1)]).await, ["lost"]);
    assert_eq!((engine.run(run).await, engine.tasks(run).await), before);
}

// S8
#[tokio::test]
async fn a_batch_with_stale_settlements_accepts_the_others_in_order() {
    let engine = Engine::new().await;
    let graph = Graph::new("each").map("one", "input", &[]);
    engine.deploy(&graph).await;
    engine.start("each", (0..10).collect::<Vec<_>>()).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(10).await;
    let stale = [1, 4, 8];
    let settle: Vec<_> = claims
        .iter()
        .enumerate()
        .map(|(at, claim)| if stale.contains(&at) { claim.with_batch(7) } else { claim.clone() }.complete(1))
        .rev()
        .collect();
    let expected: Vec<_> = (0..10).rev().map(|at| if stale.contains(&at) { "lost" } else { "accepted" }).collect();
    assert_eq!(worker.settle(&settle).await, expected);
}

// S9
#[tokio::test]
async fn completions_take_effect_before_failures() {
    let engine = Engine::new().await;
    let graph = pair();
    engine.deploy(&graph).await;
    let run = engine.start("pair", 1).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    let verdicts = worker.settle(&[claims[0].fail_for_good("no"), claims[1].complete(1)]).await;
    assert_eq!(verdicts, ["accepted", "accepted"]);
    assert_eq!(engine.run(run).await["status"], "failed");
    assert_eq!(engine.steps(run).await, "a=failed b=completed");
}

// S10
#[tokio::test]
async fn falsy_outputs_are_stored_and_delivered() {
    let engine = Engine::new().await;
    let graph = Graph::new("two").single("a", &[]).single("b", &["a"]);
    engine.deploy(&graph).await;
    let worker = engine.worker(&graph).await;
    for output in [json!(false), json!(0), json!(""), json!(null), json!([]), json!({})] {
        let run = engine.start("two", 1).await;
        let claim = worker.claim_one().await;
        let reply = worker.exchange(1, &[claim.complete(output.clone())]).await;
        assert_eq!(reply.claims[0].dep(0), Some(&output));
        worker.accept(reply.claims[0].complete(output.clone())).await;
        assert_eq!(engine.run(run).await["output"], json!({"b": output}));
    }
}

// S11
#[tokio::test]
async fn a_runs_output_is_its_completed_leaves() {
    let engine = Engine::new().await;
    let never = json!({"never": true});
    let graph = Graph::new("leaves")
        .single("a", &[])
        .single("before", &[])
        .single("leaf", &["a"])
        .with("after", json!(["before"]))
        .single("other", &[])
        .single("skipped", &[])
        .with("run_if", never.clone());
    engine.deploy(&graph).await;
    let run = engine.start("leaves", 1).await;
    let worker = engine.worker(&graph).await;
    worker.complete_all(|claim| json!(claim.step)).await;
    assert_eq!(engine.run(run).await["output"], json!({"leaf": 2, "other": 3}));

    let all = Graph::new("none").single("only", &[]).with("run_if", never);
    engine.deploy(&all).await;
    let run = engine.start("none", 1).await;
    let row = engine.run(run).await;
    assert_eq!((&row["status"], &row["output"]), (&json!("completed"), &json!({})));
}

// S12
#[tokio::test]
async fn times_are_set_when_they_happen_and_in_order() {
    let engine = Engine::new().await;
    let graph = chain();
    engine.deploy(&graph).await;
    engine.start("chain", 1).await;
    engine.worker(&graph).await.complete_all(|_| json!(1)).await;
    engine.start("chain", 1).await;
    let wrong = engine
        .words(
            "select 'task' from flow.tasks t where (t.ended_at is null) <> (t.status in ('queued', 'started'))
                or t.claimed_at < t.queued_at or t.ended_at < t.claimed_at
             union all
             select 'step' from flow.steps s where (s.ended_at is null) <> (s.status in ('created', 'started'))
                or s.started_at < s.created_at or s.ended_at < s.started_at
             union all
             select 'run' from flow.runs r where (r.ended_at is null) <> (r.status = 'started') or r.ended_at < r.started_at",
        )
        .await;
    assert_eq!(wrong, "");
}

// S13
#[tokio::test]
async fn a_join_settled_by_two_workers_at_once_starts_once() {
    let engine = Arc::new(Engine::new().await);
    let graph = Graph::new("join").single("a", &[]).single("b", &[]).single("c", &["a", "b"]);
    engine.deploy(&graph).await;
    let inputs = vec!["1"; 1000];
    sqlx::query("select flow.start_runs('join', $1)").bind(&inputs).execute(engine.pool()).await.unwrap();
    let sides = [0, 1].map(|side| {
        let (engine, graph) = (Arc::clone(&engine), graph.clone());
        async move {
            let worker = engine.worker(&graph).await;
            let mut claims = Vec::new();
            (
                worker.id,
                loop {
                    let batch = worker.claim(50).await;
                    if batch.is_empty() {
                        break claims;
                    }
                    claims.extend(batch);
                    if claims.len() >= 1000 && side == 0 {
                        break claims;
                    }
                },
            )
        }
    });
    // Both workers hold one half of the tasks each: any worker may settle only its own, so split by who claimed.
    let [first, second] = sides;
    let (one, two) = (first.await, second.await);
    assert_eq!(one.1.len() + two.1.len(), 2000);
    let settle = |(id, claims): (i64, Vec<flow_tests::support::Claim>)| {
        let engine = Arc::clone(&engine);
        tokio::spawn(async move {
            let worker = engine.hand(id);
            for claim in claims {
                worker.accept(claim.complete(1)).await;
            }
        })
    };
    let (one, two) = (settle(one), settle(two));
    one.await.unwrap();
    two.await.unwrap();
    assert_eq!(engine.value::<i64>("select count(*) from flow.tasks t where t.step_index = 2").await, 1000);
    assert_eq!(engine.visible().await, 1000);
    assert_eq!(
        engine.words("select distinct s.status::text from flow.step_state s where s.step_index = 2").await,
        "started"
    );
}

// S15
#[tokio::test]
async fn each_attempt_that_failed_has_one_row_of_history() {
    let engine = Engine::new().await;
    let graph = Graph::new("hist").option("max_attempts", 9).option("base_delay_ms", 0).single("a", &[]);
    engine.deploy(&graph).await;
    engine.start("hist", 1).await;
    let worker = engine.worker(&graph).await;
    for outcome in ["error", "timeout", "panic"] {
        let claim = worker.claim_one().await;
        worker.accept(claim.ended(outcome, Some(outcome))).await;
    }
    worker.claim_one().await;
    engine.pass_time().await;
    let last = worker.claim_one().await;
    worker.accept(last.complete(1)).await;
    let rows = "select concat_ws('/', e.attempt, e.cause, e.worker_id, e.at is not null) from flow.attempt_error e order by e.attempt";
    let id = worker.id;
    assert_eq!(
        engine.words(rows).await,
        format!("1/error/{id}/t 2/timeout/{id}/t 3/panic/{id}/t 4/lease_expired/{id}/t")
    );
}

// S16
#[tokio::test]
async fn an_output_that_cannot_be_stored_fails_alone() {
    let engine = Engine::new().await;
    let graph = pair();
    engine.deploy(&graph).await;
    let run = engine.start("pair", 1).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    let bad = claims[0].complete_text(r#""secret a\u0000b""#);
    assert_eq!(worker.settle(&[bad, claims[1].complete(1)]).await, ["accepted", "accepted"]);
    assert_eq!(engine.steps(run).await, "a=failed b=completed");
    let error: Value = engine.run(run).await["error"].clone();
    let error = error.as_str().unwrap();
    assert!(error.starts_with("the output cannot be stored") && !error.contains("secret"), "{error}");
    assert_eq!(engine.words("select e.cause::text from flow.attempt_error e").await, "permanent");
}

#[tokio::test]
async fn an_output_over_the_limit_fails_the_attempt_for_good() {
    let engine = Engine::new().await;
    let graph = pair();
    engine.deploy(&graph).await;
    let run = engine.start("pair", 1).await;
    engine.run_sql("select flow.set_setting('max_value_bytes', '2048')").await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    assert_eq!(worker.settle(&[claims[0].complete("x".repeat(3000)), claims[1].complete(1)]).await, ["accepted"; 2]);
    let error = engine.run(run).await["error"].as_str().unwrap().to_owned();
    assert!(error.contains("3002 bytes") && error.contains("2048"), "{error}");
}
