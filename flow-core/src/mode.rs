//! What a step is, and what happens when it does not run or does not succeed.

use std::fmt;

/// Whether a step has one task, or one task for each element of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "definition", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum StepKind {
    /// One task.
    Single,
    /// One task for each element of the source.
    Map,
}

/// What happens to a step, and to the steps that depend on it, when the step does not run or does not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "definition", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Mode {
    /// The step is skipped, and the steps that depend on it run without its output.
    Skip,
    /// The step is skipped, and so is every step that depends on it, directly or through others.
    SkipCascade,
    /// The run fails.
    Fail,
}

impl Mode {
    /// Every mode, in the order in which messages list them.
    pub const ALL: [Self; 3] = [Self::Skip, Self::SkipCascade, Self::Fail];
    /// The mode of an unmet condition, unless the step gives another.
    pub const WHEN_UNMET: Self = Self::Skip;
    /// The mode of an exhausted task, unless the step gives another.
    pub const WHEN_EXHAUSTED: Self = Self::Fail;

    /// The word for this mode: `skip`, `skip_cascade` or `fail`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::SkipCascade => "skip_cascade",
            Self::Fail => "fail",
        }
    }

    /// The mode whose word is `text`.
    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
