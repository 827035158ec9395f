//! Types for flows whose steps have queues of their own or are routed to named queues. They differ from the plain flow's type, so that the
//! compiler refuses a worker of the wrong kind.

use std::sync::Arc;

use flow_core::{
    definition::{FlowDefinition, QueueMode},
    flow::Flow,
};

use crate::handler::Handlers;

/// A flow of which each step has a private queue of its own. [`with_step_queues!`](crate::with_step_queues) makes such a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no flow with step queues",
    label = "expected a type that `with_step_queues!` made",
    note = "write `with_step_queues!(pub Queues for {Self});` beside the flow and pass `Queues::new(flow)` here",
    note = "a plain flow is served with `.flow(…)`"
)]
pub trait StepQueued {
    /// The flow.
    type Flow: Handlers;
    /// The names of the steps' queues, in step order.
    const QUEUES: &'static [&'static str];

    /// The flow's handlers.
    fn flow(&self) -> &Arc<Self::Flow>;

    /// The flow's definition with the queue mode `step_queues`.
    fn definition() -> FlowDefinition {
        let mut definition = <Self::Flow as Flow>::definition();
        definition.shape.queue_mode = QueueMode::StepQueues;
        definition
    }
}

/// A flow of which each step is routed to a named queue. [`route_flow!`](crate::route_flow) makes such a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no routed flow",
    label = "expected a type that `route_flow!` made",
    note = "write `route_flow!(pub Routes for {Self} {{ Step => \"queue\", … }});` and pass `Routes::new(flow)` here"
)]
pub trait Routed {
    /// The flow.
    type Flow: Handlers;
    /// The names of the steps' queues, in step order.
    const QUEUES: &'static [&'static str];

    /// The flow's handlers.
    fn flow(&self) -> &Arc<Self::Flow>;

    /// The flow's definition with the queue mode `routed` and each step's queue.
    fn definition() -> FlowDefinition {
        let mut definition = <Self::Flow as Flow>::definition();
        definition.shape.queue_mode = QueueMode::Routed;
        for (step, queue) in definition.shape.steps.iter_mut().zip(Self::QUEUES) {
            step.queue = Some((*queue).to_owned());
        }
        definition
    }
}

/// Makes a type that gives each step of a flow a private queue of its own.
///
/// A worker then serves one step, so that each step has a pool of its own. A queue's name is `flow__step` in lower case, or
/// `flow__index` where `flow__step` has more than 47 bytes; where neither fits, the program does not compile.
///
/// ```
/// # use flow_runtime::prelude::*;
/// # pub struct Checkout;
/// # #[flow(input = u32)]
/// # impl Checkout {
/// #     #[step]
/// #     async fn charge(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
/// # }
/// use flow_runtime::{StepQueued, with_step_queues};
///
/// with_step_queues!(pub CheckoutQueues for Checkout);
///
/// assert_eq!(CheckoutQueues::QUEUES, ["checkout__charge"]);
/// let queues = CheckoutQueues::new(Checkout);
/// # let _ = queues;
/// ```
#[macro_export]
macro_rules! with_step_queues {
    ($(#[$meta:meta])* $vis:vis $name:ident for $flow:ty $(,)?) => {
        $crate::__queued_flow!($(#[$meta])* $vis $name for $flow, " with a private queue for each step.");

        const _: () = {
            #[allow(unused_imports)]
            use $crate::generated::NoSlugs as _;
            const SLUGS: $crate::generated::Slugs = $crate::generated::SlugsOf::<$flow>::SLUGS;
            const NAMES: &'static [$crate::generated::QueueName; SLUGS.steps.len()] =
                &$crate::generated::step_queues(SLUGS);
            const TEXTS: &'static [&'static $crate::generated::str; SLUGS.steps.len()] =
                &$crate::generated::texts(NAMES);

            #[automatically_derived]
            impl $crate::generated::StepQueued for $name {
                type Flow = $flow;
                const QUEUES: &'static [&'static $crate::generated::str] = TEXTS;

                fn flow(&self) -> &$crate::generated::Arc<Self::Flow> {
                    &self.flow
                }
            }
        };
    };
    ($($other:tt)*) => {
        $crate::generated::compile_error!(
            "the form is `with_step_queues!(pub Queues for Shop);`, with the name of the type that is made and that of the flow"
        );
    };
}

/// Makes a type that routes each step of a flow to the queue that is named for the step.
///
/// Every step is named once, by its variant; a queue may be named several times. The program does not compile when a step is missing,
/// named twice or unknown, or when a queue's name is not allowed.
///
/// ```
/// # use flow_runtime::prelude::*;
/// # pub struct Checkout;
/// # #[flow(input = u32)]
/// # impl Checkout {
/// #     #[step]
/// #     async fn reserve(&self, input: u32) -> Result<u32, StepError> { Ok(input) }
/// #     #[step]
/// #     async fn ship(&self, reserve: u32) -> Result<u32, StepError> { Ok(reserve) }
/// # }
/// use flow_runtime::{Routed, route_flow};
///
/// route_flow!(pub CheckoutRoutes for Checkout { Ship => "carriers", Reserve => "stock" });
///
/// assert_eq!(CheckoutRoutes::QUEUES, ["stock", "carriers"]);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! route_flow {
    ($(#[$meta:meta])* $vis:vis $name:ident for $flow:ty { $($step:ident => $queue:literal),* $(,)? } $(,)?) => {
        $crate::__queued_flow!($(#[$meta])* $vis $name for $flow, " with each step on the queue it is routed to.");

        const _: () = {
            type __Step = <$flow as $crate::generated::Flow>::Step;
            #[allow(unused_imports)]
            use $crate::generated::NoSlugs as _;
            const SLUGS: $crate::generated::Slugs = $crate::generated::SlugsOf::<$flow>::SLUGS;
            const NAMES: &'static [&'static $crate::generated::str; SLUGS.steps.len()] =
                &$crate::generated::routed_queues(SLUGS, &[$((<__Step>::$step.index(), $queue)),*]);

            #[automatically_derived]
            impl $crate::generated::Routed for $name {
                type Flow = $flow;
                const QUEUES: &'static [&'static $crate::generated::str] = NAMES;

                fn flow(&self) -> &$crate::generated::Arc<Self::Flow> {
                    &self.flow
                }
            }
        };
    };
    ($($other:tt)*) => {
        $crate::generated::compile_error!(
            "the form is `route_flow!(pub Routes for Shop { Reserve => \"stock\", Ship => \"carriers\" });`, with each step by \
             its variant and its queue as a text"
        );
    };
}

/// Makes the struct of [`with_step_queues!`](crate::with_step_queues) and [`route_flow!`](crate::route_flow).
#[doc(hidden)]
#[macro_export]
macro_rules! __queued_flow {
    ($(#[$meta:meta])* $vis:vis $name:ident for $flow:ty, $doc:literal) => {
        $(#[$meta])*
        #[doc = $crate::generated::concat!("[`", $crate::generated::stringify!($flow), "`]", $doc)]
        #[allow(dead_code, unreachable_pub)]
        $vis struct $name {
            flow: $crate::generated::Arc<$flow>,
        }

        #[allow(dead_code, unreachable_pub)]
        impl $name {
            /// The flow with its handlers.
            $vis fn new(flow: impl $crate::generated::Into<$crate::generated::Arc<$flow>>) -> Self {
                Self { flow: $crate::generated::Into::into(flow) }
            }
        }
    };
}
