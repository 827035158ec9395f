//! Makes arguments by hand, for calls of handlers without a database.

use crate::handler::args::StepArgs;

/// Makes the arguments of a call from JSON texts: the run's input, the element of a map's task, and outputs with their steps' indexes.
#[must_use]
pub fn sample_args(input: &str, item: Option<&str>, deps: &[(usize, &str)]) -> StepArgs {
    StepArgs {
        input: Some(input.into()),
        item: item.map(Into::into),
        deps: deps.iter().map(|&(step, output)| (step, output.into())).collect(),
    }
}
