//! The plans that a connection's statements were run with, those inside functions too.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use sqlx::PgPool;
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    subscriber::DefaultGuard,
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
};

/// Where sqlx tells what the server says beside its answers.
const NOTICES: &str = "sqlx::postgres::notice";

/// What the server said.
type Heard = Arc<Mutex<Vec<String>>>;

/// Each statement with the plans it was run with.
pub type Plans = BTreeMap<String, BTreeSet<String>>;

/// Listens to what the server says about plans, on the connections of the running thread.
pub struct PlanWatch {
    heard: Heard,
    _listening: DefaultGuard,
}

impl PlanWatch {
    /// Has every connection of `pool` tell the plan of each statement it runs. The pool must have one connection, which stays.
    ///
    /// # Panics
    /// When the user of the connection may not load `auto_explain`.
    pub async fn begin(pool: &PgPool) -> Self {
        assert_eq!(pool.options().get_max_connections(), 1, "another connection would tell nothing");
        let heard = Arc::default();
        let layer = Notices(Arc::clone(&heard));
        let listening = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        let explain = "load 'auto_explain'; set client_min_messages = log; set auto_explain.log_min_duration = 0;
             set auto_explain.log_nested_statements = on; set auto_explain.log_format = json";
        sqlx::raw_sql(explain).execute(pool).await.expect("a superuser's connection");
        Self { heard, _listening: listening }
    }

    /// Does something of the test's own, whose plans are of no interest.
    pub async fn beside<T>(&self, work: impl Future<Output = T>) -> T {
        let heard_before = lock(&self.heard).len();
        let done = work.await;
        lock(&self.heard).truncate(heard_before);
        done
    }

    /// The plans since the last call.
    ///
    /// # Panics
    /// When the server tells a plan in another form than `auto_explain` does.
    pub fn take(&self) -> Plans {
        let mut plans = Plans::new();
        for text in lock(&self.heard).drain(..) {
            let Some((_, explained)) = text.split_once("plan:") else { continue };
            let explained: Value = serde_json::from_str(explained).expect("auto_explain writes JSON");
            let statement = explained["Query Text"].as_str().expect("a plan has a statement");
            let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
            let plan = shape(&explained["Plan"], 0);
            // What reads no table has the same plan in every state of them, and may be worked out once for all.
            if plan.contains(" on ") {
                plans.entry(statement).or_default().insert(plan);
            }
        }
        plans
    }
}

/// The plan's nodes as EXPLAIN indents them, with what chooses rows and without guesses of cost.
fn shape(node: &Value, depth: usize) -> String {
    let text = |key: &str| node[key].as_str().unwrap_or_default();
    let mut line = format!("{:indent$}{}", "", text("Node Type"), indent = 2 * depth);
    for (key, before) in [
        ("Join Type", " "),
        ("Strategy", " "),
        ("Operation", " "),
        ("Scan Direction", " "),
        ("Index Name", " using "),
        ("Relation Name", " on "),
        ("Function Name", " of "),
        ("CTE Name", " of "),
        ("Parent Relationship", " as "),
        ("Subplan Name", " "),
        ("Index Cond", " by "),
        ("TID Cond", " by "),
        ("Filter", " if "),
        ("Join Filter", " joined if "),
    ] {
        if !text(key).is_empty() {
            // Writing to a string does not fail.
            let _ = write!(line, "{before}{}", without_values(text(key)));
        }
    }
    for child in node["Plans"].as_array().into_iter().flatten() {
        line.push('\n');
        line.push_str(&shape(child, depth + 1));
    }
    line
}

/// A condition with `?` for the times and numbers in it, which are others each time.
fn without_values(condition: &str) -> String {
    let is_value = |quoted: &str| quoted.starts_with(|c: char| c == '{' || c.is_ascii_digit());
    let parts = condition.split('\'').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 && is_value(part) { "?" } else { part }).collect::<Vec<_>>().join("'")
}

/// Keeps what the server says.
struct Notices(Heard);

impl<S: Subscriber> Layer<S> for Notices {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == NOTICES {
            event.record(&mut Message(&mut lock(&self.0)));
        }
    }
}

struct Message<'a>(&'a mut Vec<String>);

impl Visit for Message<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.0.push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

fn lock(heard: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}
