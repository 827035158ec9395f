//! Queues: their names and owners, what becomes of messages that fit nothing, and pausing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use flow_tests::support::{Engine, Graph};
use serde_json::{Value, json};

fn shop() -> Graph {
    Graph::new("Shop").single("reserve", &[]).single("Ship", &[]).step_queues()
}

fn each() -> Graph {
    Graph::new("each").map("m", "input", &[])
}

/// The names of all registered queues, in order.
async fn queues(engine: &Engine) -> String {
    engine.words("select q.name from flow.queue q order by q.queue_id").await
}

async fn refusal(engine: &Engine, graph: &Graph) -> String {
    let error = engine.try_deploy(&graph.definition()).await.unwrap_err();
    let error = error.as_database_error().expect("the server refuses");
    assert_eq!(engine.value::<i64>("select count(*) from flow.flow").await, 0);
    format!("{}: {}", error.code().unwrap(), error.message())
}

// Q1 Q7
#[tokio::test]
async fn a_plain_flow_has_one_queue_and_a_step_queued_one_a_step() {
    let engine = Engine::with(&Graph::new("MyFlow").single("a", &[]).single("B", &["a"])).await;
    assert_eq!(queues(&engine).await, "myflow");
    engine.deploy(&shop()).await;
    let owned = "select concat_ws('/', q.name, q.ownership, f.slug, q.paused_at is null) from flow.queue q left join flow.flow f using (flow_id) order by 1";
    assert_eq!(
        engine.words(owned).await,
        "myflow/private/MyFlow/t shop__reserve/private/Shop/t shop__ship/private/Shop/t"
    );
    let used = "select concat(s.slug, '=', q.name) from flow.step s join flow.queue q using (queue_id) order by s.flow_id, s.step_index";
    assert_eq!(engine.words(used).await, "a=myflow B=myflow reserve=shop__reserve Ship=shop__ship");
    engine.check().await;
}

// Q2
#[tokio::test]
async fn a_name_that_does_not_fit_falls_back_to_the_index() {
    let flow = "F".repeat(20);
    let (fits, long) = ("s".repeat(25), "t".repeat(26));
    let graph = Graph::new(&flow).single("a", &[]).single(&fits, &[]).single(&long, &[]).single("z", &[]).step_queues();
    let engine = Engine::with(&graph).await;
    let lower = flow.to_lowercase();
    assert_eq!(queues(&engine).await, format!("{lower}__2 {lower}__a {lower}__{fits} {lower}__z"));
    assert_eq!(format!("{lower}__{fits}").len(), 47);
    engine.check().await;
}

// Q3
#[tokio::test]
async fn a_step_for_which_no_name_fits_makes_the_whole_flow_refused() {
    let flow = "f".repeat(44);
    let steps = |count: usize| {
        (0..count).fold(Graph::new(&flow).step_queues(), |graph, n| graph.single(&format!("step{n}"), &[]))
    };
    let engine = Engine::new().await;
    let text = refusal(&engine, &steps(11)).await;
    let named = format!(
        "neither queue name \"{flow}__step10\" (52 characters) nor \"{flow}__10\" (48) fits into 47 characters"
    );
    assert!(text.starts_with("WF009") && text.contains("step \"step10\"") && text.contains(&named), "{text}");
    assert_eq!(queues(&engine).await, "");
    engine.deploy(&steps(10)).await;
    assert_eq!(engine.value::<i64>("select count(*) from flow.queue q where length(q.name) = 47").await, 10);
    engine.check().await;
}

// Q4
#[tokio::test]
async fn a_step_queued_flow_with_45_characters_is_refused() {
    let flow = "f".repeat(45);
    let engine = Engine::new().await;
    assert!(refusal(&engine, &Graph::new(&flow).single("a", &[]).step_queues()).await.contains("(48 characters)"));
    assert_eq!(engine.deploy(&Graph::new(&flow).single("a", &[])).await["result"], "created");
    engine.check().await;
}

