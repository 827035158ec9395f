//! Typed workflows on nothing but Postgres.
//!
//! The steps of a workflow are ordinary methods under [`#[flow]`](macro@flow); the compiler checks the graph that they form. Postgres holds the whole
//! truth, so a run survives a crash of any program. Workers are your own processes.
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
//! [`macro@flow`] tells every option of flows and steps: maps, conditions, retries, timeouts, blocking steps.
//!
//! # Starting and waiting
//!
//! [`Client::start`] starts a run and gives a [`RunHandle`]; [`Start`] has a run id, an idempotency key, a later time, and a start within a transaction
//! of yours. [`RunHandle::wait`] ends when the run has ended, through a restart of the database too; [`RunHandle::step`] reads one step,
//! [`RunHandle::status`] how far the run has come, [`RunHandle::cancel`] ends it. [`Client::run`] finds a run that another program has started.
//!
//! # Workers and queues
//!
//! A [`Worker`] deploys its flow, claims work, calls the methods and settles the results; [`WorkerBuilder`] has its options. [`Worker::run`] works until
//! SIGTERM or SIGINT and then drains; [`RunningWorker::health`] answers probes. A [`WorkerSet`] is several workers with one shutdown. A flow has one queue for
//! all of its steps; [`with_step_queues!`] gives each step a queue and a [`Pool`] of its own.
//!
//! # Errors and retries
//!
//! A handler returns a [`StepError`], or any error of yours through `?`; [`FailureExt`] says of one that it is permanent, or when to try again. An
//! attempt that failed is tried again after `base_delay`, twice as long each time, until `max_attempts` are used; then `when_exhausted` says what follows.
//! Delivery is at least once: a step that is interrupted runs again, and [`StepContext::idempotency_key`] names its work to other systems. The errors of each
//! verb stand in [`error`].
//!
//! # Testing
//!
//! `YourFlow::check()` finds what needs no database. [`Handlers`] calls one method by hand with [`StepArgs`] and [`StepContext::for_test`]; the module
//! `embedded` (a feature, on by default) starts a private Postgres for tests.
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

// Generated code names this crate by its name, also in its own tests.
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

/// What most programs need.
pub mod prelude {
    pub use crate::{
        Client, Db, FailureExt, Flow, FlowList, IntoStepError, RunHandle, RunId, StepContext, StepError, StepKey,
        StepOutput, Worker, WorkerSet, flow, map, step,
    };
}

/// The README's flow compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
