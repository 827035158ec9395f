//! Typed workflows on nothing but Postgres.

// Generated code names this crate by its name, also in its own tests.
#[allow(unused_extern_crates)]
extern crate self as flow_runtime;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod args;
mod client;
mod config;
mod context;
mod database;
mod db;
mod deploy;
#[cfg(all(feature = "embedded", unix))]
pub mod embedded;
pub mod error;
mod fault;
mod handlers;
mod lookout;
mod migrate;
mod registry;
mod run_handle;
mod store;
mod worker;
mod worker_set;

pub use args::StepArgs;
pub use client::{Client, Start};
pub use config::{OnDrift, OnOptions};
pub use context::StepContext;
pub use db::Db;
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
pub use handlers::{
    Handlers, JsonCall, JsonFlow, JsonFlowBuilder, JsonFlowError, JsonHandler, Routed, SharedHandlers, StepCall,
    StepQueued, StepResult,
};
pub use migrate::schema_fingerprint;
pub use run_handle::{RunHandle, RunProgress, RunStatus, StepOutput, Untyped};
pub use worker::{NewWorker, RunningWorker, Worker, WorkerBuilder, WorkerHealth};
pub use worker_set::{Pool, RunningSet, WorkerSet, WorkerSetBuilder};

/// What most programs need.
pub mod prelude {
    pub use crate::{
        Client, Db, FailureExt, Flow, FlowList, IntoStepError, RunHandle, StepContext, StepError, StepKey, StepOutput,
        Worker, WorkerSet, flow, map, step,
    };
}

/// The README's flow compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
