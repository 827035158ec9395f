//! The table of legal moves: the page, the code and the database say the same.

use flow_runtime::{RunStatus, StepStatus, TaskStatus};
use flow_tests::support::{Engine, Graph};

/// What the page must say of one kind of thing.
fn rows<T: Copy + std::fmt::Display + 'static>(what: &str, all: &[T], next: impl Fn(T) -> &'static [T]) -> Vec<String> {
    let list = |statuses: &[T]| statuses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    all.iter().map(|status| format!("| {what} | {status} | {} |", list(next(*status))).replace("|  |", "| |")).collect()
}

// I14
#[test]
fn the_page_and_the_code_have_the_same_moves() {
    let page = include_str!("../../docs/states.md");
    let found: Vec<&str> = page
        .lines()
        .filter(|line| ["| run ", "| step ", "| task "].iter().any(|start| line.starts_with(start)))
        .collect();
    let mut expected = rows("run", RunStatus::ALL, RunStatus::next);
    expected.extend(rows("step", StepStatus::ALL, StepStatus::next));
    expected.extend(rows("task", TaskStatus::ALL, TaskStatus::next));
    assert_eq!(found, expected);
}

// I14
#[test]
fn the_watch_of_moves_knows_the_same_moves() {
    fn moves<T: Copy + PartialEq + std::fmt::Display + 'static>(
        what: &str,
        all: &[T],
        next: impl Fn(T) -> &'static [T],
    ) -> Vec<String> {
        // A status that stays is no change; the attempts of such a task are watched apart.
        let others = |from: T| next(from).iter().filter(move |to| **to != from).map(ToString::to_string);
        let open = all.iter().filter(|from| !next(**from).is_empty());
        open.map(|from| format!("('{what}', '{from}', '{{{}}}')", others(*from).collect::<Vec<_>>().join(",")))
            .collect()
    }
    let watch = include_str!("../sql/watch_moves.sql");
    let lines = watch.lines().map(|line| line.trim().trim_end_matches(','));
    let found: Vec<&str> = lines.filter(|line| line.starts_with("('")).collect();
    let mut expected = moves("run", RunStatus::ALL, RunStatus::next);
    expected.extend(moves("step_state", StepStatus::ALL, StepStatus::next));
    expected.extend(moves("task", TaskStatus::ALL, TaskStatus::next));
    assert_eq!(found, expected);
}

#[tokio::test]
async fn the_database_knows_the_same_statuses() {
    let engine = Engine::new().await;
    let words = |all: Vec<String>| all.join(" ");
    let run = "select unnest(enum_range(null::flow.run_status))::text";
    assert_eq!(engine.words(run).await, words(RunStatus::ALL.iter().map(ToString::to_string).collect()));
    let step = "select unnest(enum_range(null::flow.step_status))::text";
    assert_eq!(engine.words(step).await, words(StepStatus::ALL.iter().map(ToString::to_string).collect()));
    let task = "select unnest(enum_range(null::flow.task_status))::text";
    assert_eq!(engine.words(task).await, words(TaskStatus::ALL.iter().map(ToString::to_string).collect()));
}

// S12
#[tokio::test]
async fn the_database_wants_an_end_time_exactly_in_terminal_statuses() {
    let engine = Engine::new().await;
    engine.deploy(&Graph::new("one").single("a", &[]).map("m", "input", &[])).await;
    engine.start("one", [1]).await;
    let is_accepted = async |set: String| {
        let mut transaction = engine.pool().begin().await.unwrap();
        sqlx::query(sqlx::AssertSqlSafe(set)).execute(&mut *transaction).await.is_ok()
    };
    for status in RunStatus::ALL {
        let set = |ended: &str| format!("update flow.run set status = '{status}', ended_at = {ended}");
        assert_eq!(is_accepted(set("now()")).await, status.is_terminal(), "run {status} with an end");
        assert_eq!(is_accepted(set("null")).await, !status.is_terminal(), "run {status} without one");
    }
    for status in StepStatus::ALL {
        let reason = if *status == StepStatus::Skipped { "'condition_unmet'" } else { "null" };
        let set = |ended: &str| {
            format!(
                "update flow.step_state set status = '{status}', skip_reason = {reason}, ended_at = {ended}
                     where step_index = 0"
            )
        };
        assert_eq!(is_accepted(set("now()")).await, status.is_terminal(), "step {status} with an end");
        assert_eq!(is_accepted(set("null")).await, !status.is_terminal(), "step {status} without one");
    }
    for status in TaskStatus::ALL {
        let held = if *status == TaskStatus::Started { "(1, 1, now())" } else { "(null, null, null)" };
        let set = |ended: &str| {
            format!(
                "update flow.task set status = '{status}', (worker_id, batch, claimed_at) = {held}, ended_at = {ended}"
            )
        };
        assert_eq!(is_accepted(set("now()")).await, status.is_terminal(), "task {status} with an end");
        assert_eq!(is_accepted(set("null")).await, !status.is_terminal(), "task {status} without one");
    }
}
