//! The names that generated code uses. They are no part of the public interface, and change with the macros.
//!
//! Several types here check one thing about the user's code and have a twin trait (`NoCarrier`, `NoEnd`, …) with the same methods. Where a
//! check fails, the compiler finds the twin's methods and accepts the rest of the generated code, so each mistake gives one error.

#![allow(missing_debug_implementations, reason = "nobody but generated code names these types")]

mod call;
mod const_text;
mod debug_text;
mod elements;
mod output;
mod queues;
mod returned;
mod sample;
mod stand_in;
mod step_enum;
mod type_checks;
mod value;

pub use std::{
    clone::Clone,
    cmp::{Eq, Ord, Ordering, PartialEq, PartialOrd},
    compile_error, concat,
    convert::{From, Into},
    fmt::{self, Debug},
    hash::Hash,
    marker::{Copy, Send, Sized},
    option::Option::{self, None, Some},
    option_env,
    prelude::v1::derive,
    primitive::{bool, str, usize},
    result::Result::{self, Err, Ok},
    str::FromStr,
    stringify,
    sync::Arc,
    vec::Vec,
};

pub use crate::handler::{
    Handlers, SharedHandlers, StepCall, StepResult,
    args::StepArgs,
    context::StepContext,
    step_queues::{Routed, StepQueued},
};
pub use flow_core::{
    definition::{FlowDefinition, TypeContract},
    error::StepError,
    flow::Flow,
    generated::*,
    list::FlowList,
    queue_name::QueueName,
    step::*,
};
pub use schemars;
pub use serde;
pub use serde_json;

pub use self::{
    call::{
        Calls, Checked, Life, MovesOn, NoLife, NoSharing, NotPassed, OnThreads, Owned, Passed, Shared, Sharing,
        call_async, call_blocking, call_failed, is_shared, moves_on,
    },
    debug_text::{Shown, ShownAnyhow, show_output},
    elements::{Element, ElementIs, Elements, NoElements, is_list},
    output::{OutputFields, OutputWriter, next_field, read_output, required_field, skip_field, write_output},
    queues::{NoSlugs, Slugs, SlugsOf, routed_queues, step_queues, texts},
    returned::{Ended, Failure, NoEnd, NoFailure, Outcome, Returns, fails_with, returned},
    sample::sample_args,
    stand_in::stand_in,
    step_enum::deserialize_step,
    type_checks::{ContextIs, InputIs, OutputIs, OutputUnlessExhausted, OutputUnlessUnmet, context},
    value::{Carrier, Described, NoCarrier, any_contract, is_value},
};

pub use crate::__step_enum as step_enum;
