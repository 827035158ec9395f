//! Conditions and skips: when a step runs, what an unmet condition does, and how far a cascade goes.

use flow_tests::support::{Engine, Graph, complete_each};
use serde_json::{Value, json};

/// A condition that no input here meets.
fn never() -> Value {
    json!({"never": true})
}

/// How the steps of a flow come out for an input, once it has started. Another flow of that slug makes way.
async fn outcome(engine: &Engine, graph: &Graph, input: &Value) -> String {
    engine.deploy(graph).await;
    let run = engine.start(graph.slug(), input.clone()).await;
    engine.steps(run).await
}

/// What a root step does under one condition, for each input: `ran` or `unmet`.
async fn tested(engine: &Engine, field: &str, pattern: Value, inputs: &[Value]) -> Vec<&'static str> {
    let graph = Graph::new("tested").single("a", &[]).with(field, pattern);
    let mut seen = Vec::new();
    for input in inputs {
        seen.push(match outcome(engine, &graph, input).await.as_str() {
            "a=started" => "ran",
            "a=skipped:condition_unmet" => "unmet",
            other => panic!("{other}"),
        });
    }
    seen
}

/// `first` unmet in this way, `second` behind it, `third` behind that, and `beside` on its own.
fn unmet(when_unmet: &str) -> Graph {
    Graph::new("unmet")
        .single("first", &[])
        .with("run_if", never())
        .with("when_unmet", when_unmet)
        .single("second", &["first"])
        .single("third", &["second"])
        .single("beside", &[])
}

// X1
#[tokio::test]
async fn a_step_starts_without_a_condition_and_with_one_that_is_met() {
    let graph = Graph::new("met")
        .single("a", &[])
        .single("plain", &["a"])
        .single("met", &["a"])
        .with("run_if", json!({"a": {"ok": true}}));
    let engine = Engine::with(&graph).await;
    let run = engine.start("met", 1).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.complete(json!({"ok": true, "more": 1}))).await;
    assert_eq!(engine.steps(run).await, "a=completed plain=started met=started");
    assert_eq!(engine.step(run, "met").await["skip_reason"], Value::Null);
    engine.check().await;
}

// X2
#[tokio::test]
async fn unmet_with_skip_skips_the_step_alone() {
    let engine = Engine::with(&unmet("skip")).await;
    let run = engine.start("unmet", json!({})).await;
    assert_eq!(engine.steps(run).await, "first=skipped:condition_unmet second=started third=created beside=started");
    assert_eq!(engine.tasks(run).await, "second.0=queued/0 beside.0=queued/0");
    let row = engine.run(run).await;
    assert_eq!((&row["status"], &row["remaining_steps"]), (&json!("started"), &json!(3)));
    engine.check().await;
}

// X3 R16
#[tokio::test]
async fn unmet_with_fail_fails_the_run() {
    let engine = Engine::with(&unmet("fail")).await;
    let run = engine.start("unmet", json!({})).await;
    assert_eq!(engine.steps(run).await, "first=failed second=cancelled third=cancelled beside=cancelled");
    assert_eq!(engine.tasks(run).await, "");
    assert_eq!(engine.step(run, "first").await["error"], "condition not met");
    let row = engine.run(run).await;
    assert_eq!(
        (&row["status"], &row["error"], &row["error_step"]),
        (&json!("failed"), &json!("condition not met"), &json!("first"))
    );
    engine.check().await;
}

// X4
#[tokio::test]
async fn unmet_with_skip_cascade_skips_what_is_behind() {
    let engine = Engine::with(&unmet("skip_cascade")).await;
    let run = engine.start("unmet", json!({})).await;
    assert_eq!(
        engine.steps(run).await,
        "first=skipped:condition_unmet second=skipped:dependency_skipped third=skipped:dependency_skipped beside=started"
    );
    engine.check().await;
}

