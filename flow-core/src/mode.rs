//! What a step is, and what happens when it does not run or does not succeed.

use std::fmt;

/// One task, or one task an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "definition", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum StepKind {
    /// One task.
    Single,
    /// One task for each element of the source.
    Map,
}

/// What happens to a step, and to those behind it, when it does not run or does not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "definition", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Mode {
    /// The step is skipped and those behind it go on without it.
    Skip,
    /// The step and everything behind it are skipped.
    SkipCascade,
    /// The run fails.
    Fail,
}

impl Mode {
    /// Every mode, in the order in which messages list them.
    pub const ALL: [Self; 3] = [Self::Skip, Self::SkipCascade, Self::Fail];
    /// What a condition that is not met does unless the step says otherwise.
    pub const WHEN_UNMET: Self = Self::Skip;
    /// What an exhausted task does unless the step says otherwise.
    pub const WHEN_EXHAUSTED: Self = Self::Fail;

    /// The mode as it is written: `skip`, `skip_cascade` or `fail`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::SkipCascade => "skip_cascade",
            Self::Fail => "fail",
        }
    }

    /// The mode that is written `text`.
    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