// Q8
#[tokio::test]
async fn a_queue_of_another_flow_is_not_adopted() {
    let engine = Engine::new().await;
    engine.run_sql("insert into flow.queue (name, ownership, delivery) values ('shop__ship', 'shared', 'rows')").await;
    let text = refusal(&engine, &shop()).await;
    assert!(text.starts_with("WF007: queue \"shop__ship\" belongs to no flow: it is shared"), "{text}");
    engine
        .run_sql(
            "delete from flow.queue;
             insert into flow.flow (slug, queue_mode, step_count, is_plain, options, notes) values ('owner', 'plain', 0, true, '{}', '{}');
             insert into flow.queue (name, ownership, flow_id, delivery) select 'shop__ship', 'private', flow_id, 'rows' from flow.flow",
        )
        .await;
    let error = engine.try_deploy(&shop().definition()).await.unwrap_err().to_string();
    assert!(error.contains("queue \"shop__ship\" belongs to flow \"owner\""), "{error}");
    assert_eq!(engine.words("select f.slug from flow.flow f").await, "owner");
}

// Q23
#[tokio::test]
async fn a_queue_spelled_with_capitals_is_found_and_quoted() {
    let engine = Engine::of_pgmq().await;
    engine.run_sql("select pgmq.create('MyFlow')").await;
    let text = refusal(&engine, &Graph::new("myflow").single("a", &[])).await;
    assert!(text.contains("\"MyFlow\"") && text.contains("drop_queue('MyFlow')"), "{text}");
    engine.run_sql("update pgmq.meta set queue_name = 'gone'").await;
    let text = refusal(&engine, &Graph::new("MYFLOW").single("a", &[])).await;
    assert!(text.starts_with("WF007"), "{text}");
    engine.check().await;
}

// Q9
#[tokio::test]
async fn a_task_keeps_its_queue_when_the_route_changes() {
    let graph = Graph::new("moved").option("base_delay_ms", 0).map("m", "input", &[]).with("when_exhausted", "skip");
    let engine = Engine::with(&graph).await;
    engine.deploy(&Graph::new("elsewhere").single("a", &[])).await;
    let run = engine.start("moved", json!([0, 1, 2, 3])).await;
    let cancelled = engine.start("moved", json!([0])).await;
    let worker = engine.worker(&graph).await;
    engine.run_sql("update flow.step set queue_id = (select queue_id from flow.queue where name = 'elsewhere')").await;
    engine.cancel(cancelled).await;
    assert_eq!(engine.value::<i64>("select count(*) from test.messages() m where m.queue = 'moved'").await, 4);
    let claims = worker.claim(10).await;
    assert_eq!(worker.heartbeat(&claims).await.1, ["held"; 4]);
    worker.accept(claims[0].complete(0)).await;
    worker.accept(claims[1].fail("again")).await;
    let again = worker.claim_one().await;
    assert_eq!((again.task, again.attempt), (claims[1].task, 2));
    engine.pass_time().await;
    let taken = worker.claim(10).await;
    worker.accept(taken[0].fail_for_good("no")).await;
    assert_eq!(engine.task_counts(run, "m").await, "1 completed, 1 failed, 2 skipped");
    assert_eq!(engine.messages().await, 0);
    assert_eq!(engine.value::<i64>("select count(*) from test.messages() m where m.queue = 'elsewhere'").await, 0);
    engine.check().await;
}

// Q9
#[tokio::test]
async fn the_database_refuses_to_move_work() {
    let engine = Engine::with(&each().single("s", &[])).await;
    engine.start("each", json!([1])).await;
    for change in [
        "update flow.task set queue_id = queue_id + 1",
        "update flow.step_state set queue_id = queue_id + 1 where step_index = 1",
    ] {
        let error = sqlx::raw_sql(change).execute(engine.pool()).await.unwrap_err();
        assert_eq!(error.as_database_error().unwrap().code().unwrap(), "WF020");
    }
    engine.run_sql("update flow.task set queue_id = queue_id").await;
    engine.check().await;
}

// Q10
#[tokio::test]
async fn equal_message_ids_in_two_queues_are_two_messages() {
    let (one, two) = (Graph::new("one").single("a", &[]), Graph::new("two").single("a", &[]));
    let engine = Engine::of_pgmq().await;
    engine.deploy(&one).await;
    engine.deploy(&two).await;
    let (run, other) = (engine.start("one", 1).await, engine.start("two", 1).await);
    assert_eq!(engine.words("select ss.message_id::text from flow.step_state ss").await, "1 1");
    let (worker, other_worker) = (engine.worker(&one).await, engine.worker(&two).await);
    let (claim, other_claim) = (worker.claim_one().await, other_worker.claim_one().await);
    assert_eq!(worker.settle(&[other_claim.complete(1)]).await, ["lost"]);
    worker.accept(claim.complete(1)).await;
    assert_eq!(
        (engine.tasks(run).await.as_str(), engine.tasks(other).await.as_str()),
        ("a.0=completed/1", "a.0=started/1")
    );
    assert_eq!(other_worker.heartbeat(&[other_claim]).await.1, ["held"]);
    engine.check().await;
}