// X5
#[tokio::test]
async fn run_unless_applies_when_unmet_when_its_pattern_is_there() {
    let engine = Engine::new().await;
    for (mode, expected) in [
        ("skip", "a=skipped:condition_unmet b=started"),
        ("skip_cascade", "a=skipped:condition_unmet b=skipped:dependency_skipped"),
        ("fail", "a=failed b=cancelled"),
    ] {
        let graph = Graph::new("unless")
            .single("a", &[])
            .with("run_unless", json!({"dry": true}))
            .with("when_unmet", mode)
            .single("b", &["a"]);
        assert_eq!(outcome(&engine, &graph, &json!({"dry": false})).await, "a=started b=created");
        assert_eq!(outcome(&engine, &graph, &json!({"dry": true, "n": 1})).await, expected);
    }
    engine.check().await;
}

// X5
#[tokio::test]
async fn with_both_conditions_a_step_runs_in_one_of_four_cases() {
    let engine = Engine::new().await;
    let graph = Graph::new("both").single("a", &[]).with("run_if", json!({"x": 1})).with("run_unless", json!({"y": 1}));
    for (input, expected) in [
        (json!({"x": 1}), "a=started"),
        (json!({"x": 1, "y": 1}), "a=skipped:condition_unmet"),
        (json!({"y": 1}), "a=skipped:condition_unmet"),
        (json!({}), "a=skipped:condition_unmet"),
    ] {
        assert_eq!(outcome(&engine, &graph, &input).await, expected, "{input}");
    }
    engine.check().await;
}

// X6
#[tokio::test]
async fn of_two_opposite_conditions_exactly_one_is_met() {
    let engine = Engine::new().await;
    let pattern = json!({"kind": "a"});
    let graph = Graph::new("either")
        .single("yes", &[])
        .with("run_if", pattern.clone())
        .single("no", &[])
        .with("run_unless", pattern);
    for (input, expected) in [
        (json!({"kind": "a"}), "yes=started no=skipped:condition_unmet"),
        (json!({"kind": "b"}), "yes=skipped:condition_unmet no=started"),
        (json!({}), "yes=skipped:condition_unmet no=started"),
        (json!(null), "yes=skipped:condition_unmet no=started"),
    ] {
        assert_eq!(outcome(&engine, &graph, &input).await, expected, "{input}");
    }
    engine.check().await;
}

// X7
#[tokio::test]
async fn patterns_are_contained_as_postgres_contains_json() {
    let engine = Engine::new().await;
    let (ran, unmet) = ("ran", "unmet");
    let inputs = [json!({"gift": true, "n": 1}), json!({}), json!({"gift": 1}), json!({"gift": null})];
    assert_eq!(tested(&engine, "run_if", json!({"gift": true}), &inputs).await, [ran, unmet, unmet, unmet]);
    let inputs = [json!({}), json!({"a": 1}), json!([]), json!(1)];
    assert_eq!(tested(&engine, "run_if", json!({}), &inputs).await, [ran, ran, unmet, unmet]);
    let inputs = [json!([]), json!([1]), json!({}), json!("")];
    assert_eq!(tested(&engine, "run_if", json!([]), &inputs).await, [ran, ran, unmet, unmet]);
    let inputs = [json!([2, 3, 1]), json!([1, 2]), json!([3]), json!([2]), json!(1)];
    assert_eq!(tested(&engine, "run_if", json!([1, 2]), &inputs).await, [ran, ran, unmet, unmet, unmet]);
    let inputs = [json!(7), json!([8, 7]), json!(8), json!([]), json!({"7": 7})];
    assert_eq!(tested(&engine, "run_if", json!(7), &inputs).await, [ran, ran, unmet, unmet, unmet]);
    let inputs = [json!(null), json!([null]), json!(0), json!({})];
    assert_eq!(tested(&engine, "run_if", json!(null), &inputs).await, [ran, ran, unmet, unmet]);
    assert_eq!(tested(&engine, "run_unless", json!(null), &inputs).await, [unmet, unmet, ran, ran]);
    engine.check().await;
}

