//! Maps the names that other engines have for an option to its name here.

use flow_core::options::{Attribute, NumberOption, Unit};

/// The advice for an option that exists under another name, or elsewhere.
pub(super) struct Hint {
    /// Follows `has no option …; `.
    pub(super) text: String,
    option: Option<&'static str>,
}

impl Hint {
    /// Whether the user meant `option`; then `option` is not reported as missing too.
    pub(super) fn is_instead_of(&self, option: &str) -> bool {
        self.option == Some(option)
    }
}

/// What the user of a word means.
enum Meant {
    /// An option, by its name, with an example of how to write it.
    Option(&'static str, &'static str),
    /// Something that is not set by an option; the text says where.
    Elsewhere(&'static str),
}

use Meant::{Elsewhere, Option as Named};

/// Words of other engines and of habit, with what they mean here.
const TABLE: &[(&[&str], Meant)] = &[
    (
        &[
            "retries",
            "retry",
            "max_retries",
            "retry_count",
            "retry_limit",
            "retries_allowed",
            "attempts",
            "tries",
            "max_tries",
            "maximum_attempts",
            "retry_policy",
            "retry_strategy",
        ],
        Named("max_attempts", "`max_attempts = 5` counts every attempt, the first one too"),
    ),
    (
        &[
            "interval_seconds",
            "retry_delay",
            "retry_delay_seconds",
            "retry_interval",
            "retry_after",
            "backoff",
            "initial_interval",
            "initial_delay",
            "initial_backoff",
            "min_backoff",
            "retry_backoff",
            "delay_seconds",
            "wait",
        ],
        Named("base_delay", "the wait before the first retry is `base_delay = \"1s\"`"),
    ),
    (
        &[
            "max_interval",
            "maximum_interval",
            "max_backoff",
            "max_retry_delay",
            "max_interval_seconds",
            "retry_backoff_max",
        ],
        Named("max_delay", "the longest wait before a retry is `max_delay = \"5m\"`"),
    ),
    (
        &[
            "backoff_rate",
            "backoff_coefficient",
            "backoff_factor",
            "multiplier",
            "exponential",
            "jitter",
            "retry_jitter",
        ],
        Elsewhere("waits double from `base_delay` up to `max_delay`"),
    ),
    (
        &[
            "timeout_ms",
            "timeout_secs",
            "timeout_seconds",
            "deadline",
            "max_duration",
            "execution_timeout",
            "time_limit",
            "start_to_close_timeout",
            "schedule_to_close_timeout",
            "ttl",
            "expires_in",
            "timelimit",
        ],
        Named("timeout", "the longest time an attempt may take is `timeout = \"30s\"`"),
    ),
    (
        &["delay", "start_after", "delay_ms", "countdown", "eta", "defer", "sleep", "start_at", "run_at"],
        Named("start_delay", "the wait before a step's first attempt is `#[step(start_delay = \"5m\")]`"),
    ),
    (
        &["name", "id", "key", "step_name", "task_name", "workflow_name", "title", "activity", "kind", "identifier"],
        Named("slug", "the name in data is `slug = \"…\"`"),
    ),
    (
        &[
            "depends_on",
            "depends",
            "dependencies",
            "dependency",
            "needs",
            "need",
            "requires",
            "require",
            "parents",
            "parent",
            "upstream",
            "wait_for",
            "waits_for",
            "run_after",
            "follows",
            "deps",
        ],
        Named("after", "take the step's output with a parameter of its name, or wait without it with `after(reserve)`"),
    ),
    (
        &["before", "next", "then", "downstream", "goto"],
        Elsewhere("the later step names this one, with a parameter of its name or with `after(…)`"),
    ),
    (&["input_type", "payload", "request", "arg", "argument"], Named("input", "the input's type is `input = Order`")),
    (&["args", "params", "inputs", "from"], Elsewhere("a step takes what its parameters name")),
    (
        &["over", "for_each", "foreach", "each", "map", "items", "expand", "iter", "fan_out", "in"],
        Named("over", "`over` belongs to `#[map]`; write `#[map(over = …)]` for one task an element"),
    ),
    (
        &["if", "when", "only_if", "condition", "cond", "where", "filter", "skip_unless", "enabled"],
        Named("run_if", "a condition is `run_if = { \"gift\": true }`"),
    ),
    (
        &["unless", "skip_if", "skip", "except", "not_if"],
        Named("run_unless", "a step that is left out on a condition says `run_unless = { \"gift\": true }`"),
    ),
    (
        &["on_unmet", "else", "otherwise", "on_skip"],
        Named("when_unmet", "what an unmet condition does is `when_unmet = skip`, `skip_cascade` or `fail`"),
    ),
    (
        &[
            "on_failure",
            "on_error",
            "on_fail",
            "continue_on_error",
            "allow_failure",
            "ignore_errors",
            "optional",
            "fallback",
            "trigger_rule",
            "on_exhausted",
        ],
        Named(
            "when_exhausted",
            "what happens when no attempt is left is `when_exhausted = skip`, `skip_cascade` or `fail`",
        ),
    ),
    (
        &["retry_on", "retry_if", "no_retry", "non_retryable", "retryable", "nonretryable_error_types"],
        Elsewhere("an error says itself that no attempt helps, with `.permanent()`"),
    ),
    (
        &["sync", "spawn_blocking", "thread", "block", "cpu"],
        Named("blocking", "a plain `fn` that may block is `blocking`"),
    ),
    (
        &["queue", "queues", "task_queue", "topic", "channel", "lane"],
        Elsewhere(
            "queues are said beside the flow, with `with_step_queues!` (one private queue a step) or `route_flow!` (named queues)",
        ),
    ),
    (
        &["cron", "schedule", "every", "interval", "at", "daily", "period", "recurring", "rrule", "crontab"],
        Elsewhere("a flow has no schedule; start its runs from a scheduler of yours, with `client.start`"),
    ),
    (
        &[
            "concurrency",
            "max_concurrency",
            "concurrency_limit",
            "parallelism",
            "parallel",
            "workers",
            "worker",
            "pool",
            "limit",
            "slots",
            "max_parallel",
            "concurrent",
        ],
        Elsewhere(
            "how much runs at once is the worker's to say, with `.concurrency(4)`; for one step, give it a pool with `with_step_queues!`",
        ),
    ),
    (
        &["rate", "rate_limit", "rate_limits", "throttle", "debounce"],
        Elsewhere("no step has a rate; give it a queue with `with_step_queues!` and a small pool"),
    ),
    (
        &["prio", "weight", "urgency"],
        Named("priority", "of the work in a queue that of `priority = 1` comes first, and that of `priority = 9` last"),
    ),
    (
        &["version", "revision"],
        Elsewhere("a slug names a shape that never changes; say another `slug` for another shape"),
    ),
    (
        &["idempotency_key", "idempotent", "cache", "cache_key", "memo", "memoize", "dedup", "unique", "once"],
        Elsewhere(
            "a run is started once under a key, with `client.start(…).idempotency_key(…)`; a completed step is never run again",
        ),
    ),
    (
        &["state", "context", "ctx", "env", "data", "resources", "shared", "extension"],
        Elsewhere("what handlers need is a field of the flow's type"),
    ),
    (
        &["description", "desc", "doc", "docs", "note", "comment", "label", "tags", "tag"],
        Elsewhere("a doc comment becomes the note"),
    ),
    (&["output", "returns", "return", "result", "type", "ty", "error"], Elsewhere("the handler's return type says it")),
];

/// Whether the word is an option of a step, or is known from another engine.
pub(super) fn is_known(key: &str) -> bool {
    of_a_step(key).is_some() || TABLE.iter().any(|(words, _)| words.contains(&key))
}

/// The advice for `key`, which is no option of `attribute`.
pub(super) fn hint(key: &str, attribute: Attribute) -> Option<Hint> {
    let key = key.to_ascii_lowercase();
    if let Some(option) = of_a_step(&key).filter(|_| attribute == Attribute::Flow) {
        let text = format!("it belongs to a step; write `#[step({})]`", example(option));
        return Some(Hint { text, option: None });
    }
    let (_, meant) = TABLE.iter().find(|(words, _)| words.contains(&key.as_str()))?;
    Some(match *meant {
        Named(option, text) if attribute.option_names().contains(&option) || says_where(text) => {
            Hint { text: text.to_owned(), option: Some(option) }
        }
        Named(option, text) => {
            let owner = if attribute == Attribute::Flow { "a step" } else { "the flow" };
            Hint { text: format!("{text}, and {owner} says it"), option: Some(option) }
        }
        Elsewhere(text) => Hint { text: text.to_owned(), option: None },
    })
}

/// Whether `text` names the attribute to which the option belongs.
fn says_where(text: &str) -> bool {
    text.contains("#[")
}

/// The option called `key` that a step takes and a flow does not, and that has a number.
fn of_a_step(key: &str) -> Option<NumberOption> {
    let of_steps = NumberOption::OF_STEPS.iter().filter(|option| !NumberOption::OF_FLOWS.contains(option));
    of_steps.copied().find(|option| option.name() == key)
}

/// An example of the option with a number: `max_attempts = 5`.
pub(super) fn example(option: NumberOption) -> String {
    let name = option.name();
    match option.unit() {
        Unit::Count => format!("{name} = 5"),
        Unit::Milliseconds => format!("{name} = \"5m\""),
    }
}