// Q11
#[tokio::test]
async fn exchanges_do_not_read_the_list_of_queues() {
    let graph = each();
    let engine = Engine::of_pgmq().await;
    engine.deploy(&graph).await;
    engine.start("each", vec![0; 1000]).await;
    let worker = engine.worker(&graph).await;
    engine.run_sql("alter table pgmq.meta rename to away").await;
    let mut settle = Vec::new();
    for _ in 0..1000 {
        let reply = worker.exchange(1, &settle).await;
        settle = reply.claims.iter().map(|claim| claim.complete(1)).collect();
    }
    worker.settle(&settle).await;
    assert_eq!(engine.words("select r.status::text from flow.run r").await, "completed");
    engine.check().await;
}

// Q16 Q18
#[tokio::test]
async fn a_message_that_fits_no_task_pauses_its_queue() {
    let graph = each();
    let engine = Engine::of_pgmq().await;
    engine.deploy(&graph).await;
    let run = engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let message = |step: i32, task: i32| json!({"run": run, "step": step, "task": task});
    for body in [
        json!({"run": uuid::Uuid::now_v7(), "step": 0, "task": 0}),
        message(1, 0),
        message(0, 2),
        message(0, 1),
        json!({"run": "secret", "step": 0, "task": 0}),
        json!({"run": run, "step": "secret", "task": 0}),
        json!({"run": run, "step": 99_999_999_999_i64, "task": 0}),
        json!({"run": run, "step": 0}),
        json!("secret"),
        json!([1]),
        json!(null),
    ] {
        let id: i64 = sqlx::query_scalar("insert into pgmq.q_each (vt, message) values (now(), $1) returning msg_id")
            .bind(&body)
            .fetch_one(engine.pool())
            .await
            .unwrap();
        let reply = worker.exchange(10, &[]).await;
        assert_eq!((reply.state.as_str(), reply.claims.len()), ("corrupt", 0), "{body}");
        assert_eq!(reply.reason, format!("queue \"each\" holds messages that do not fit their work: {id}"));
        let paused = "select concat_ws('|', q.paused_at is not null, q.paused_by, q.paused_why) from flow.queue q";
        assert_eq!(engine.words(paused).await, format!("t|worker {}|{}", worker.id, reply.reason));
        assert_eq!((engine.visible().await, engine.messages().await), (3, 3));
        engine.run_sql("delete from pgmq.q_each where msg_id > 2; select flow.resume_queue('each')").await;
    }
    engine.run_sql("insert into pgmq.q_each (vt, message) values (now(), null)").await;
    assert_eq!(worker.exchange(10, &[]).await.state, "corrupt");
    assert_eq!(engine.tasks(run).await, "m.0=queued/0 m.1=queued/0");
}

// Q16
#[tokio::test]
async fn a_message_in_another_queue_than_its_tasks_is_corrupt() {
    let graph = shop();
    let engine = Engine::with(&graph).await;
    engine.start("Shop", 1).await;
    engine
        .run_sql("select test.write_message('shop__ship', m.run_id, m.step_index, m.task_index) from test.messages() m")
        .await;
    let worker = engine.worker_of(&graph, "shop__ship", &[1]).await;
    assert_eq!(worker.exchange(10, &[]).await.state, "corrupt");
    let other = engine.worker_of(&graph, "shop__reserve", &[0]).await;
    assert_eq!(other.claim(10).await.len(), 1);
}

/// Every row that a claim might change, with the transaction that wrote it; of messages all but when they are visible and how often they were read.
async fn everything(engine: &Engine) -> Value {
    engine
        .value(
            "select jsonb_build_object(
                 'run', (select jsonb_agg(jsonb_build_array(r, r.xmin::text) order by r.run_id) from flow.run r),
                 'step', (select jsonb_agg(jsonb_build_array(s, s.xmin::text) order by s.run_id, s.step_index) from flow.step_state s),
                 'task', (select jsonb_agg(jsonb_build_array(t, t.xmin::text) order by t.run_id, t.step_index, t.task_index) from flow.task t),
                 'hand', (select jsonb_agg(h order by h.worker_id, h.batch) from flow.hand h),
                 'error', (select jsonb_agg(e order by e.run_id, e.step_index, e.task_index) from flow.attempt_error e),
                 'suspect', (select jsonb_agg(s order by s.run_id, s.step_index, s.task_index) from flow.suspect s),
                 'message', (select jsonb_agg(to_jsonb(m) - 'due_at' order by m.queue, m.run_id, m.step_index, m.task_index)
                             from test.messages() m))",
        )
        .await
}

