//! Maps: how many tasks, with which items, in which order their outputs come back, and what an empty one does.

use flow_tests::support::{Engine, Graph, Hand, complete_each};
use serde_json::{Value, json};
use uuid::Uuid;

/// A source that feeds a map, with a step behind the map.
fn spread() -> Graph {
    Graph::new("spread").single("src", &[]).map("each", "src", &[]).single("last", &["each"])
}

/// A chain of `count` maps: the first over the input, each other over the one before.
fn chain_of_maps(slug: &str, count: usize) -> Graph {
    (1..count).fold(Graph::new(slug).map("m0", "input", &[]), |graph, index| {
        graph.map(&format!("m{index}"), &format!("m{}", index - 1), &[])
    })
}

/// Completes the only task there is, that of a source.
async fn complete_source(worker: &Hand<'_>, output: impl Into<Value>) {
    let source = worker.claim_one().await;
    worker.accept(source.complete(output)).await;
}

async fn task_count(engine: &Engine, run: Uuid, step: &str) -> Value {
    engine.step(run, step).await["task_count"].clone()
}

// M1
#[tokio::test]
async fn a_map_has_one_task_an_element() {
    let graph = Graph::new("sizes").single("src", &[]).map("one", "input", &[]).map("two", "input", &[]).map(
        "three",
        "src",
        &[],
    );
    let engine = Engine::with(&graph).await;
    let worker = engine.worker(&graph).await;
    for count in [1, 3, 100, 1000, 10_000] {
        let elements: Vec<i32> = (0..count).collect();
        let run = engine.start("sizes", elements.clone()).await;
        let source = worker.claim(1).await.remove(0);
        worker.accept(source.complete(elements)).await;
        for step in ["one", "two", "three"] {
            assert_eq!(task_count(&engine, run, step).await, count);
            assert_eq!(engine.task_counts(run, step).await, format!("{count} queued"));
        }
        let misplaced = "select count(*) from flow.task t where t.step_index > 0 and t.item <> to_jsonb(t.task_index)";
        assert_eq!(engine.value::<i64>(misplaced).await, 0);
        engine.cancel(run).await;
    }
    engine.check().await;
}

// M2
#[tokio::test]
async fn only_top_level_elements_count() {
    let graph = spread();
    let engine = Engine::with(&graph).await;
    let worker = engine.worker(&graph).await;
    for elements in [
        json!([1, "two", null, true, {"four": [4]}, 5.5]),
        json!([null, null]),
        json!(["same", "same", "same"]),
        json!(["ä", "漢字", "🦀"]),
        json!([[1, 2], [], [[3]]]),
    ] {
        let run = engine.start("spread", 0).await;
        complete_source(&worker, elements.clone()).await;
        let mut claims = worker.claim(10).await;
        claims.sort_by_key(|claim| claim.task);
        let items: Vec<Value> = claims.into_iter().map(|claim| claim.item.unwrap()).collect();
        assert_eq!(Value::from(items), elements);
        engine.cancel(run).await;
    }
    engine.check().await;
}

// M3
#[tokio::test]
async fn a_dependent_map_is_unknown_until_its_source_ends() {
    let graph = chain_of_maps("maps", 2);
    let engine = Engine::with(&graph).await;
    let run = engine.start("maps", json!([1, 2, 3, 4])).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(4).await;
    for (ended, claim) in claims.iter().enumerate() {
        assert_eq!(
            (task_count(&engine, run, "m1").await, engine.task_counts(run, "m1").await),
            (Value::Null, "none".to_owned())
        );
        assert_eq!(engine.step(run, "m0").await["remaining_tasks"], 4 - ended);
        worker.accept(claim.complete(1)).await;
    }
    assert_eq!(
        (task_count(&engine, run, "m1").await, engine.task_counts(run, "m1").await),
        (json!(4), "4 queued".to_owned())
    );
    engine.check().await;
}

