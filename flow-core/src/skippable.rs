//! Computes which outputs may be absent, for the steps that take them and in the run's output.

use crate::mode::Mode;

/// The two modes of a step, which decide whether its output may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepModes {
    /// What an unmet condition does; `None` without a condition.
    pub when_unmet: Option<Mode>,
    /// What an exhausted task does.
    pub when_exhausted: Mode,
}

/// The option that lets a step be skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipCause {
    /// The condition, which has this mode when unmet.
    Unmet(Mode),
    /// The last attempt, which has this mode when it fails.
    Exhausted(Mode),
}

impl SkipCause {
    /// The option as the user writes it: `when_unmet = skip`.
    pub fn describe(self) -> String {
        match self {
            Self::Unmet(mode) => format!("when_unmet = {mode}"),
            Self::Exhausted(mode) => format!("when_exhausted = {mode}"),
        }
    }
}

impl StepModes {
    /// The option by which a dependent of this step may run without its output, if there is one: an option with mode `skip`.
    pub fn absent_for_dependents(self) -> Option<SkipCause> {
        self.cause_with(Mode::Skip)
    }

    /// The option by which skipping this step skips all its dependents too, if there is one.
    pub fn cascades(self) -> Option<SkipCause> {
        self.cause_with(Mode::SkipCascade)
    }

    fn cause_with(self, mode: Mode) -> Option<SkipCause> {
        if self.when_unmet == Some(mode) {
            Some(SkipCause::Unmet(mode))
        } else if self.when_exhausted == mode {
            Some(SkipCause::Exhausted(mode))
        } else {
            None
        }
    }
}

/// Tells for each step whether a completed run may lack the step's output, because the step itself is skipped or an
/// earlier step's `skip_cascade` reaches it.
///
/// `steps` and `dependencies` are in step order; `dependencies[i]` lists the places of the steps for which step `i` waits.
pub fn may_lack_output(steps: &[StepModes], dependencies: &[Vec<usize>]) -> Vec<bool> {
    let mut is_cascaded = vec![false; steps.len()];
    let mut may_lack = Vec::with_capacity(steps.len());
    for (step, modes) in steps.iter().enumerate() {
        let from_before = dependencies[step].iter().any(|&needed| is_cascaded[needed]);
        is_cascaded[step] = from_before || modes.cascades().is_some();
        may_lack.push(is_cascaded[step] || modes.absent_for_dependents().is_some());
    }
    may_lack
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: StepModes = StepModes { when_unmet: None, when_exhausted: Mode::Fail };

    #[test]
    fn only_a_plain_skip_is_absent_for_dependents() {
        let both = StepModes { when_unmet: Some(Mode::SkipCascade), when_exhausted: Mode::Skip };
        assert_eq!(both.absent_for_dependents(), Some(SkipCause::Exhausted(Mode::Skip)));
        let cascade = StepModes { when_unmet: Some(Mode::SkipCascade), when_exhausted: Mode::Fail };
        assert_eq!(cascade.absent_for_dependents(), None);
        assert_eq!(PLAIN.absent_for_dependents(), None);
    }

    #[test]
    fn a_cascade_reaches_every_step_behind_it() {
        let cascade = StepModes { when_unmet: Some(Mode::SkipCascade), ..PLAIN };
        let skip = StepModes { when_exhausted: Mode::Skip, ..PLAIN };
        let steps = [cascade, PLAIN, PLAIN, skip, PLAIN];
        let lacks = may_lack_output(&steps, &[vec![], vec![0], vec![1], vec![], vec![3]]);
        assert_eq!(lacks, [true, true, true, true, false]);
    }

    #[test]
    fn a_cause_is_the_option_as_it_is_written() {
        assert_eq!(SkipCause::Unmet(Mode::Skip).describe(), "when_unmet = skip");
        assert_eq!(SkipCause::Exhausted(Mode::SkipCascade).describe(), "when_exhausted = skip_cascade");
    }
}