// Q17
#[tokio::test]
async fn a_batch_with_one_bad_message_changes_nothing_else() {
    for is_pgmq in [false, true] {
        for is_corrupt in [true, false] {
            let graph = Graph::new("each").map("m", "input", &[]).single("b", &[]);
            let engine = if is_pgmq { Engine::of_pgmq().await } else { Engine::of_rows().await };
            engine.deploy(&graph).await;
            engine.start("each", vec![0; if is_corrupt { 8 } else { 9 }]).await;
            // Of the work one is terminal with its message still there, and one was lost by its worker.
            engine.worker(&graph).await.claim(1).await;
            engine.pass_time().await;
            engine
                .run_sql("update flow.task set status = 'completed', ended_at = now() where task_index = 7; update flow.step_state set remaining_tasks = remaining_tasks - 1 where step_index = 0")
                .await;
            let worker = if is_corrupt {
                engine.run_sql("select test.write_message('each', gen_random_uuid(), 0, 0, '-infinity')").await;
                engine.worker(&graph).await
            } else {
                engine.worker_of(&graph, "each", &[0]).await
            };
            let suspects: i64 = engine.value("select count(*) from flow.suspect").await;
            assert_eq!((engine.messages().await, engine.visible().await, suspects), (10, 10, 0));
            let before = everything(&engine).await;
            let reply = worker.exchange(10, &[]).await;
            assert_eq!(reply.state, if is_corrupt { "corrupt" } else { "misrouted" });
            assert_eq!(reply.claims, []);
            assert_eq!(everything(&engine).await, before);
            assert_eq!(engine.visible().await, 10, "all are visible at once");
            let paused: i64 = engine.value("select count(*) from flow.queue q where q.paused_at is not null").await;
            let disabled: i64 = engine.value("select count(*) from flow.worker_name").await;
            assert_eq!((paused, disabled), if is_corrupt { (1, 0) } else { (0, 1) });
        }
    }
}

// Q19 Q20
#[tokio::test]
async fn a_paused_queue_gives_nothing_and_takes_everything_else() {
    let graph = each();
    let engine = Engine::with(&graph).await;
    engine.start("each", json!([1, 2])).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    engine.run_sql("select flow.pause_queue('Each', 'holiday')").await;
    let run = engine.start("each", json!([3])).await;
    assert_eq!(worker.heartbeat(&claims).await.1, ["held"; 2]);
    let reply = worker.exchange(10, &[claims[0].complete(1), claims[1].complete(2)]).await;
    assert_eq!((reply.state.as_str(), reply.reason.as_str(), reply.claims.len()), ("paused", "holiday", 0));
    assert_eq!(reply.verdicts, ["accepted", "accepted"]);
    let restarted = engine.worker(&graph).await;
    assert_eq!(restarted.exchange(10, &[]).await.reason, "holiday");
    assert_eq!(engine.tasks(run).await, "m.0=queued/0");

    for _ in 0..2 {
        engine.run_sql("select flow.resume_queue('each')").await;
        assert_eq!(engine.words("select concat(q.paused_at, q.paused_by, q.paused_why) from flow.queue q").await, "");
    }
    assert_eq!(restarted.claim_one().await.run, run);
    for call in [
        "select flow.pause_queue('none', 'x')",
        "select flow.resume_queue('none')",
        "select flow.set_on_remove('none', 'delete')",
    ] {
        let error = sqlx::raw_sql(call).execute(engine.pool()).await.unwrap_err();
        assert_eq!(error.as_database_error().unwrap().code().unwrap(), "WF007");
    }
    engine.check().await;
}

// Q21
#[tokio::test]
async fn a_flooded_step_does_not_delay_another_one() {
    let graph = Graph::new("flood").map("ship", "input", &[]).single("quick", &[]).step_queues();
    let engine = Engine::with(&graph).await;
    let run = engine.start("flood", vec![0; 1000]).await;
    let quick = engine.worker_of(&graph, "flood__quick", &[1]).await;
    let claim = quick.claim_one().await;
    quick.accept(claim.complete(1)).await;
    assert_eq!(engine.steps(run).await, "ship=started quick=completed");
    engine.check().await;
}