// X8
#[tokio::test]
async fn a_map_over_the_input_tests_the_whole_array() {
    let engine = Engine::new().await;
    let graph = Graph::new("list").map("each", "input", &[]).with("run_if", json!([{"vip": true}]));
    assert_eq!(outcome(&engine, &graph, &json!([{"n": 1}, {"vip": true, "n": 2}])).await, "each=started");
    for input in [json!([{"n": 1}, {"vip": false}]), json!([])] {
        assert_eq!(outcome(&engine, &graph, &input).await, "each=skipped:condition_unmet");
    }
    let inputs = [json!("vip"), json!("vip "), json!("VIP"), json!({"vip": "vip"})];
    assert_eq!(tested(&engine, "run_if", json!("vip"), &inputs).await, ["ran", "unmet", "unmet", "unmet"]);
    engine.check().await;
}

// X9
#[tokio::test]
async fn a_dependents_condition_sees_data_and_order_only_dependencies() {
    let graph = Graph::new("deps")
        .single("data", &[])
        .single("order", &[])
        .single("gone", &[])
        .with("run_if", never())
        .single("both", &["data"])
        .with("after", json!(["order"]))
        .with("run_if", json!({"data": 1, "order": 2}))
        .single("data_only", &["data"])
        .with("run_if", json!({"data": 1}))
        .with("run_unless", json!({"data": 2}))
        .single("none", &["gone"])
        .with("run_if", json!({}));
    let engine = Engine::with(&graph).await;
    let run = engine.start("deps", json!({"n": 1})).await;
    let worker = engine.worker(&graph).await;
    let roots: Vec<_> = worker.claim(10).await.into_iter().filter(|claim| claim.step < 2).collect();
    worker.settle(&complete_each(&roots, |claim| json!(claim.step + 1))).await;
    assert_eq!(
        engine.steps(run).await,
        "data=completed order=completed gone=skipped:condition_unmet both=started data_only=started none=started"
    );
    engine.check().await;
}

// X10
#[tokio::test]
async fn a_skipped_dependency_is_absent_from_the_condition() {
    let graph = Graph::new("absent")
        .single("a", &[])
        .with("run_if", json!({"a": true}))
        .single("with", &["a"])
        .with("run_if", json!({"a": {}}))
        .single("without", &["a"])
        .with("run_unless", json!({"a": {}}));
    let engine = Engine::with(&graph).await;
    let run = engine.start("absent", json!({})).await;
    assert_eq!(engine.steps(run).await, "a=skipped:condition_unmet with=skipped:condition_unmet without=started");
    engine.cancel(run).await;
    let run = engine.start("absent", json!({"a": true})).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.complete(json!({"x": 1}))).await;
    assert_eq!(engine.steps(run).await, "a=completed with=started without=skipped:condition_unmet");
    engine.check().await;
}

// X11
#[tokio::test]
async fn a_condition_is_tested_when_the_last_dependency_ends() {
    let graph =
        Graph::new("late").single("a", &[]).single("b", &[]).single("c", &["a", "b"]).with("run_if", json!({"a": 1}));
    let engine = Engine::with(&graph).await;
    let run = engine.start("late", 1).await;
    let worker = engine.worker(&graph).await;
    let mut claims = worker.claim(2).await;
    claims.sort_by_key(|claim| claim.step);
    worker.accept(claims[0].complete(0)).await;
    assert_eq!(engine.steps(run).await, "a=completed b=started c=created");
    worker.accept(claims[1].complete(0)).await;
    assert_eq!(engine.steps(run).await, "a=completed b=completed c=skipped:condition_unmet");
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({})));
    engine.check().await;
}

