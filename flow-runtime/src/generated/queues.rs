//! The names of the queues of flows with step queues and of routed flows, as constants.

use std::marker::PhantomData;

use flow_core::{
    flow::Flow,
    queue_name::{MAX_QUEUE_NAME, QueueName, is_queue_name},
};

use crate::generated::const_text::Text;

/// The slugs of a flow and of its steps.
#[derive(Debug, Clone, Copy)]
pub struct Slugs {
    /// The flow's slug.
    pub flow: &'static str,
    /// The steps' slugs, in step order.
    pub steps: &'static [&'static str],
}

/// The slugs of flow `F`. For a type that is no flow, the generated impl reports the mistake, and the slugs of [`NoSlugs`] are used.
pub struct SlugsOf<F>(PhantomData<F>);

impl<F: Flow> SlugsOf<F> {
    /// The slugs of flow `F` and of its steps.
    pub const SLUGS: Slugs = Slugs { flow: F::SLUG, steps: F::STEP_SLUGS };
}

/// No slugs, for a type that is no flow.
pub trait NoSlugs {
    /// No steps, so that no second error about a queue is reported.
    const SLUGS: Slugs = Slugs { flow: "", steps: &[] };
}

impl<F> NoSlugs for SlugsOf<F> {}

/// The names of the private queues of a flow's steps, in step order.
///
/// # Panics
/// When no name of a step's queue is short enough; in a constant the panic is an error of the compiler.
#[must_use]
pub const fn step_queues<const N: usize>(Slugs { flow, steps }: Slugs) -> [QueueName; N] {
    let mut names = [QueueName::EMPTY; N];
    let mut index = 0;
    while index < N {
        names[index] = match QueueName::of_step(flow, steps[index], index) {
            Ok(name) => name,
            Err(found) => Text::new()
                .with("step `")
                .with(steps[index])
                .with("` of flow `")
                .with(flow)
                .with("` has no queue name that fits: `")
                .with(flow)
                .with("__")
                .with(steps[index])
                .with("` has ")
                .with_number(found.readable)
                .with(" bytes and `")
                .with(flow)
                .with("__")
                .with_number(index)
                .with("` has ")
                .with_number(found.fallback)
                .with(", but at most ")
                .with_number(MAX_QUEUE_NAME)
                .with(" are allowed; give the flow a shorter slug")
                .panic(),
        };
        index += 1;
    }
    names
}

/// The names of the queues of a flow's steps, in step order. `routes` has pairs of a step's index and its queue's name.
///
/// # Panics
/// When a step has no route or two, or a queue's name is not allowed; in a constant the panic is an error of the compiler.
#[must_use]
pub const fn routed_queues<const N: usize>(
    Slugs { flow, steps }: Slugs,
    routes: &[(usize, &'static str)],
) -> [&'static str; N] {
    let mut queues = [""; N];
    let mut place = 0;
    while place < routes.len() {
        let (step, queue) = routes[place];
        place += 1;
        // A type that is no flow has no steps here, and its mistake is reported by the generated impl.
        if step >= N {
            continue;
        }
        if !queues[step].is_empty() {
            Text::new()
                .with("step `")
                .with(steps[step])
                .with("` of flow `")
                .with(flow)
                .with("` is routed twice; name it once")
                .panic();
        }
        if !is_queue_name(queue) {
            Text::new()
                .with("step `")
                .with(steps[step])
                .with("` is routed to `")
                .with(queue)
                .with("`, which is no name of a queue: it is 1 to ")
                .with_number(MAX_QUEUE_NAME)
                .with(" of a-z, 0-9 and `_`")
                .panic();
        }
        queues[step] = queue;
    }
    let mut step = 0;
    while step < N {
        if queues[step].is_empty() {
            Text::new()
                .with("step `")
                .with(steps[step])
                .with("` of flow `")
                .with(flow)
                .with("` has no route; every step names its queue, as in `Ship => \"carriers\"`")
                .panic();
        }
        step += 1;
    }
    queues
}

/// The queue names as texts.
pub const fn texts<const N: usize>(names: &'static [QueueName; N]) -> [&'static str; N] {
    let mut texts = [""; N];
    let mut place = 0;
    while place < N {
        texts[place] = names[place].as_str();
        place += 1;
    }
    texts
}
