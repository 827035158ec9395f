//! Claiming: who gets what, once, with which inputs.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use flow_tests::support::{Claim, Engine, Graph, Hand, complete_each};
use serde_json::{Value, json};

fn map_over_input() -> Graph {
    Graph::new("each").map("one", "input", &[])
}

/// All that is stored of runs and their work, by table, in order.
async fn rows(engine: &Engine) -> Value {
    engine
        .value(
            "select jsonb_build_object(
                 'run', (select jsonb_agg(r order by r.run_id) from flow.run r),
                 'step', (select jsonb_agg(s order by s.run_id, s.step_index) from flow.step_state s),
                 'task', (select jsonb_agg(t order by t.run_id, t.step_index, t.task_index) from flow.task t),
                 'message', (select jsonb_object_agg(concat_ws('.', m.step_index, m.task_index), m.message_id) from test.messages() m),
                 'error', (select count(*) from flow.attempt_error),
                 'suspect', (select count(*) from flow.suspect))",
        )
        .await
}

/// Where two values differ, as a path, with what stands there afterwards.
fn changes(path: &str, before: &Value, after: &Value, found: &mut BTreeMap<String, Value>) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            for key in old.keys().chain(new.keys()) {
                let (old, new) = (old.get(key).unwrap_or(&Value::Null), new.get(key).unwrap_or(&Value::Null));
                changes(&format!("{path} {key}"), old, new, found);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (place, (old, new)) in old.iter().zip(new).enumerate() {
                changes(&format!("{path} {place}"), old, new, found);
            }
        }
        _ if before != after => drop(found.insert(path.trim().to_owned(), after.clone())),
        _ => {}
    }
}

// C1
#[tokio::test]
async fn claimed_work_is_started_and_listed_in_its_workers_hand() {
    for (is_pgmq, is_map) in [(false, false), (false, true), (true, false), (true, true)] {
        let engine = if is_pgmq { Engine::of_pgmq().await } else { Engine::of_rows().await };
        let graph = Graph::new("one");
        let graph = if is_map { graph.map("a", "input", &[]) } else { graph.single("a", &[]) };
        let graph = graph.single("behind", &["a"]);
        engine.deploy(&graph).await;
        engine.start("one", json!([10, 20])).await;
        let worker = engine.worker(&graph).await;
        let before = rows(&engine).await;
        let claim = worker.claim(1).await.remove(0);
        let mut found = BTreeMap::new();
        changes("", &before, &rows(&engine).await, &mut found);

        let place = usize::try_from(claim.task).unwrap();
        let (table, sent) = if is_map { (format!("task {place}"), claim.task) } else { ("step 0".to_owned(), -1) };
        let claimed_at = found.remove(&format!("{table} claimed_at")).expect("it was claimed at some time");
        let queued_at = &before[if is_map { "task" } else { "step" }][place]["queued_at"];
        let order = "select $1::timestamptz <= $2::timestamptz and $2::timestamptz <= clock_timestamp()";
        let order = sqlx::query_scalar(order).bind(queued_at.as_str()).bind(claimed_at.as_str());
        let is_in_order: bool = order.fetch_one(engine.pool()).await.unwrap();
        assert!(is_in_order, "queued {queued_at}, claimed {claimed_at}");
        let mut expected = BTreeMap::from([
            (format!("{table} attempt"), json!(1)),
            (format!("{table} worker_id"), json!(worker.id)),
            (format!("{table} batch"), json!(claim.batch)),
            (format!("{table} timeout_ms"), json!(60_000)),
        ]);
        if is_map {
            expected.insert(format!("{table} status"), json!("started"));
        }
        let message = format!("message 0.{sent}");
        match is_pgmq {
            // The last message takes the whole object along.
            _ if !is_map => drop(expected.insert("message".to_owned(), Value::Null)),
            true => drop(expected.insert(message, Value::Null)),
            // Without a number the message has been null before, so its key is looked for below.
            false => {}
        }
        assert_eq!(found, expected);
        let left = engine.words("select concat_ws('.', m.step_index, m.task_index) from test.messages() m").await;
        assert_eq!(left, if is_map { format!("0.{}", 1 - claim.task) } else { String::new() });
        let hands: Value = engine.value("select jsonb_agg(h) from flow.hand h").await;
        let listed = json!({"worker_id": worker.id, "batch": claim.batch, "is_exchange": true, "runs": [claim.run],
                            "steps": [0], "tasks": [sent], "batches": [claim.batch]});
        assert_eq!(hands, json!([listed]));
        assert_eq!((claim.attempt, claim.step, claim.is_exhausted), (1, 0, false));
        assert_eq!(claim.item, is_map.then(|| json!(10 * (claim.task + 1))));
        assert_eq!(claim.dep(-1), Some(&json!([10, 20])));
        engine.check().await;
    }
}