// X12
#[tokio::test]
async fn an_unmet_fail_leaves_nothing_live() {
    let graph = Graph::new("ends")
        .single("a", &[])
        .single("running", &[])
        .map("queued", "input", &[])
        .single("strict", &["a"])
        .with("run_if", json!({"a": 1}))
        .with("when_unmet", "fail")
        .step_queues();
    let engine = Engine::with(&graph).await;
    let run = engine.start("ends", json!([1, 2])).await;
    let running = engine.worker_of(&graph, "ends__running", &[1]).await;
    let held = running.claim_one().await;
    let worker = engine.worker_of(&graph, "ends__a", &[0]).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.complete(2)).await;
    assert_eq!(engine.steps(run).await, "a=completed running=cancelled queued=cancelled strict=failed");
    assert_eq!(
        engine.words("select distinct t.status::text from flow.tasks t where t.step_index > 0").await,
        "cancelled"
    );
    assert_eq!(engine.messages().await, 0);
    assert_eq!(running.settle(&[held.complete(1)]).await, ["lost"]);
    engine.check().await;
}

// X13
#[tokio::test]
async fn of_several_unmet_steps_the_lowest_that_fails_decides() {
    let graph = Graph::new("several")
        .single("a", &[])
        .single("skips", &["a"])
        .with("run_if", json!({"a": 1}))
        .single("cascades", &["a"])
        .with("run_if", json!({"a": 1}))
        .with("when_unmet", "skip_cascade")
        .single("fails", &["a"])
        .with("run_if", json!({"a": 1}))
        .with("when_unmet", "fail")
        .single("fails_too", &["a"])
        .with("run_if", json!({"a": 1}))
        .with("when_unmet", "fail")
        .single("behind", &["skips"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("several", 1).await;
    let worker = engine.worker(&graph).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.complete(2)).await;
    assert_eq!(
        engine.steps(run).await,
        "a=completed skips=cancelled cascades=cancelled fails=failed fails_too=cancelled behind=cancelled"
    );
    assert_eq!(engine.run(run).await["error_step"], "fails");
    engine.check().await;
}

// X13
#[tokio::test]
async fn a_condition_that_fails_the_run_comes_before_a_failure_of_the_same_call() {
    let graph = Graph::new("race")
        .single("a", &[])
        .single("b", &[])
        .single("strict", &["a"])
        .with("run_if", json!({"a": 1}))
        .with("when_unmet", "fail");
    let engine = Engine::with(&graph).await;
    let run = engine.start("race", 1).await;
    let worker = engine.worker(&graph).await;
    let mut claims = worker.claim(2).await;
    claims.sort_by_key(|claim| claim.step);
    let verdicts = worker.settle(&[claims[1].fail_for_good("b broke"), claims[0].complete(2)]).await;
    assert_eq!(verdicts, ["lost", "accepted"]);
    assert_eq!(engine.steps(run).await, "a=completed b=cancelled strict=failed");
    assert_eq!(engine.run(run).await["error"], "condition not met");
    assert_eq!(engine.value::<i64>("select count(*) from flow.attempt_error").await, 0);
    engine.check().await;
}

// X14
#[tokio::test]
async fn a_join_of_skipped_parents_starts_with_one_task() {
    let skipped = |graph: Graph, slug: &str| graph.single(slug, &[]).with("run_if", never());
    let two = skipped(skipped(Graph::new("two"), "a"), "b").single("join", &["a", "b"]);
    let engine = Engine::with(&two).await;
    let run = engine.start("two", json!({})).await;
    assert_eq!(engine.tasks(run).await, "join.0=queued/0");

    let three = skipped(skipped(Graph::new("three"), "a"), "b").single("c", &[]).single("join", &["a", "b", "c"]);
    let engine = Engine::with(&three).await;
    let run = engine.start("three", json!({})).await;
    assert_eq!(engine.step(run, "join").await["remaining_deps"], 1);
    let worker = engine.worker(&three).await;
    let claim = worker.claim_one().await;
    worker.accept(claim.complete(1)).await;
    assert_eq!(engine.step(run, "join").await["remaining_deps"], 0);
    assert_eq!(engine.tasks(run).await, "c.0=completed/1 join.0=queued/0");
    engine.check().await;
}

// X15
#[tokio::test]
async fn a_skip_behind_a_skip_lets_the_next_step_start() {
    let graph = Graph::new("links")
        .single("a", &[])
        .with("run_if", never())
        .single("b", &["a"])
        .with("run_if", json!({"a": 1}))
        .single("c", &["b"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("links", json!({})).await;
    assert_eq!(engine.steps(run).await, "a=skipped:condition_unmet b=skipped:condition_unmet c=started");
    engine.worker(&graph).await.complete_all(|_| json!("end")).await;
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({"c": "end"})));
    engine.check().await;
}

// X16
#[tokio::test]
async fn a_chain_of_skips_of_any_length_resolves_within_one_call() {
    let engine = Engine::new().await;
    for count in [49, 50, 51, 1000] {
        let slug = format!("skips{count}");
        let mut graph = Graph::new(&slug).single("s0", &[]).with("run_if", never());
        for index in 1..count {
            let before = format!("s{}", index - 1);
            graph = graph.single(&format!("s{index}"), &[&before]).with("run_if", json!({before.as_str(): 1}));
        }
        engine.deploy(&graph).await;
        let run = engine.start(&slug, json!({})).await;
        assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({})));
        assert_eq!(engine.steps(run).await.matches("skipped:condition_unmet").count(), count);
    }
    engine.check().await;
}

