//! Calls of the SQL functions: one function a method. Binds and maps rows; decides nothing.

mod backend;
mod deploy;
mod run;
mod task;
mod worker;

pub(crate) use backend::{Backend, backend, end_backend};
pub(crate) use deploy::{Deployed, deploy, withdraw_drain};
pub(crate) use run::{NewRuns, RunRow, StepRow, cancel_run, ended_runs, get_run, get_step, run_progress, start_runs};
pub(crate) use task::{
    Claimed, Exchange, Exchanged, Outcome, Settlement, TaskId, Verdict, exchange, release_tasks, renew_leases,
};
pub(crate) use worker::{NewWorker, refuse_disabled, register_worker, stop_worker, unserved_queues};