// M4
#[tokio::test]
async fn a_map_over_a_map_receives_its_outputs_one_by_one() {
    let graph = chain_of_maps("maps", 2);
    let engine = Engine::with(&graph).await;
    engine.start("maps", json!([5, 6, 7])).await;
    let worker = engine.worker(&graph).await;
    let first = worker.claim(10).await;
    worker.settle(&complete_each(&first, |claim| json!({"from": claim.item}))).await;
    let mut second = worker.claim(10).await;
    second.sort_by_key(|claim| claim.task);
    let items: Vec<Value> = second.into_iter().map(|claim| claim.item.unwrap()).collect();
    assert_eq!(items, [json!({"from": 5}), json!({"from": 6}), json!({"from": 7})]);
    engine.check().await;
}

// M5
#[tokio::test]
async fn outputs_stand_in_index_order_whatever_ends_first() {
    let graph = Graph::new("each").map("one", "input", &[]);
    let engine = Engine::with(&graph).await;
    let worker = engine.worker(&graph).await;
    for count in [1_usize, 10, 100] {
        let outputs: Vec<Value> = (0..count)
            .map(|n| match n % 4 {
                0 => json!(n),
                1 => Value::Null,
                2 => json!({"n": n}),
                _ => json!([n]),
            })
            .collect();
        let run = engine.start("each", vec![0; count]).await;
        let claims = worker.claim(100).await;
        // 37 is coprime to every count, so this visits each task once, far from in order.
        for at in (0..count).map(|n| (n * 37 + 5) % count) {
            let claim = claims.iter().find(|claim| claim.task as usize == at).unwrap();
            worker.accept(claim.complete(outputs[at].clone())).await;
        }
        assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({"one": outputs})));
    }
    engine.check().await;
}

// M6
#[tokio::test]
async fn a_dependent_of_a_map_starts_once_when_all_tasks_are_completed() {
    let graph = spread();
    let engine = Engine::with(&graph).await;
    let run = engine.start("spread", 0).await;
    let worker = engine.worker(&graph).await;
    complete_source(&worker, json!([1, 2, 3])).await;
    let claims = worker.claim(10).await;
    for claim in &claims {
        assert_eq!(engine.steps(run).await, "src=completed each=started last=created");
        worker.accept(claim.complete(claim.task)).await;
    }
    assert_eq!(engine.steps(run).await, "src=completed each=completed last=started");
    assert_eq!(worker.claim_one().await.dep(1), Some(&json!([0, 1, 2])));
    engine.check().await;
}

// M7
#[tokio::test]
async fn a_step_behind_maps_receives_whole_arrays() {
    let graph = Graph::new("joined")
        .single("s", &[])
        .map("m1", "input", &[])
        .map("m2", "input", &[])
        .single("both", &["m1", "m2"])
        .single("mixed", &["s", "m1"])
        .map("leaf", "m1", &[]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("joined", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let roots = worker.claim(10).await;
    worker.settle(&complete_each(&roots, |claim| json!([claim.step, claim.task]))).await;
    let behind = worker.claim(10).await;
    let of = |step| behind.iter().find(|claim| claim.step == step).unwrap();
    let (m1, m2) = (json!([[1, 0], [1, 1]]), json!([[2, 0], [2, 1]]));
    assert_eq!((of(3).dep(1), of(3).dep(2)), (Some(&m1), Some(&m2)));
    assert_eq!((of(4).dep(1), of(4).dep(0)), (Some(&m1), Some(&json!([0, 0]))));
    worker.settle(&complete_each(&behind, |claim| json!(claim.task))).await;
    assert_eq!(engine.result(run).await.1, json!({"both": 0, "mixed": 0, "leaf": [0, 1]}));
    engine.check().await;
}

// M8
#[tokio::test]
async fn a_chain_of_ten_maps_completes() {
    let graph = chain_of_maps("maps", 10);
    let engine = Engine::with(&graph).await;
    let run = engine.start("maps", json!([1, 10, 100])).await;
    let worker = engine.worker(&graph).await;
    worker.complete_all(|claim| json!(claim.item.as_ref().and_then(Value::as_i64).unwrap() + 1)).await;
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({"m9": [11, 20, 110]})));
    assert_eq!(engine.value::<i64>("select count(*) from flow.task t where t.status = 'completed'").await, 30);
    engine.check().await;
}

