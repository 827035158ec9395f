//! How runs come out when a real worker runs them: the same for a flow made by the macro and for one built with JSON handlers.
//!
//! Workers have one slot, so that the order in which tasks end is the order in which they were queued.

mod by_hand;
mod conditions;
mod failures;
mod maps;

use std::collections::BTreeMap;

use flow_runtime::{JsonCall, WorkerBuilder, prelude::*};
use flow_tests::support::TestDb;
use serde_json::Value;

/// A run as one text: status and error; each step with its reason, error and tasks; the output. Without places of panics.
const OUTCOME: &str = "
    select regexp_replace(concat_ws(E'\\n', concat_ws(' ', r.status, r.error_step, r.error),
        (select string_agg(concat_ws(' ', s.step || '=' || s.status, s.skip_reason, '\"' || s.error || '\"',
            (select string_agg(t.status || '/' || t.attempt, ' ' order by t.task_index) from flow.tasks t
             where t.run_id = s.run_id and t.step = s.step)), E'\\n' order by s.step_index)
         from flow.steps s where s.run_id = r.run_id),
        r.output::text), 'panicked at [^ ]+: ', 'panicked: ', 'g')
    from flow.runs r where r.run_id = $1";

/// Runs each input on a worker of its own database, and compares how the runs come out.
async fn check(slug: &str, worker: impl FnOnce(flow_runtime::NewWorker) -> WorkerBuilder, cases: &[(Value, &str)]) {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let worker = worker(Worker::builder(&db)).concurrency(1).build().unwrap().start().await.unwrap();
    for (input, expected) in cases {
        let run = Client::new(&db).start_json(slug, input).await.unwrap();
        // A run that fails is one of the outcomes.
        let _ = run.wait().await;
        let outcome: String = sqlx::query_scalar(OUTCOME).bind(run.id()).fetch_one(test.pool()).await.unwrap();
        let lines: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(outcome, lines.join("\n"), "{slug} with {input}");
    }
    worker.shutdown().await.unwrap();
}

/// What each step is to do, by its slug; a step that is not named succeeds.
type Plan = BTreeMap<String, String>;

/// Does what the plan says for a step or an element, and returns the attempt.
fn act(plan: &Plan, who: &str, attempt: u32) -> Result<u32, StepError> {
    match plan.get(who).map(String::as_str) {
        Some("error") => Err(StepError::new(format!("{who} fails"))),
        Some("once") if attempt == 1 => Err(StepError::new(format!("{who} fails once"))),
        Some("permanent") => Err(StepError::permanent(format!("{who} is wrong"))),
        Some("panic") => panic!("{who} panics"),
        _ => Ok(attempt),
    }
}

fn act_json(call: &JsonCall, who: &str) -> Result<Value, StepError> {
    let plan: Plan = serde_json::from_value(call.input().clone())?;
    act(&plan, who, call.ctx().attempt()).map(Value::from)
}
