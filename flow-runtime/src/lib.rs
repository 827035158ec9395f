//! Typed workflows on nothing but Postgres.

// Generated code names this crate by its name, also in its own tests.
#[allow(unused_extern_crates)]
extern crate self as flow_runtime;

mod args;
mod backoff;
mod client;
mod config;
mod context;
mod db;
#[cfg(all(feature = "embedded", unix))]
pub mod embedded;
pub mod error;
mod handlers;
mod migrate;
mod notify;
mod registry;
mod run_handle;
mod store;
mod worker;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use args::StepArgs;
pub use client::{Client, Start};
pub use config::OnDrift;
pub use db::Db;
pub use context::StepContext;
pub use flow_core::{
    definition,
    error::{FailureAction, FailureExt, IntoStepError, StepError},
    flow::Flow,
    list::FlowList,
    step::{StepEnum, StepKey, UnknownStep},
};
pub use flow_macros::{flow, map, step};
pub use handlers::{Handlers, StepCall, StepResult};
pub use migrate::schema_fingerprint;
pub use run_handle::{RunHandle, RunProgress, RunStatus, StepOutput, Untyped};
pub use worker::{NewWorker, RunningWorker, Worker, WorkerBuilder};

/// What most programs need.
pub mod prelude {
    pub use crate::{Client, Db, RunHandle, StepOutput, Worker, FailureExt, Flow, FlowList, IntoStepError, StepContext, StepError, StepKey, flow, map, step};
}