// M9
#[tokio::test]
async fn an_empty_map_is_completed_without_having_been_started() {
    let graph = spread();
    let engine = Engine::with(&graph).await;
    engine
        .run_sql(
            "create table seen (status text);
             create function see() returns trigger language plpgsql as
                 $$ begin insert into seen values (new.status); return new; end $$;
             create trigger see after update on flow.step_state for each row when (new.step_index = 1) execute function see()",
        )
        .await;
    let run = engine.start("spread", 0).await;
    let worker = engine.worker(&graph).await;
    complete_source(&worker, json!([])).await;
    let map = engine.step(run, "each").await;
    assert_eq!((&map["status"], &map["task_count"], &map["output"]), (&json!("completed"), &json!(0), &json!([])));
    assert!(map["started_at"].is_string());
    assert_eq!(map["started_at"], map["ended_at"]);
    assert_eq!(engine.words("select status from seen").await, "completed");
    engine.check().await;
}

// M10
#[tokio::test]
async fn a_flow_of_empty_maps_is_completed_when_start_returns() {
    let graph = Graph::new("none").map("a", "input", &[]).map("b", "input", &[]).map("c", "a", &[]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("none", json!([])).await;
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({"b": [], "c": []})));
    assert_eq!(engine.run(run).await["remaining_steps"], 0);
    engine.check().await;
}

// M11
#[tokio::test]
async fn steps_behind_empty_maps_start_once() {
    let graph = Graph::new("behind")
        .map("a", "input", &[])
        .map("b", "a", &[])
        .map("c", "input", &[])
        .single("one", &["b"])
        .single("join", &["b", "c"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("behind", json!([])).await;
    assert_eq!(engine.steps(run).await, "a=completed b=completed c=completed one=started join=started");
    assert_eq!(engine.tasks(run).await, "one.0=queued/0 join.0=queued/0");
    let claims = engine.worker(&graph).await.claim(10).await;
    assert_eq!(claims.len(), 2);
    for claim in claims {
        assert_eq!(claim.dep(1), Some(&json!([])));
    }
    engine.check().await;
}

// M12
#[tokio::test]
async fn a_chain_of_empty_maps_of_any_length_completes_within_the_start() {
    let engine = Engine::new().await;
    for count in [49, 50, 51, 1000] {
        let slug = format!("maps{count}");
        engine.deploy(&chain_of_maps(&slug, count)).await;
        let run = engine.start(&slug, json!([])).await;
        assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({format!("m{}", count - 1): []})));
        assert_eq!(engine.steps(run).await.matches("=completed").count(), count);
    }
    engine.check().await;
}

