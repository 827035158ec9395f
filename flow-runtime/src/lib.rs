//! Typed workflows on nothing but Postgres.

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
    step_queues::{Routed, StepQueued},
};
pub use worker::{
    builder::{NewWorker, Worker, WorkerBuilder},
    health::WorkerHealth,
    running::RunningWorker,
    set::{Pool, RunningSet, WorkerSet, WorkerSetBuilder},
};

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
