//! Typed workflows on nothing but Postgres.
//!
//! The steps of a workflow are ordinary methods under [`#[flow]`](macro@flow); the compiler checks the graph that they form. Postgres
//! holds all state, so a run survives a crash of any program. Workers are your own processes.
//!
//! # A flow
//!
//! ```no_run
//! use flow_runtime::prelude::*;
//!
//! struct Greet;
//!
//! #[flow(input = Vec<String>)]
//! impl Greet {
//!     /// One task for each name of the input.
//!     #[map(over = input)]
//!     async fn greet(&self, item: String) -> Result<String, StepError> {
//!         Ok(format!("hello {item}"))
//!     }
//!
//!     /// A parameter named like a step is that step's output.
//!     #[step]
//!     async fn join(&self, greet: Vec<String>) -> Result<String, StepError> {
//!         Ok(greet.join(", "))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let db = Db::new("postgres://localhost/app")?;
//! let worker = Worker::builder(&db).flow(Greet).build()?.start().await?;
//! let run = Client::new(&db).start::<Greet>(&vec!["Ada".into(), "Grace".into()]).await?;
//! assert_eq!(run.wait().await?.join, "hello Ada, hello Grace");
//! worker.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The page of [`macro@flow`] describes every option of flows and steps: maps, conditions, retries, timeouts, blocking steps.
//!
//! # Starting and waiting
//!
//! [`Client::start`] starts a run and returns a [`RunHandle`]; [`Start`] has options for the run's id, an idempotency key, a later time,
//! and a start within your own transaction. [`RunHandle::wait`] waits for the run's end, also through a restart of the database;
//! [`RunHandle::step`] reads one step, [`RunHandle::status`] tells how far the run has come, [`RunHandle::cancel`] cancels the run.
//! [`Client::run`] finds a run that another program has started.
//!
//! # Workers and queues
//!
//! A [`Worker`] deploys its flow, claims work, calls the methods and settles the results; [`WorkerBuilder`] has the worker's options.
//! [`Worker::run`] works until SIGTERM or SIGINT and then drains; [`RunningWorker::health`] answers probes. A [`WorkerSet`] is several
//! workers with one shutdown. A flow has one queue for all of its steps; [`with_step_queues!`] gives each step a queue and a [`Pool`] of
//! its own.
//!
//! # Errors and retries
//!
//! A handler returns a [`StepError`], or your own error through `?`; [`FailureExt`] marks an error as permanent, or says when to try again.
//! Work whose attempt failed is tried again after `base_delay`, twice as long each time, until `max_attempts` are used; then
//! `when_exhausted` says what follows. Delivery is at least once: a step that is interrupted runs again, and
//! [`StepContext::idempotency_key`] names its work to other systems. The module [`error`] has the errors of each verb.
//!
//! # Testing
//!
//! `YourFlow::check()` finds mistakes that show without a database. [`Handlers`] calls one method by hand with [`StepArgs`] and
//! [`StepContext::for_test`]; the module `embedded` (a feature, on by default) starts a private Postgres for tests.
//!
//! # Graphs known only at run time
//!
//! [`JsonFlow`] runs a [`FlowBuilder`]'s graph with handlers that take and return JSON.
//!
//! # Features
//!
//! | feature | gives |
//! |---|---|
//! | `embedded`, on by default | a private Postgres for examples, tests and first use, on Linux and macOS |

#![warn(missing_debug_implementations)]

// Generated code names this crate `flow_runtime`, also in the crate's own tests.
#[allow(unused_extern_crates)]
extern crate self as flow_runtime;

mod client;
mod database;
#[cfg(all(feature = "embedded", unix))]
pub mod embedded;
pub mod error;
mod fault;
#[doc(hidden)]
pub mod generated;
mod handler;
mod worker;

pub use client::{
    Client, Start,
    run_handle::{RunHandle, RunProgress, RunStatus, StepOutput, Untyped},
};
pub use database::{
    db::Db,
    deploy::{OnDrift, OnOptions},
    id::{RunId, WorkerId},
    migrate::schema_fingerprint,
};
pub use flow_core::{
    builder::{FlowBuilder, StepBuilder},
    definition,
    error::{FailureAction, FailureExt, IntoStepError, StepError},
    flow::Flow,
    graph::FlowGraph,
    list::FlowList,
    queue_name::QueueName,
    status::{StepStatus, TaskStatus},
    step::{StepEnum, StepKey, UnknownStep},
    validate::{DefinitionError, DefinitionErrors},
    value::FlowValue,
};
pub use flow_macros::{flow, map, step};
pub use handler::{
    Handlers, SharedHandlers, StepCall, StepResult,
    args::StepArgs,
    context::StepContext,
    json::{
        JsonFlow, JsonFlowBuilder, JsonFlowError,
        call::{JsonCall, JsonHandler},
    },
    step_queues::StepQueued,
};
// Routed flows are not deployed yet.
#[doc(hidden)]
pub use handler::step_queues::Routed;
pub use worker::{
    builder::{NewWorker, Worker, WorkerBuilder},
    health::WorkerHealth,
    running::RunningWorker,
    set::{Pool, RunningSet, WorkerSet, WorkerSetBuilder},
};

/// The names that most programs need.
pub mod prelude {
    pub use crate::{
        Client, Db, FailureExt, Flow, FlowList, IntoStepError, RunHandle, RunId, StepContext, StepError, StepKey,
        StepOutput, Worker, WorkerSet, flow, map, step,
    };
}

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