// C2 B9
#[tokio::test]
async fn claims_return_what_is_there_and_an_empty_one_writes_nothing() {
    let engine = Engine::new().await;
    let graph = map_over_input();
    engine.deploy(&graph).await;
    engine.start("each", (0..25).collect::<Vec<_>>()).await;
    let worker = engine.worker(&graph).await;
    let mut counts = Vec::new();
    for _ in 0..3 {
        counts.push(worker.claim(10).await.len());
    }
    counts.push(worker.claim(10).await.len());
    assert_eq!(counts, [10, 10, 5, 0]);
    let is_silent: bool = sqlx::query_scalar(
        "select bool_and(e.p_state = 'ok') and pg_current_xact_id_if_assigned() is null
         from flow.exchange($1, $2, 1000000, 10, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}') e",
    )
    .bind(worker.process)
    .bind(worker.id)
    .fetch_one(engine.pool())
    .await
    .unwrap();
    assert!(is_silent, "an empty claim took a transaction id, so it wrote something");
}

// C3
#[tokio::test]
async fn eight_workers_claim_each_task_once() {
    let engine = Arc::new(Engine::new().await);
    let graph = map_over_input();
    engine.deploy(&graph).await;
    engine.start("each", (0..1000).collect::<Vec<_>>()).await;
    let workers = (0..8).map(|_| {
        let (engine, graph) = (Arc::clone(&engine), graph.clone());
        tokio::spawn(async move {
            let worker = engine.worker(&graph).await;
            let mut claimed = Vec::new();
            loop {
                let claims = worker.claim(10).await;
                if claims.is_empty() && engine.visible().await == 0 {
                    return (worker.id, claimed);
                }
                claimed.extend(claims);
            }
        })
    });
    let mut seen = HashSet::new();
    for worker in workers.collect::<Vec<_>>() {
        let (id, claims) = worker.await.unwrap();
        for claim in claims {
            assert_eq!(claim.attempt, 1);
            assert!(seen.insert(claim.task), "task {} was claimed twice", claim.task);
            let owner: i64 = sqlx::query_scalar("select t.worker_id from flow.tasks t where t.task_index = $1")
                .bind(claim.task)
                .fetch_one(engine.pool())
                .await
                .unwrap();
            assert_eq!(owner, id);
        }
    }
    assert_eq!(seen.len(), 1000);
}

// C4
#[tokio::test]
async fn no_task_of_an_ended_run_or_step_is_claimed() {
    let engine = Engine::new().await;
    let graph = Graph::new("ends").map("m", "input", &[]).with("when_exhausted", "skip").single("s", &[]);
    engine.deploy(&graph).await;
    let worker = engine.worker(&graph).await;
    let cancelled = engine.start("ends", json!([1, 2])).await;
    sqlx::query("select flow.cancel_run($1)").bind(cancelled).execute(engine.pool()).await.unwrap();
    assert_eq!(worker.claim(10).await, []);

    let skipped = engine.start("ends", json!([1, 2, 3])).await;
    engine.run_sql("select test.put_off(now() + interval '1 h', 'task_index < 0')").await;
    let claims = worker.claim(1).await;
    worker.accept(claims[0].fail_for_good("no")).await;
    assert_eq!(engine.steps(skipped).await, "m=skipped:handler_failed s=started");
    engine.run_sql("select test.make_due()").await;
    let left = worker.claim(10).await;
    assert_eq!(left.iter().map(|claim| claim.step).collect::<Vec<_>>(), [1]);
}

