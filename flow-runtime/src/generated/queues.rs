//! The queues of step-queued and routed flows, as constants.

use std::marker::PhantomData;

use flow_core::{
    flow::Flow,
    queue_name::{MAX_QUEUE_NAME, QueueName, is_queue_name},
};

use crate::generated::const_text::Text;

/// The slugs of a flow and of its steps.
#[derive(Debug, Clone, Copy)]
pub struct Slugs {
    /// The flow's.
    pub flow: &'static str,
    /// The steps', in step order.
    pub steps: &'static [&'static str],
}

/// The slugs of `F`. Where `F` is no flow that is reported elsewhere, and [`NoSlugs`] stands in.
pub struct SlugsOf<F>(PhantomData<F>);

impl<F: Flow> SlugsOf<F> {
    /// Those of flow `F` and of its steps.
    pub const SLUGS: Slugs = Slugs { flow: F::SLUG, steps: F::STEP_SLUGS };
}

/// No slugs; see [`SlugsOf`].
pub trait NoSlugs {
    /// No step, so that no queue can be wrong too.
    const SLUGS: Slugs = Slugs { flow: "", steps: &[] };
}

impl<F> NoSlugs for SlugsOf<F> {}

/// The private queues of a flow's steps.
///
/// # Panics
/// When a step has no queue name that fits; in a constant that is an error of the compiler.
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

/// The queues that `routes`, pairs of step index and name, give to a flow's steps.
///
/// # Panics
/// When a step has no route or two, or a name is no name of a queue; in a constant that is an error of the compiler.
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
        // A flow with mistakes has no steps here; those are reported elsewhere.
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

/// Names as text.
pub const fn texts<const N: usize>(names: &'static [QueueName; N]) -> [&'static str; N] {
    let mut texts = [""; N];
    let mut place = 0;
    while place < N {
        texts[place] = names[place].as_str();
        place += 1;
    }
    texts
}