// Q22
#[tokio::test]
async fn a_task_of_a_step_that_the_worker_does_not_serve_disables_its_name() {
    let graph = Graph::new("pair").single("a", &[]).single("b", &[]);
    let engine = Engine::with(&graph).await;
    let run = engine.start("pair", 1).await;
    let wrong = engine.worker_of(&graph, "pair", &[0]).await;
    let reply = wrong.exchange(10, &[]).await;
    assert_eq!((reply.state.as_str(), reply.claims.len()), ("misrouted", 0));
    assert_eq!(
        reply.reason,
        "queue \"pair\" holds work that worker \"hand\" does not serve, of step \"b\" of flow \"pair\""
    );
    assert_eq!(
        engine
            .words("select concat_ws('|', n.name, n.disabled_at is not null, n.disabled_why) from flow.worker_name n")
            .await,
        format!("hand|t|{}", reply.reason)
    );
    assert_eq!(wrong.exchange(10, &[]).await.state, "draining");
    assert_eq!(engine.tasks(run).await, "a.0=queued/0 b.0=queued/0");
    assert_eq!(engine.words("select concat(q.paused_at) from flow.queue q").await, "");

    sqlx::query("select flow.register_worker(7, $2, 'other', 'pair', $1, 'pair', '{0,1}', '{}', 1)")
        .bind(graph.shape())
        .bind(engine.process(std::time::Duration::from_secs(30)).await)
        .execute(engine.pool())
        .await
        .unwrap();
    assert_eq!(engine.hand(7).claim(10).await.len(), 2);
    engine.check().await;
}

// Q24 Q15
#[tokio::test]
async fn a_queue_set_to_archive_keeps_each_removed_message_once() {
    let graph = each();
    let engine = Engine::of_pgmq().await;
    engine.deploy(&graph).await;
    engine.run_sql("select flow.set_on_remove('each', 'archive')").await;
    let run = engine.start("each", json!([1, 2, 3])).await;
    let worker = engine.worker(&graph).await;
    let claims = worker.claim(2).await;
    worker.accept(claims[0].complete(1)).await;
    worker.accept(claims[1].fail_for_good("no")).await;
    let archived = "select a.msg_id::text from pgmq.a_each a order by a.msg_id";
    assert_eq!(engine.words(archived).await, "1 2 3");
    assert_eq!(engine.messages().await, 0);
    // One of them comes a second time: it is removed, and stays in the archive once.
    let body = json!({"run": run, "step": 0, "task": 0});
    sqlx::query("insert into pgmq.q_each (msg_id, vt, message) overriding system value values (1, now(), $1)")
        .bind(body)
        .execute(engine.pool())
        .await
        .unwrap();
    assert_eq!(worker.exchange(10, &[]).await.state, "ok");
    assert_eq!((engine.words(archived).await.as_str(), engine.messages().await), ("1 2 3", 0));

    engine
        .run_sql("update pgmq.a_each set archived_at = '2026-02-01'::timestamptz + (msg_id - 2) * interval '1 ms'")
        .await;
    engine.run_sql("select flow.prune('2026-02-01', 1)").await;
    assert_eq!(engine.words(archived).await, "2 3");
    engine.run_sql("select flow.set_on_remove('each', 'delete')").await;
    engine.start("each", json!([1])).await;
    engine.worker(&graph).await.complete_all(|_| json!(1)).await;
    assert_eq!(engine.words(archived).await, "2 3");
    let error = sqlx::raw_sql("select flow.set_on_remove('each', 'keep')").execute(engine.pool()).await.unwrap_err();
    assert_eq!(error.as_database_error().unwrap().code().unwrap(), "WF012");
    engine.check().await;
}

// Q25
#[tokio::test]
async fn queues_without_workers_are_shown_with_what_waits() {
    let graph = Graph::new("pools").single("a", &[]).single("b", &["a"]).map("c", "input", &[]).step_queues();
    let engine = Engine::with(&graph).await;
    engine.start("pools", json!([1, 2])).await;
    let shown = "select concat_ws('/', q.queue, q.messages, q.visible, q.oldest_at is not null, q.workers) from flow.queues q order by q.queue_id";
    let a = engine.worker_of(&graph, "pools__a", &[0]).await;
    assert_eq!(engine.words(shown).await, "pools__a/1/1/t/1 pools__b/0/0/f/0 pools__c/2/2/t/0");
    let claim = a.claim_one().await;
    a.accept(claim.complete(1)).await;
    engine.worker_of(&graph, "pools__b", &[1]).await;
    assert_eq!(engine.words(shown).await, "pools__a/0/0/f/1 pools__b/1/1/t/1 pools__c/2/2/t/0");
    engine.check().await;
}

