//! A changed shape in a development database, with the old and the new program in processes of their own.

use std::time::Duration;

use flow_runtime::{
    FlowBuilder, JsonFlow, JsonHandler, StepBuilder,
    error::{DeployError, RunError, WorkerError},
    prelude::*,
};
use flow_tests::{
    flows::Tick,
    support::{TestDb, eventually},
};
use serde_json::{Value, json};

use crate::rollout::{Rehearsal, check_ended};

/// The name of the old program's worker, and of the new one's.
const OLD: &str = "parcels-old-1";
const NEW: &str = "parcels-new-1";

async fn in_development() -> Rehearsal {
    let rehearsal = Rehearsal::new().await;
    rehearsal.sql("select flow.set_setting('environment', '\"development\"')").await;
    rehearsal
}

/// All that a database holds of one flow, without the times of heartbeats.
async fn everything_of(test: &TestDb, slug: &str) -> Value {
    let query = "select jsonb_build_object(
            'flow', to_jsonb(f),
            'steps', (select jsonb_agg(s order by s.step_index) from flow.step s where s.flow_id = f.flow_id),
            'queues', (select jsonb_agg(q order by q.queue_id) from flow.queue q
                       where q.queue_id in (select s.queue_id from flow.step s where s.flow_id = f.flow_id)),
            'contract', (select jsonb_agg(c order by c.step_index) from flow.contract c where c.flow_id = f.flow_id),
            'runs', (select jsonb_agg(r order by r.run_id) from flow.run r where r.flow_id = f.flow_id),
            'states', (select jsonb_agg(s order by s.run_id, s.step_index) from flow.step_state s where s.flow_id = f.flow_id),
            'tasks', (select jsonb_agg(t order by t.run_id, t.step_index, t.task_index)
                      from flow.task t where t.flow_id = f.flow_id),
            'workers', (select jsonb_agg(to_jsonb(w) - 'draining_at' order by w.worker_id) from flow.worker w
                        where w.flow_id = f.flow_id))
        from flow.flow f where f.slug = $1";
    sqlx::query_scalar(query).bind(slug).fetch_one(test.pool()).await.unwrap()
}

/// How many workers of a flow are asked to drain.
async fn draining(rehearsal: &Rehearsal) -> i64 {
    rehearsal.number("select count(*) from flow.worker where draining_at is not null and stopped_at is null").await
}

// P15
#[tokio::test(flavor = "multi_thread")]
async fn a_recreation_waits_for_the_old_program_and_touches_no_other_flow() {
    let rehearsal = in_development().await;
    let mut bystander = crate::process::start(&["tick", rehearsal.test.url(), "30000"]);
    eventually("the other flow is deployed", async || {
        rehearsal.number("select count(*) from flow.worker where stopped_at is null").await == 1
    })
    .await;
    assert_eq!(rehearsal.client.start::<Tick>(&7).await.unwrap().wait().await.unwrap().only, 7);
    let untouched = everything_of(&rehearsal.test, "tick").await;

    let old = rehearsal.old(OLD);
    eventually("the old worker works", async || rehearsal.alive(&[OLD]).await == 1).await;
    let ended = rehearsal.run("parcels", "ended", "").await;
    assert_eq!(ended.wait().await.unwrap(), json!({"send": "ended, unweighed"}));
    let held = rehearsal.run("parcels", "held", "pack").await;
    rehearsal.at_work(1).await;

    // The new program waits while the old one's handler runs: nothing is deleted, and it does not work.
    let _new = rehearsal.new_program("in_place", NEW);
    eventually("the old worker is asked to drain", async || draining(&rehearsal).await > 0).await;
    assert_eq!(draining(&rehearsal).await, 1, "no worker of another flow is asked");
    assert_eq!((rehearsal.alive(&[OLD]).await, rehearsal.alive(&[NEW]).await), (1, 0));
    assert_eq!(rehearsal.number("select count(*) from flow.runs where flow = 'parcels'").await, 2);
    let slugs = "select count(*) from flow.step where slug in ('pack', 'send')";
    assert_eq!(rehearsal.number(slugs).await, 2);

    // Then the flow begins anew, without its runs, and with its queue.
    rehearsal.open("pack");
    check_ended(vec![old]).await;
    eventually("the new worker works", async || rehearsal.alive(&[NEW]).await == 1).await;
    for run in [ended, held] {
        assert!(matches!(run.status().await, Err(RunError::NotFound(_))), "a run of the old shape is left");
    }
    let left = "select count(*) from flow.runs where flow = 'parcels'";
    assert_eq!(rehearsal.number(left).await, 0);
    let steps = "select string_agg(s.slug, ' ' order by s.step_index) from flow.step s join flow.flow f using (flow_id)
                 where f.slug = 'parcels'";
    let steps: String = sqlx::query_scalar(steps).fetch_one(rehearsal.test.pool()).await.unwrap();
    assert_eq!(steps, "pack weigh send");
    assert_eq!(rehearsal.number("select count(*) from test.messages() m where m.queue = 'parcels'").await, 0);
    let after = rehearsal.run("parcels", "after", "").await;
    assert_eq!(after.wait().await.unwrap(), json!({"send": "after, 5 g"}));

    // The other flow has all it had, and its worker still works.
    assert_eq!(everything_of(&rehearsal.test, "tick").await, untouched);
    assert_eq!(rehearsal.client.start::<Tick>(&8).await.unwrap().wait().await.unwrap().only, 8);
    bystander.signal("TERM");
    assert!(bystander.ended().await.0);
}