// M13
#[tokio::test]
async fn a_map_over_a_skipped_source_is_empty() {
    let graph = Graph::new("skips")
        .single("src", &[])
        .with("run_if", json!({"never": true}))
        .map("each", "src", &[])
        .single("last", &["each"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("skips", json!({})).await;
    assert_eq!(engine.steps(run).await, "src=skipped:condition_unmet each=completed last=started");
    let map = engine.step(run, "each").await;
    assert_eq!((&map["task_count"], &map["output"]), (&json!(0), &json!([])));
    assert_eq!(engine.worker(&graph).await.claim_one().await.dep(1), Some(&json!([])));
    engine.check().await;
}

// M14
#[tokio::test]
async fn a_map_waits_for_its_further_dependency() {
    let graph = Graph::new("waits").single("src", &[]).single("extra", &[]).with("when_exhausted", "skip").map(
        "each",
        "src",
        &["extra"],
    );
    let engine = Engine::with(&graph).await;
    let worker = engine.worker(&graph).await;
    for ends_well in [true, false] {
        let run = engine.start("waits", 0).await;
        let roots = worker.claim(2).await;
        let (src, extra) = if roots[0].step == 0 { (&roots[0], &roots[1]) } else { (&roots[1], &roots[0]) };
        worker.accept(src.complete(json!([1, 2]))).await;
        assert_eq!(engine.task_counts(run, "each").await, "none");
        worker.accept(if ends_well { extra.complete("here") } else { extra.fail_for_good("gone") }).await;
        let tasks = worker.claim(10).await;
        assert_eq!(tasks.len(), 2);
        let expected = json!("here");
        assert!(tasks.iter().all(|task| task.dep(1) == ends_well.then_some(&expected)), "{tasks:?}");
    }
    engine.check().await;
}

// M15
#[tokio::test]
async fn items_are_stored_when_the_map_starts() {
    let graph = spread();
    let engine = Engine::with(&graph).await;
    engine.start("spread", 0).await;
    let worker = engine.worker(&graph).await;
    complete_source(&worker, (0..10_000).collect::<Vec<_>>()).await;
    engine
        .run_sql(
            "update flow.step_state set output = '\"overwritten\"' where step_index = 0;
             select test.put_off('infinity', 'task_index <> 5000')",
        )
        .await;
    let task = worker.claim_one().await;
    assert_eq!((task.task, task.item), (5000, Some(json!(5000))));
    engine.check().await;
}

// M16 F12 F13
#[tokio::test]
async fn a_task_that_fails_for_good_fails_its_map_and_run() {
    let graph = spread();
    let engine = Engine::with(&graph).await;
    let run = engine.start("spread", 0).await;
    let worker = engine.worker(&graph).await;
    complete_source(&worker, json!([0, 1, 2, 3, 4])).await;
    let claims = worker.claim(3).await;
    worker.accept(claims[0].complete("done")).await;
    worker.accept(claims[1].fail_for_good("broken")).await;
    assert_eq!(engine.steps(run).await, "src=completed each=failed last=cancelled");
    assert_eq!(engine.task_counts(run, "each").await, "1 completed, 1 failed, 3 cancelled");
    assert_eq!(engine.messages().await, 0);
    let row = engine.run(run).await;
    assert_eq!(
        (&row["status"], &row["error"], &row["error_step"]),
        (&json!("failed"), &json!("broken"), &json!("each"))
    );
    assert_eq!(engine.step(run, "each").await["error"], "broken");
    engine.check().await;
}

// M17
#[tokio::test]
async fn a_source_that_returns_no_array_is_a_type_violation() {
    let graph = spread();
    let engine = Engine::with(&graph).await;
    let worker = engine.worker(&graph).await;
    for (output, kind) in [
        (json!({}), "object"),
        (json!("s"), "string"),
        (json!(1), "number"),
        (json!(true), "boolean"),
        (json!(null), "null"),
    ] {
        let run = engine.start("spread", 0).await;
        complete_source(&worker, output).await;
        assert_eq!(engine.steps(run).await, "src=failed each=cancelled last=cancelled");
        assert_eq!(engine.tasks(run).await, "src.0=failed/1");
        let row = engine.run(run).await;
        let text = format!("step \"src\" must return an array, because map \"each\" runs over it; it returned {kind}");
        assert_eq!(
            (&row["status"], &row["error"], &row["error_step"]),
            (&json!("failed"), &json!(text), &json!("src"))
        );
        assert_eq!(engine.step(run, "src").await["error"], text);
    }
    engine.check().await;
}

// M18
#[tokio::test]
async fn a_type_violation_is_final_and_ends_the_whole_run() {
    let graph = Graph::new("strict")
        .option("max_attempts", 5)
        .single("src", &[])
        .with("when_exhausted", "skip")
        .map("each", "src", &[])
        .map("others", "input", &[]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("strict", json!([1, 2, 3])).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    let source = claims.iter().find(|claim| claim.step == 0).unwrap();
    worker.accept(source.complete("no list")).await;
    assert_eq!(engine.steps(run).await, "src=failed each=cancelled others=cancelled");
    assert_eq!(
        (task_count(&engine, run, "each").await, engine.task_counts(run, "each").await),
        (Value::Null, "none".to_owned())
    );
    assert_eq!(engine.task_counts(run, "others").await, "3 cancelled");
    assert_eq!(engine.messages().await, 0);
    assert_eq!(engine.words("select e.cause::text from flow.attempt_error e").await, "permanent");
    engine.check().await;
}