// C5
#[tokio::test]
async fn claim_hand_and_removal_of_messages_commit_together() {
    let engine = Engine::new().await;
    let graph = map_over_input();
    engine.deploy(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let lose = "create function lose() returns trigger language plpgsql as $$ begin return null; end $$;
                create trigger lose before update on flow.task for each row when (old.task_index = 0) execute function lose();";
    engine.run_sql(lose).await;
    let error = worker.try_exchange(10, &[]).await.unwrap_err().to_string();
    assert!(error.contains("2 messages were taken and 1 pieces of work claimed"), "{error}");
    assert_eq!(engine.words("select concat(t.status, t.attempt) from flow.tasks t").await, "queued0 queued0");
    assert_eq!((engine.visible().await, engine.hands().await.len()), (2, 0));
    engine.run_sql("drop trigger lose on flow.task").await;
    assert_eq!(worker.claim(10).await.len(), 2);
    assert_eq!((engine.messages().await, engine.hands().await.len()), (0, 1));
    engine.check().await;
}

// C6
#[tokio::test]
async fn a_step_receives_its_data_dependencies_and_the_input() {
    let engine = Engine::new().await;
    let graph = Graph::new("deep")
        .single("a", &[])
        .single("skipped", &[])
        .with("run_if", json!({"never": true}))
        .single("b", &["a"])
        .single("c", &["skipped", "b"])
        .with("after", json!(["a"]));
    engine.deploy(&graph).await;
    engine.start("deep", json!({"x": 1})).await;
    let worker = engine.worker(&graph).await;
    for output in ["from a", "from b"] {
        let claim = worker.claim_one().await;
        worker.accept(claim.complete(output)).await;
    }
    let last = worker.claim_one().await;
    assert_eq!(last.step, 3);
    let mut values = last.values.clone();
    values.sort_by_key(|(step, _)| *step);
    assert_eq!(values, [(-1, json!({"x": 1})), (2, json!("from b"))]);
}

// C7
#[tokio::test]
async fn map_tasks_receive_their_elements() {
    let engine = Engine::new().await;
    let graph = Graph::new("items").single("src", &[]).map("over_step", "src", &[]).map("over_input", "input", &[]);
    engine.deploy(&graph).await;
    let worker = engine.worker(&graph).await;
    for (count, checked) in [(4, vec![0, 1, 3]), (150, vec![0, 49, 99, 149])] {
        let elements: Vec<Value> = (0..count).map(|n| json!({"n": n})).collect();
        engine.start("items", elements.clone()).await;
        let mut seen = Vec::new();
        loop {
            let claims = worker.claim(100).await;
            if claims.is_empty() {
                break;
            }
            let settle: Vec<_> = claims.iter().map(|claim| claim.complete(elements.clone())).collect();
            worker.settle(&settle).await;
            seen.extend(claims);
        }
        assert!(seen.iter().all(|claim| claim.step != 0 || claim.task == 0));
        for step in [1, 2] {
            for task in &checked {
                let claim = seen.iter().find(|claim| claim.step == step && claim.task == *task).unwrap();
                assert_eq!(claim.item, Some(json!({"n": task})));
            }
            assert_eq!(seen.iter().filter(|claim| claim.step == step).count(), count as usize);
        }
    }
}

// C8
#[tokio::test]
async fn items_of_every_type_arrive_unchanged() {
    let engine = Engine::new().await;
    let graph = map_over_input();
    engine.deploy(&graph).await;
    let items = json!(["s", 1.5, {"a": 1}, true, null, [], [[1]], {"a": {"b": []}}]);
    engine.start("each", items.clone()).await;
    let mut claims = engine.worker(&graph).await.claim(10).await;
    claims.sort_by_key(|claim| claim.task);
    let received: Vec<Value> = claims.into_iter().map(|claim| claim.item.unwrap()).collect();
    assert_eq!(Value::from(received), items);
}

// C9
#[tokio::test]
async fn each_task_of_a_map_receives_further_dependencies_whole() {
    let engine = Engine::new().await;
    let graph = Graph::new("both").single("list", &[]).single("extra", &[]).map("each", "list", &["extra"]);
    engine.deploy(&graph).await;
    engine.start("both", 1).await;
    let worker = engine.worker(&graph).await;
    let roots = worker.claim(10).await;
    let outputs = [json!([10, 20]), json!({"whole": [1, 2]})];
    let settle: Vec<_> = roots.iter().map(|claim| claim.complete(outputs[claim.step as usize].clone())).collect();
    worker.settle(&settle).await;
    let mut claims = worker.claim(10).await;
    claims.sort_by_key(|claim| claim.task);
    assert_eq!(claims.iter().map(|claim| claim.item.clone().unwrap()).collect::<Vec<_>>(), [10, 20]);
    for claim in claims {
        assert_eq!(claim.dep(1), Some(&outputs[1]));
    }
}

// C10
#[tokio::test]
async fn two_failures_end_a_task_with_two_attempts() {
    let engine = Engine::new().await;
    let graph = Graph::new("twice").option("max_attempts", 2).option("base_delay_ms", 0).single("a", &[]);
    engine.deploy(&graph).await;
    let run = engine.start("twice", 1).await;
    let worker = engine.worker(&graph).await;
    let mut seen = vec![engine.tasks(run).await];
    for attempt in [1, 2] {
        let claim = worker.claim_one().await;
        assert_eq!(claim.attempt, attempt);
        seen.push(engine.tasks(run).await);
        worker.accept(claim.fail("boom")).await;
        seen.push(engine.tasks(run).await);
    }
    assert_eq!(seen, ["a.0=queued/0", "a.0=started/1", "a.0=queued/1", "a.0=started/2", "a.0=failed/2"]);
}

// C11 C13
#[tokio::test]
async fn an_exchange_claims_in_one_transaction_what_it_has_made_ready() {
    let engine = Engine::new().await;
    let graph = Graph::new("next").single("a", &[]).single("b", &["a"]);
    engine.deploy(&graph).await;
    engine.start("next", 1).await;
    let worker = engine.worker(&graph).await;
    let first = worker.claim_one().await;
    let reply = worker.exchange(1, &[first.complete(7)]).await;
    assert_eq!(reply.verdicts, ["accepted"]);
    assert_eq!((reply.claims[0].step, reply.claims[0].dep(0)), (1, Some(&json!(7))));
    let transactions: i64 = engine.value("select count(distinct s.xmin::text) from flow.step_state s").await;
    assert_eq!(transactions, 1, "settled and claimed rows were written by one transaction");
}

// C12
#[tokio::test]
async fn a_bad_batch_leaves_the_settlements_and_the_consequence_committed() {
    for is_corrupt in [true, false] {
        let engine = Engine::of_rows().await;
        let graph =
            Graph::new("next").option("base_delay_ms", 0).map("m", "input", &[]).single("b", &["m"]).single("c", &[]);
        engine.deploy(&graph).await;
        let run = engine.start("next", json!([1, 2])).await;
        let worker = engine.worker_of(&graph, "next", if is_corrupt { &[0, 1, 2] } else { &[0, 1] }).await;
        engine.run_sql("select test.put_off('infinity', 'step_index = 2')").await;
        let claims = worker.claim(2).await;
        assert_eq!(claims.len(), 2);
        engine.run_sql("select test.make_due()").await;
        if is_corrupt {
            engine.run_sql("select test.write_message('next', gen_random_uuid(), 0, -1, '-infinity')").await;
        }
        // One result ends a task for good, the other makes it wait again.
        let reply = worker.exchange(10, &[claims[0].complete(7), claims[1].fail("again")]).await;
        assert_eq!((reply.state.as_str(), reply.claims.len()), (if is_corrupt { "corrupt" } else { "misrouted" }, 0));
        assert_eq!(reply.verdicts, ["accepted", "accepted"]);
        assert!(reply.reason.contains("\"next\""), "{}", reply.reason);
        let (done, again) = (claims[0].task, claims[1].task);
        let tasks = engine.tasks(run).await;
        for expected in [format!("m.{done}=completed/1"), format!("m.{again}=queued/1"), "c.0=queued/0".to_owned()] {
            assert!(tasks.contains(&expected), "{tasks}");
        }
        assert_eq!(engine.value::<i64>("select count(*) from flow.attempt_error e where e.error = 'again'").await, 1);
        let paused = engine.words("select q.paused_why from flow.queue q where q.paused_at is not null").await;
        let disabled = engine.words("select concat_ws('|', n.name, n.disabled_why) from flow.worker_name n").await;
        let expected =
            if is_corrupt { (reply.reason, String::new()) } else { (String::new(), format!("hand|{}", reply.reason)) };
        assert_eq!((paused, disabled), expected);
        assert_eq!(worker.exchange(10, &[]).await.state, if is_corrupt { "paused" } else { "draining" });
        engine
            .run_sql("delete from flow.message where run_id not in (select run_id from flow.run); select flow.resume_queue('next'); select flow.enable_worker('hand')")
            .await;
        engine.worker(&graph).await.complete_all(|claim| json!(claim.step)).await;
        assert_eq!(engine.words("select r.status::text from flow.run r").await, "completed");
        engine.check().await;
    }
}

// C12
#[tokio::test]
async fn what_the_results_made_ready_is_handed_out_beside_a_corrupt_batch() {
    let engine = Engine::of_rows().await;
    let graph = Graph::new("next").single("a", &[]).single("b", &["a"]);
    let (run, worker, first) = first_held(&engine, &graph).await;
    engine.run_sql("select test.write_message('next', gen_random_uuid(), 0, -1)").await;
    let reply = worker.exchange(10, &[first.complete(7)]).await;
    // It was handed out before the queue was looked at; a worker that stops gives it back.
    assert_eq!((reply.state.as_str(), reply.claims.len()), ("corrupt", 1));
    assert_eq!(engine.tasks(run).await, "a.0=completed/1 b.0=started/1");
    assert_eq!(worker.release(&reply.claims).await, [true]);
    assert_eq!(engine.worker(&graph).await.exchange(10, &[]).await.state, "paused");
    engine.run_sql("delete from flow.message where run_id not in (select run_id from flow.run); select flow.resume_queue('next')").await;
    assert_eq!(engine.worker(&graph).await.claim_one().await.step, 1);
}

/// A run of a graph whose first step is held, with the worker.
async fn first_held<'a>(engine: &'a Engine, graph: &Graph) -> (uuid::Uuid, Hand<'a>, Claim) {
    engine.deploy(graph).await;
    let run = engine.start(graph.slug(), 1).await;
    let worker = engine.worker(graph).await;
    let first = worker.claim_one().await;
    (run, worker, first)
}