// X17
#[tokio::test]
async fn a_cascade_lowers_the_count_of_steps_and_may_complete_the_run() {
    let cascade = |graph: Graph| {
        graph
            .single("top", &["a"])
            .with("run_if", json!({"a": 1}))
            .with("when_unmet", "skip_cascade")
            .single("middle", &["top"])
            .single("bottom", &["middle"])
    };
    for (graph, left, status) in [
        (cascade(Graph::new("levels").single("a", &[])), 0, "completed"),
        (cascade(Graph::new("levels").single("a", &[]).single("other", &[])), 1, "started"),
    ] {
        let engine = Engine::with(&graph).await;
        let run = engine.start("levels", 1).await;
        let worker = engine.worker(&graph).await;
        let root = worker.claim(10).await.into_iter().find(|claim| claim.step == 0).unwrap();
        worker.accept(root.complete(2)).await;
        let row = engine.run(run).await;
        assert_eq!((&row["remaining_steps"], &row["status"]), (&json!(left), &json!(status)));
        let skipped = "select count(*) from flow.step_state ss where ss.status = 'skipped'";
        assert_eq!(engine.value::<i64>(skipped).await, 3);
    }
}

// X18
#[tokio::test]
async fn the_other_dependency_of_a_cascaded_step_runs_on() {
    let graph = Graph::new("other")
        .single("gone", &[])
        .with("run_if", never())
        .with("when_unmet", "skip_cascade")
        .single("runs", &[])
        .single("join", &["gone", "runs"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("other", json!({})).await;
    assert_eq!(engine.steps(run).await, "gone=skipped:condition_unmet runs=started join=skipped:dependency_skipped");
    engine.worker(&graph).await.complete_all(|_| json!(1)).await;
    assert_eq!(engine.steps(run).await, "gone=skipped:condition_unmet runs=completed join=skipped:dependency_skipped");
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({})));
    engine.check().await;
}

// X19
#[tokio::test]
async fn a_map_skipped_by_a_cascade_is_no_empty_map() {
    let graph = Graph::new("gone")
        .single("src", &[])
        .with("run_if", never())
        .with("when_unmet", "skip_cascade")
        .map("each", "src", &[])
        .map("more", "each", &[]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("gone", json!({})).await;
    assert_eq!(
        engine.steps(run).await,
        "src=skipped:condition_unmet each=skipped:dependency_skipped more=skipped:dependency_skipped"
    );
    let map = engine.step(run, "each").await;
    assert_eq!((&map["task_count"], &map["output"]), (&Value::Null, &Value::Null));
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({})));
    engine.check().await;
}