/// Flows with step queues whose names come close to each other: one chain of words cut into flow and step at every place, and flows and
/// steps that are the same but for their last letter and too long to be readable.
fn close_flows() -> BTreeMap<String, BTreeSet<String>> {
    let mut flows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let words = ["a", "b", "a1", "i", "s2"];
    let chains = (0..625).map(|n: usize| [n / 125, n / 25 % 5, n / 5 % 5, n % 5].map(|place| words[place]));
    for chain in chains {
        for cut in 1..4 {
            flows.entry(chain[..cut].join("_")).or_default().insert(chain[cut..].join("_"));
        }
    }
    let letters = || ('a'..='z').chain('0'..='9');
    for (first, last) in (0..150).map(|n| (n / 36, n % 36)).map(|(a, b)| (letters().nth(a), letters().nth(b))) {
        let flow = format!("{}{}{}", "l".repeat(40), first.unwrap(), last.unwrap());
        // Readable names of 46, and names by index, of which those below ten and those above have different lengths.
        let short = letters().map(|letter| format!("s{letter}"));
        flows
            .entry(flow)
            .or_default()
            .extend(short.chain(letters().map(|letter| format!("{}{letter}", "s".repeat(60)))));
    }
    flows
}

// Q5
#[tokio::test]
async fn queue_names_are_unique_and_pgmq_takes_them() {
    let engine = Engine::of_pgmq().await;
    let flows = close_flows();
    let spellings: [fn(&str) -> String; 3] =
        [str::to_owned, str::to_uppercase, |slug| slug[..1].to_uppercase() + &slug[1..]];
    let (mut shapes, mut owners) = (Vec::new(), Vec::new());
    for (flow, steps) in &flows {
        for spelling in spellings {
            let spelled: Vec<_> = steps.iter().map(|step| json!({"slug": spelling(step)})).collect();
            let plain = json!({"slug": spelling(flow), "queue_mode": "plain", "steps": [spelled[0]]});
            shapes.extend([plain, json!({"slug": spelling(flow), "queue_mode": "step_queues", "steps": spelled})]);
            owners.push((flow.as_str(), None));
            owners.extend(steps.iter().map(|step| (flow.as_str(), Some(step.as_str()))));
        }
    }
    let legal = "select count(*) from unnest($1::jsonb[]) f, jsonb_array_elements(f -> 'steps') s
                 where flow.slug_error(f ->> 'slug', 47) is not null or flow.slug_error(s ->> 'slug', 128) is not null";
    assert_eq!(sqlx::query_scalar::<_, i64>(legal).bind(&shapes).fetch_one(engine.pool()).await.unwrap(), 0);
    let names = "select q.queue from unnest($1::jsonb[]) with ordinality f(shape, ord)
                 cross join lateral flow.list_queues(f.shape) q order by f.ord, q.step_index";
    let names: Vec<Option<String>> = sqlx::query_scalar(names).bind(&shapes).fetch_all(engine.pool()).await.unwrap();
    assert_eq!(names.len(), owners.len());
    let mut owner_of: HashMap<String, (&str, Option<&str>)> = HashMap::new();
    for (name, owner) in names.into_iter().zip(owners) {
        let name = name.unwrap_or_else(|| panic!("{owner:?} has no name"));
        let first = *owner_of.entry(name.clone()).or_insert(owner);
        assert_eq!(first, owner, "both have the name {name}");
    }
    assert!(owner_of.len() > 10_000, "{} names", owner_of.len());
    let by_index = owner_of.keys().filter(|name| name.rsplit("__").next().unwrap().parse::<u32>().is_ok()).count();
    assert!(by_index > 5_000, "{by_index} names by index");
    let names: Vec<String> = owner_of.into_keys().collect();
    let taken = "select count(pgmq.validate_queue_name(n)) from unnest($1::text[]) n";
    sqlx::query(taken).bind(names).execute(engine.pool()).await.unwrap();
    engine.check().await;
}