// C13
#[tokio::test]
async fn what_the_results_make_ready_is_handed_out_without_a_message() {
    let engine = Engine::of_rows().await;
    let graph = Graph::new("fan").single("a", &[]).single("b", &["a"]).single("c", &["a"]).single("d", &["a"]);
    let (run, worker, first) = first_held(&engine, &graph).await;
    engine.run_sql("create table sent as select * from flow.message; create function keep() returns trigger language plpgsql as $$ begin
                        insert into sent select new.*; return new; end $$;
                    create trigger keep before insert on flow.message for each row execute function keep()").await;
    // Of ten exchanges in a row the tenth keeps a slot for the queue.
    let tens = (first.batch / 10 + 1) * 10;
    let reply = worker.exchange_as(tens + 1, 2, &[first.complete(7)], &[]).await.unwrap();
    assert_eq!((reply.claims.len(), reply.claims[0].dep(0), reply.claims[0].attempt), (2, Some(&json!(7)), 1));
    assert_eq!(engine.value::<i64>("select count(*) from sent").await, 1, "fewer slots than ready steps");
    engine.check().await;
    // Its lost reply is answered with the same work.
    let again = worker.exchange_as(tens + 1, 2, &[first.complete(7)], &[]).await.unwrap();
    assert_eq!((again.claims.len(), again.verdicts), (2, vec!["already_settled".to_owned()]));
    let last = worker.exchange_as(tens + 2, 9, &complete_each(&reply.claims, |_| json!(1)), &[]).await.unwrap();
    assert_eq!(last.claims.len(), 1);
    worker.exchange_as(tens + 3, 0, &[last.claims[0].complete(1)], &[]).await.unwrap();
    assert_eq!(engine.run(run).await["status"], "completed");
    engine.check().await;
}

// C13
#[tokio::test]
async fn what_may_not_be_handed_out_gets_a_message() {
    let both = || Graph::new("two").single("a", &[]).single("b", &["a"]);
    for (graph, before) in [
        (both().step_option("start_delay_ms", 60_000), ""),
        (both(), "select flow.pause_queue('two', 'for a test')"),
        (both(), "update flow.worker set draining_at = now()"),
        (both(), "update flow.process set lease_until = now()"),
        (both(), "update flow.worker set steps = '{0}'"),
    ] {
        let engine = Engine::new().await;
        let (run, worker, first) = first_held(&engine, &graph).await;
        engine.run_sql(before).await;
        let limit = if before.contains("steps") { 0 } else { 10 };
        let reply = worker.exchange(limit, &[first.complete(1)]).await;
        assert_eq!((reply.verdicts, reply.claims.len()), (vec!["accepted".to_owned()], 0), "{before}");
        assert_eq!((engine.tasks(run).await.as_str(), engine.messages().await), ("a.0=completed/1 b.0=queued/0", 1));
        engine.check().await;
    }
}

// C13
#[tokio::test]
async fn a_run_that_fails_with_the_same_batch_hands_nothing_out() {
    let engine = Engine::new().await;
    let graph = Graph::new("both").single("a", &[]).single("b", &[]).single("c", &["a"]);
    engine.deploy(&graph).await;
    let run = engine.start("both", 1).await;
    let worker = engine.worker(&graph).await;
    let mut claims = worker.claim(10).await;
    claims.sort_by_key(|claim| claim.step);
    let reply = worker.exchange(10, &[claims[0].complete(1), claims[1].fail_for_good("no")]).await;
    assert_eq!((reply.verdicts, reply.claims), (vec!["accepted".to_owned(); 2], vec![]));
    assert_eq!(engine.steps(run).await, "a=completed b=failed c=cancelled");
    engine.check().await;
}

// C13
#[tokio::test]
async fn a_long_chain_on_every_slot_does_not_keep_a_message_waiting() {
    for is_pgmq in [false, true] {
        let engine = if is_pgmq { Engine::of_pgmq().await } else { Engine::of_rows().await };
        let chain = chain_of(30);
        let (_, worker, mut held) = first_held(&engine, &chain).await;
        let other: uuid::Uuid =
            sqlx::query_scalar("select flow.start_run('long', '2')").fetch_one(engine.pool()).await.unwrap();
        if !is_pgmq {
            // It is older than the chain, such as one that was tried before.
            engine.run_sql("update flow.step_state set age = '2020-01-01' where run_id = (select run_id from flow.message); update flow.message set age = '2020-01-01'").await;
        }
        let mut exchanges = 0;
        while held.run != other {
            exchanges += 1;
            let reply = worker.exchange_as(held.batch + 1, 1, &[held.complete(1)], &[]).await.unwrap();
            held = reply.claims.into_iter().next().unwrap();
        }
        // In order it is next at once; where there is none, a slot in ten exchanges is kept for it.
        let most = if is_pgmq { 10 } else { 1 };
        assert!((1..=most).contains(&exchanges), "after {exchanges} exchanges of one slot, pgmq: {is_pgmq}");
        engine.check().await;
    }
}

/// A chain of so many steps.
fn chain_of(length: usize) -> Graph {
    let names: Vec<String> = (0..length).map(|at| format!("s{at}")).collect();
    names.iter().enumerate().fold(Graph::new("long"), |graph, (at, name)| match at {
        0 => graph.single(name, &[]),
        _ => graph.single(name, &[names[at - 1].as_str()]),
    })
}
