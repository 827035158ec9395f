//! Arguments made by hand, for calls of handlers without a database.

use crate::handler::args::StepArgs;

/// The arguments of a call: JSON texts of the run's input, of the element, and of outputs by step index.
#[must_use]
pub fn sample_args(input: &str, item: Option<&str>, deps: &[(usize, &str)]) -> StepArgs {
    StepArgs {
        input: Some(input.into()),
        item: item.map(Into::into),
        deps: deps.iter().map(|&(step, output)| (step, output.into())).collect(),
    }
}
