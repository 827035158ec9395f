//! The SQL functions and views, a file each, by the folder that says who may call them; see docs/architecture.md.

/// One SQL file.
pub(super) struct Function {
    /// The file's name and the function's or view's: a view's file begins with `show_`.
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

macro_rules! sql_files {
    ($($folder:literal: [$($name:literal),* $(,)?]),* $(,)?) => {
        &[$($(Function { name: $name, text: include_str!(concat!("../../sql/", $folder, "/", $name, ".sql")) }),*),*]
    };
}

/// Every file, in the order of their making: views come last.
pub(super) const FUNCTIONS: &[Function] = sql_files![
    "delivery": [
        "create_queue",
        "drop_queue",
        "queue_count",
        "queue_prune",
        "queue_read",
        "queue_remove",
        "queue_send",
        "read_message",
        "refuse_queue_change",
        "remove_messages",
    ],
    "engine": [
        "abort_run",
        "advance_steps",
        "begin_steps",
        "check_start",
        "claim_messages",
        "claim_work",
        "complete_steps",
        "complete_tasks",
        "complete_work",
        "copy_steps",
        "count_down_dependents",
        "count_down_runs",
        "disable_name",
        "element_count",
        "end_failed_steps",
        "end_runs",
        "end_tasks",
        "enqueue_work",
        "fail_run",
        "fail_unclaimable",
        "fail_work",
        "finish_runs",
        "give_back",
        "has_pattern",
        "has_work",
        "hold_work",
        "is_alive",
        "is_doubtful",
        "join_progress",
        "judge_results",
        "list_hand",
        "listed_work",
        "lock_held",
        "lock_runs",
        "lock_starts",
        "lock_work",
        "look_at_work",
        "lose_work",
        "notify_ids",
        "read_json",
        "read_results",
        "refuse_batch",
        "refuse_foreign_ids",
        "repeat_exchange",
        "requeue_work",
        "require_read_committed",
        "retry_delay",
        "settle_work",
        "shared_values",
        "single_work",
        "skip_dependents",
        "start_in_full",
        "start_one",
        "start_plain",
        "step_items",
        "take_keys",
        "task_work",
        "tell",
        "test_conditions",
        "uuid_v7",
        "value_error",
        "wait_again",
        "why_lost",
        "work_status",
        "worker_state",
    ],
    "definition": [
        "condition_errors",
        "create_flow",
        "definition_errors",
        "drain_flow",
        "is_older_build",
        "json_differences",
        "list_contract",
        "list_queues",
        "lock_slug",
        "option_errors",
        "shape_differences",
        "slug_error",
        "step_names",
        "step_options",
        "step_queue_name",
        "step_slugs",
        "stored_shape",
        "update_contract",
        "update_options",
    ],
    "operator": [
        "cancel_run",
        "delete_flow",
        "deprecate",
        "disable_worker",
        "enable_worker",
        "pause_queue",
        "prune",
        "resume_queue",
        "retry_run",
        "set_on_remove",
        "set_setting",
        "set_setting_number",
        "undeprecate",
    ],
    "protocol": [
        "cancel_run_quietly",
        "deploy",
        "end_process",
        "ended_runs",
        "exchange",
        "get_run",
        "get_step",
        "give_up_attempt",
        "heartbeat",
        "recover_hand",
        "refuse_disabled",
        "register_process",
        "register_worker",
        "release_work",
        "require_writable",
        "revive_process",
        "run_progress",
        "start_run",
        "start_runs",
        "start_runs_quietly",
        "stop_process",
        "stop_worker",
        "tell_others",
        "unserved_queues",
        "withdraw_drain",
    ],
    "views": [
        "show_queues",
        "show_runs",
        "show_steps",
        "show_tasks",
        "show_workers",
    ],
];

/// The functions that look few rows of large tables up by their keys, and are called often.
const PLANNED: &[&str] = &[
    "cancel_run",
    "cancel_run_quietly",
    "end_process",
    "ended_runs",
    "exchange",
    "get_run",
    "get_step",
    "heartbeat",
    "recover_hand",
    "release_work",
    "retry_run",
    "run_progress",
    "start_runs_quietly",
];

/// What the planner may not do in [`PLANNED`] and in all that these call: what is right for large joins is wrong for a few keys, and
/// statistics may be of an empty table. Source: docs/decisions/0003.
const PLANNER_SETTINGS: &[(&str, &str)] = &[
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_memoize", "off"),
    ("join_collapse_limit", "1"),
    ("plan_cache_mode", "force_generic_plan"),
    ("jit", "off"),
];

impl Function {
    /// The statements that make it, with the planner's settings where they apply.
    pub(super) fn statements(&self) -> String {
        let mut statements = self.text.to_owned();
        if PLANNED.contains(&self.name) {
            let set =
                |(name, value): &(&str, &str)| format!("alter function flow.{} set {name} = {value};\n", self.name);
            statements.extend(PLANNER_SETTINGS.iter().map(set));
        }
        statements
    }
}
