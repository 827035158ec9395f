//! What generated code may name. Not part of the public interface: it changes with the macros.

#[path = "private/agree.rs"]
mod agree;
#[path = "private/elements.rs"]
mod elements;
#[path = "private/ending.rs"]
mod ending;
#[path = "private/handler.rs"]
mod handler;
#[path = "private/output.rs"]
mod output;
#[path = "private/queues.rs"]
mod queues;
#[path = "private/sample.rs"]
mod sample;
#[path = "private/shown.rs"]
mod shown;
#[path = "private/step_enum.rs"]
mod step_enum;
#[path = "private/text.rs"]
mod text;
#[path = "private/value.rs"]
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

pub use crate::{
    args::StepArgs,
    context::StepContext,
    handlers::{Handlers, Routed, SharedHandlers, StepCall, StepQueued, StepResult},
};
pub use flow_core::{
    definition::{FlowDefinition, TypeContract},
    error::StepError,
    flow::Flow,
    list::FlowList,
    private::*,
    queue_name::QueueName,
    step::*,
};
pub use schemars;
pub use serde;
pub use serde_json;

pub use self::{
    agree::{ContextIs, InputIs, OutputIs, OutputUnlessExhausted, OutputUnlessUnmet, context},
    elements::{Element, ElementIs, Elements, NoElements, is_list},
    ending::{Ended, Failure, NoEnd, NoFailure, Outcome, Returns, fails_with, returned},
    handler::{
        Calls, Checked, Life, MovesOn, NoLife, NoSharing, NotPassed, OnThreads, Owned, Passed, Shared, Sharing,
        call_async, call_blocking, call_failed, is_shared, moves_on,
    },
    output::{OutputFields, OutputWriter, next_field, read_output, required_field, skip_field, write_output},
    queues::{NoSlugs, Slugs, SlugsOf, routed_queues, step_queues, texts},
    sample::sample_args,
    shown::{Shown, ShownAnyhow, show_output},
    step_enum::deserialize_step,
    value::{Carrier, Described, NoCarrier, any_contract, is_value},
};
pub use crate::__step_enum as step_enum;

/// Stands where a flow with mistakes would have code. The compiler has reported the mistake; a program that got here
/// nevertheless does not build, since the constant in this function cannot be computed.
#[must_use]
pub fn stand_in<T>() -> T {
    stand_in_of::<T, T>()
}

/// The same in a method of `Of` that is never called. The constant's type holds `Of`, so that nobody computes it before a program builds
/// that method for a type of its own: an optimising build computes at once whatever has a known size.
fn stand_in_of<Of, T>() -> T {
    let never: (std::convert::Infallible, Of) = const {
        panic!(
            "a part of this flow was refused and still came to be compiled, which is a bug of flow; please report the block \
             under `#[flow]`"
        )
    };
    match never.0 {}
}
