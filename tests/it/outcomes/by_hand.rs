//! Random flows: a real worker brings a run to where a worker by hand brings it, and each handler sees what was claimed.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use flow_runtime::{FlowBuilder, JsonCall, JsonFlow, JsonHandler, StepBuilder, definition::Mode, prelude::*};
use flow_tests::{
    model::{self, Flow as Random, ModelSource, any_flow},
    support::{Claim, Engine, Settle, TestDb},
};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngSeed, TestRunner},
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::OUTCOME;

/// How many flows are played.
const FLOWS: usize = 60;

/// How an attempt ends.
enum End {
    Complete(Value),
    Error(String),
    Permanent(String),
}

/// The end of one attempt, always the same for the same flow; a step that feeds a map mostly gives a list.
fn end(flow: &Random, seed: usize, step: usize, task: usize, attempt: usize) -> End {
    let mixed = (seed * 31 + step * 17 + task * 7 + attempt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let text = format!("step {step} task {task} attempt {attempt}");
    match mixed % 12 {
        0 | 1 => End::Error(text),
        2 => End::Permanent(text),
        choice @ 3..=6 => End::Complete([json!([]), json!([1]), json!([0, 1])][choice % 3].clone()),
        choice if flow.fed_map(step).is_some() && choice < 11 => End::Complete(json!([1, choice])),
        choice => End::Complete([json!({"v": 0}), json!({"v": 1}), json!(null), json!(7)][choice % 4].clone()),
    }
}

/// What the attempts of a run saw, one text each.
type Seen = Arc<Mutex<BTreeSet<String>>>;

fn slug(step: usize) -> String {
    format!("s{step}")
}

/// Notes what one attempt was called with: its element, the input, and the outputs of what it needs, as far as they are there.
fn note(seen: &Seen, attempt: [usize; 3], item: &Value, input: &Value, needs: impl Iterator<Item = (usize, Value)>) {
    let needs: Vec<String> = needs.map(|(step, value)| format!("{}: {value}", slug(step))).collect();
    seen.lock().unwrap().insert(format!("{attempt:?} of {item}, {input}, {}", needs.join(", ")));
}

fn mode(mode: model::Mode) -> Mode {
    match mode {
        model::Mode::Skip => Mode::Skip,
        model::Mode::SkipCascade => Mode::SkipCascade,
        model::Mode::Fail => Mode::Fail,
    }
}

/// The random flow as its builder would be called.
fn built(flow: &Random, name: &str) -> FlowBuilder {
    let mut graph = FlowBuilder::new(name).base_delay(Duration::ZERO);
    for (at, step) in flow.steps.iter().enumerate() {
        let made = match step.over {
            None => StepBuilder::single(slug(at)),
            Some(ModelSource::Input) => StepBuilder::map(slug(at), "input"),
            Some(ModelSource::Step(source)) => StepBuilder::map(slug(at), slug(source)),
        };
        let made = made.needs(step.needs.iter().copied().map(slug)).after(step.after.iter().copied().map(slug));
        let mut made = made.when_exhausted(mode(step.when_exhausted)).max_attempts(step.max_attempts.unsigned_abs());
        if let Some(pattern) = &step.run_if {
            made = made.run_if(pattern.clone());
        }
        if let Some(pattern) = &step.run_unless {
            made = made.run_unless(pattern.clone());
        }
        if step.run_if.is_some() || step.run_unless.is_some() {
            made = made.when_unmet(mode(step.when_unmet));
        }
        graph = graph.step(made);
    }
    graph
}

/// Brings a run to its end by hand, one task at a time.
async fn play(engine: &Engine, flow: &Random, seed: usize, name: &str, input: &Value, seen: &Seen) -> Uuid {
    let worker = engine.worker(&flow.graph(name)).await;
    let run = engine.start(name, input.clone()).await;
    let mut settlements: Vec<Settle> = Vec::new();
    loop {
        let reply = worker.exchange(1, &settlements).await;
        let Some(claim) = reply.claims.first() else { return run };
        settlements = vec![act(claim, flow, seed, seen)];
    }
}

fn act(claim: &Claim, flow: &Random, seed: usize, seen: &Seen) -> Settle {
    let [step, task, attempt] = [claim.step, claim.task, claim.attempt].map(|number| usize::try_from(number).unwrap());
    let dep = |step: &usize| Some((*step, claim.dep(i32::try_from(*step).unwrap())?.clone()));
    let item = claim.item.clone().unwrap_or_default();
    note(seen, [step, task, attempt], &item, claim.dep(-1).unwrap(), flow.steps[step].needs.iter().filter_map(dep));
    match end(flow, seed, step, task, attempt) {
        End::Complete(output) => claim.complete(output),
        End::Error(text) => claim.fail(&text),
        End::Permanent(text) => claim.fail_for_good(&text),
    }
}

/// What a handler does with the same attempt.
fn handle(call: &JsonCall, flow: &Random, seed: usize, seen: &Seen) -> Result<Value, StepError> {
    let step: usize = call.ctx().step()[1..].parse()?;
    let (task, attempt) = (call.ctx().task_index() as usize, call.ctx().attempt() as usize);
    let dep = |step: &usize| call.has_output(&slug(*step)).then(|| (*step, call.output(&slug(*step)).clone()));
    note(seen, [step, task, attempt], call.item(), call.input(), flow.steps[step].needs.iter().filter_map(dep));
    match end(flow, seed, step, task, attempt) {
        End::Complete(output) => Ok(output),
        End::Error(text) => Err(StepError::new(text)),
        End::Permanent(text) => Err(StepError::permanent(text)),
    }
}

async fn outcome(pool: &sqlx::PgPool, run: Uuid) -> String {
    sqlx::query_scalar(OUTCOME).bind(run).fetch_one(pool).await.unwrap()
}

// W11
#[tokio::test]
async fn a_worker_brings_random_flows_to_where_a_hand_brings_them() {
    let (engine, test) = (Engine::new().await, TestDb::new().await);
    let db = Db::new(test.url()).unwrap();
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(11), ..Config::default() });
    let inputs = [json!([]), json!([0]), json!([0, 1]), json!([1, 1, 0])];
    let mut statuses = BTreeSet::new();
    let any = any_flow().prop_map(|flow| Random { has_step_queues: false, ..flow });
    // A builder refuses conditions that no value of their subject could meet.
    let any = any.prop_filter("a legal flow", |flow| built(flow, "any").build().is_ok());
    for seed in 0..FLOWS {
        let flow = any.new_tree(&mut runner).unwrap().current();
        let (name, input) = (format!("random{seed}"), &inputs[seed % inputs.len()]);
        let (by_hand, by_worker) = (Seen::default(), Seen::default());
        engine.deploy(&flow.graph(&name)).await;
        let expected = play(&engine, &flow, seed, &name, input, &by_hand).await;
        let expected = outcome(engine.pool(), expected).await;

        let handler = {
            let (flow, seen) = (flow.clone(), Arc::clone(&by_worker));
            JsonHandler::new(move |call| {
                let result = handle(&call, &flow, seed, &seen);
                async move { result }
            })
        };
        let json = JsonFlow::builder(built(&flow, &name)).other_steps(handler).build().unwrap();
        assert_eq!(serde_json::to_value(&json.definition().shape).unwrap(), flow.graph(&name).shape());
        let worker = Worker::builder(&db).json(json).concurrency(1).build().unwrap().start().await.unwrap();
        let run = Client::new(&db).start_json(&name, input).await.unwrap();
        let _ = tokio::time::timeout(Duration::from_secs(30), run.wait()).await.expect("the run ends");
        worker.shutdown().await.unwrap();
        let outcome = outcome(test.pool(), run.id().into()).await;
        if expected.starts_with("failed") {
            // What else has ended by the time of the failure depends on the order of the work, which no two workers share.
            assert!(outcome.starts_with("failed"), "{outcome}\n{flow:#?}");
        } else {
            assert_eq!(outcome, expected, "{flow:#?}");
            assert_eq!(*by_worker.lock().unwrap(), *by_hand.lock().unwrap(), "{flow:#?}");
        }
        statuses.extend(expected.split([' ', '\n', '=']).map(str::to_owned));
    }
    for word in
        ["completed", "failed", "cancelled", "condition_unmet", "handler_failed", "dependency_skipped", "failed/2"]
    {
        assert!(statuses.contains(word), "no run came to {word}");
    }
}
