//! What generated code may name. Not part of the public interface: it changes with the macros.

#[path = "private/agree.rs"]
mod agree;
#[path = "private/elements.rs"]
mod elements;
#[path = "private/ending.rs"]
mod ending;
#[path = "private/queues.rs"]
mod queues;
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
    cmp::{Eq, PartialEq},
    concat,
    convert::{From, Into},
    fmt::{self, Debug},
    hash::Hash,
    marker::{Copy, Sized},
    option::Option::{self, None, Some},
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
    handlers::{Handlers, Routed, StepCall, StepQueued, StepResult},
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
    agree::{
        InputIs, OutputIs, OutputUnlessExhausted, OutputUnlessUnmet, input, output, output_unless_exhausted,
        output_unless_unmet,
    },
    elements::{ElementIs, Elements, NoElements, is_list},
    ending::{Ended, NoEnd, call_async, call_blocking, fails_with},
    queues::{Slugs, routed_queues, step_queues, texts},
    shown::{Shown, ShownAnyhow},
    step_enum::deserialize_step,
    value::{Carrier, Described, FieldName, NoCarrier, is_value},
};
pub use crate::__step_enum as step_enum;

/// Stands where a flow with mistakes would have code; such a program does not compile, so it never runs.
///
/// # Panics
/// Always.
pub fn stand_in<T>() -> T {
    unreachable!("a flow with mistakes does not compile")
}