// X20
#[tokio::test]
async fn an_order_only_dependent_follows_a_completion_and_a_plain_skip() {
    for (input, mode, expected) in [
        (json!({"go": true}), "skip", "a=completed b=started"),
        (json!({}), "skip", "a=skipped:condition_unmet b=started"),
        (json!({}), "skip_cascade", "a=skipped:condition_unmet b=skipped:dependency_skipped"),
    ] {
        let graph = Graph::new("order")
            .single("a", &[])
            .with("run_if", json!({"go": true}))
            .with("when_unmet", mode)
            .single("b", &[])
            .with("after", json!(["a"]));
        let engine = Engine::with(&graph).await;
        let run = engine.start("order", input.clone()).await;
        let worker = engine.worker(&graph).await;
        if let Some(claim) = worker.claim(1).await.into_iter().find(|claim| claim.step == 0) {
            worker.accept(claim.complete(1)).await;
        }
        assert_eq!(engine.steps(run).await, expected);
    }
}

// X21
#[tokio::test]
async fn a_step_reached_twice_is_skipped_once() {
    let graph = Graph::new("twice")
        .single("one", &[])
        .with("run_if", never())
        .with("when_unmet", "skip_cascade")
        .single("two", &[])
        .with("run_if", never())
        .with("when_unmet", "skip_cascade")
        .single("left", &["one"])
        .single("right", &["one"])
        .single("longer", &["right"])
        .single("join", &["two", "left", "longer"])
        .single("other", &[]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("twice", json!({})).await;
    assert_eq!(engine.run(run).await["remaining_steps"], 1);
    assert_eq!(
        engine.words("select ss.skip_reason::text from flow.step_state ss where ss.step_index = 5").await,
        "dependency_skipped"
    );
    engine.worker(&graph).await.complete_all(|_| json!(1)).await;
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({"other": 1})));
    engine.check().await;
}

// X21
#[tokio::test]
async fn a_step_reached_by_a_cascade_and_by_a_skip_at_once_is_skipped() {
    let graph = Graph::new("mixed")
        .single("plain", &[])
        .with("run_if", never())
        .single("cascades", &[])
        .with("run_if", never())
        .with("when_unmet", "skip_cascade")
        .map("empty", "input", &[])
        .single("join", &["plain", "cascades", "empty"])
        .single("behind", &["join"]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("mixed", json!([])).await;
    assert_eq!(
        engine.steps(run).await,
        "plain=skipped:condition_unmet cascades=skipped:condition_unmet empty=completed \
         join=skipped:dependency_skipped behind=skipped:dependency_skipped"
    );
    assert_eq!(engine.result(run).await, ("completed".to_owned(), json!({})));
    engine.check().await;
}

// X22
#[tokio::test]
async fn a_reason_is_there_exactly_when_a_step_is_skipped() {
    let engine = Engine::with(&unmet("skip")).await;
    engine.start("unmet", json!({})).await;
    for change in [
        "update flow.step_state set skip_reason = null where status = 'skipped'",
        "update flow.step_state set skip_reason = 'handler_failed' where status = 'started'",
        "update flow.step_state set status = 'skipped', ended_at = now() where status = 'started'",
    ] {
        let error = sqlx::raw_sql(change).execute(engine.pool()).await.unwrap_err().to_string();
        assert!(error.contains("step_state_reason_exactly_when_skipped"), "{error}");
    }
    assert_eq!(
        engine.words("select unnest(enum_range(null::flow.skip_reason))::text").await,
        "condition_unmet dependency_skipped handler_failed"
    );
    engine.check().await;
}
