//! Calls of the SQL functions, one a function here. This module binds arguments and maps rows, and decides nothing.

mod answer;
mod call;
mod deploy;
mod news;
mod outcome;
mod process;
mod run;
mod word;
mod work;
mod worker;

pub(crate) use answer::{AfterFailure, FailedRun, Fate, Verdict, WorkerState};
pub(crate) use deploy::{DeployResult, Deployed, Environment, SchemaChange, Terms, deploy, withdraw_drain};
pub(crate) use news::{News, tell_others, tell_others_over};
pub(crate) use outcome::Outcome;
pub(crate) use process::{
    Heard, WhyLost, WorkerPulse, end_process, heartbeat, recover_hand, register_process, revive_process, stop_process,
};
pub(crate) use run::{
    Handed, Handing, NewRuns, RunRow, Started, StepRow, cancel_run, get_run, get_step, list_ended_runs, run_progress,
    start_runs, start_runs_in,
};
pub(crate) use work::{
    Claimed, Exchange, Exchanged, Mark, Settlement, WorkId, exchange, give_up_attempt, release_work,
};
pub(crate) use worker::{
    NewWorker, has_retention, keep_house, refuse_disabled, register_worker, stop_worker, stranded_queues,
    unserved_queues,
};