/// Another shape of the rollout's flow, whose worker waits for the old one's for half a second.
fn impatient(db: &Db) -> Worker {
    let graph = FlowBuilder::new("parcels").step(StepBuilder::single("post"));
    let flow = JsonFlow::builder(graph).handler("post", JsonHandler::new(async |_| Ok(Value::Null))).build().unwrap();
    Worker::builder(db).json(flow).name(NEW).drain_wait(Duration::from_millis(500)).build().unwrap()
}

// P20
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_an_old_program_that_goes_on_ends_deletes_nothing_and_names_it() {
    let rehearsal = in_development().await;
    let old = rehearsal.old(OLD);
    eventually("the old worker works", async || rehearsal.alive(&[OLD]).await == 1).await;
    let ended = rehearsal.run("parcels", "ended", "").await;
    ended.wait().await.unwrap();
    let held = rehearsal.run("parcels", "held", "pack").await;
    rehearsal.at_work(1).await;
    let old_id = rehearsal.number("select worker_id from flow.worker").await;
    let before = everything_of(&rehearsal.test, "parcels").await;

    let db = Db::new(rehearsal.test.url()).unwrap();
    let start = tokio::time::timeout(Duration::from_secs(30), impatient(&db).start()).await;
    let Err(WorkerError::Deploy(DeployError::StillAlive { slug, workers, .. })) = start.expect("the wait is bounded")
    else {
        panic!("a flow with a worker at work was made anew")
    };
    assert_eq!((slug.as_str(), workers), ("parcels", vec![format!("{old_id} ({OLD})")]));
    assert_eq!(everything_of(&rehearsal.test, "parcels").await, before);
    assert_eq!((draining(&rehearsal).await, rehearsal.alive(&[NEW]).await), (0, 0), "the request is withdrawn");

    // What was there goes on: here or with the old program's next process the held run ends in its own shape.
    rehearsal.open("pack");
    check_ended(vec![old]).await;
    let _next = rehearsal.old(OLD);
    assert_eq!(held.wait().await.unwrap(), json!({"send": "held, unweighed"}));
    assert_eq!(ended.wait().await.unwrap(), json!({"send": "ended, unweighed"}));
}

// P19
#[tokio::test(flavor = "multi_thread")]
async fn a_process_frozen_over_a_recreation_claims_nothing_and_stops_when_it_thaws() {
    let rehearsal = in_development().await;
    let mut old = rehearsal.old(OLD);
    eventually("the old worker works", async || rehearsal.alive(&[OLD]).await == 1).await;
    old.signal("STOP");
    rehearsal.sql("update flow.process set lease_until = now() - interval '1 h'").await;
    let new = rehearsal.new_program("in_place", NEW);
    eventually("the flow is made anew", async || rehearsal.alive(&[NEW]).await == 1).await;
    assert_eq!(rehearsal.number("select count(*) from flow.step where slug = 'weigh'").await, 1);
    // Nobody is there but the frozen process when it thaws, with work for whoever claims it.
    new.signal("TERM");
    check_ended(vec![new]).await;
    let waiting = rehearsal.run("parcels", "waiting", "").await;
    old.signal("CONT");
    let (is_success, error) = old.ended().await;
    assert!(!is_success && error.contains("is not registered; its flow was deleted or made anew"), "{error}");
    let untouched = "select count(*) from flow.tasks t where t.status = 'queued' and t.attempt = 0";
    assert_eq!(rehearsal.number(untouched).await, 1);
    let traces = "select (select count(*) from flow.tasks) + (select count(*) from flow.hand) + (select count(*) from flow.attempt_error)
                       + (select count(*) from flow.worker w where w.stopped_at is null)";
    assert_eq!(rehearsal.number(traces).await, 1, "the waiting task and nothing else");

    let _new = rehearsal.new_program("in_place", NEW);
    assert_eq!(waiting.wait().await.unwrap(), json!({"send": "waiting, 7 g"}));
    assert_eq!(rehearsal.number("select count(*) from flow.tasks t where t.attempt <> 1").await, 0);
}
