//! Statuses of runs, steps and tasks, and the moves between them.

use std::{fmt, str::FromStr};

/// A word that is no status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownStatus(String);

impl fmt::Display for UnknownStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no status that this version knows", self.0)
    }
}

impl std::error::Error for UnknownStatus {}

/// One status enum: its words, its terminal statuses and its legal moves, in one table.
macro_rules! status {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $word:literal => [$($next:ident),*],)+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[cfg_attr(
            feature = "definition",
            derive(serde::Serialize, serde::Deserialize),
            serde(rename_all = "snake_case")
        )]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every status.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The status as the database writes it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The statuses that may follow this one.
            pub const fn next(self) -> &'static [Self] {
                match self {
                    $(Self::$variant => &[$(Self::$next),*],)+
                }
            }

            /// Whether this status never changes again.
            pub const fn is_terminal(self) -> bool {
                self.next().is_empty()
            }

            /// Whether `next` may follow this status.
            pub fn may_become(self, next: Self) -> bool {
                self.next().contains(&next)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownStatus;

            fn from_str(word: &str) -> Result<Self, UnknownStatus> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|status| status.as_str() == word)
                    .ok_or_else(|| UnknownStatus(word.to_owned()))
            }
        }
    };
}

status! {
    /// The status of a run.
    RunStatus {
        /// Under way.
        Started = "started" => [Completed, Failed, Cancelled],
        /// Every step is completed or skipped.
        Completed = "completed" => [],
        /// A step failed.
        Failed = "failed" => [],
        /// Somebody cancelled it.
        Cancelled = "cancelled" => [],
    }
}

status! {
    /// The status of a step in a run.
    StepStatus {
        /// Waits for its dependencies.
        Created = "created" => [Started, Completed, Failed, Skipped, Cancelled],
        /// Has live tasks.
        Started = "started" => [Completed, Failed, Skipped, Cancelled],
        /// Has an output.
        Completed = "completed" => [],
        /// Failed, and the run with it.
        Failed = "failed" => [],
        /// Did not run, or did not succeed, and the run went on.
        Skipped = "skipped" => [],
        /// The run ended first.
        Cancelled = "cancelled" => [],
    }
}

status! {
    /// The status of a task.
    TaskStatus {
        /// Waits for a worker.
        Queued = "queued" => [Started, Skipped, Cancelled],
        /// Held by a worker; the next attempt takes over by starting again.
        Started = "started" => [Queued, Completed, Failed, Skipped, Cancelled],
        /// Has an output.
        Completed = "completed" => [],
        /// No attempt is left, or none would help.
        Failed = "failed" => [],
        /// Its step was skipped first.
        Skipped = "skipped" => [],
        /// Its run ended first.
        Cancelled = "cancelled" => [],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for status in TaskStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(*status));
        }
        assert!("paused".parse::<RunStatus>().is_err());
    }

    #[test]
    fn terminal_statuses_never_move() {
        assert!(!RunStatus::Started.is_terminal() && RunStatus::Failed.is_terminal());
        assert!(StepStatus::Created.may_become(StepStatus::Completed));
        assert!(!StepStatus::Started.may_become(StepStatus::Created));
        assert!(TaskStatus::Started.may_become(TaskStatus::Queued));
        assert!(!TaskStatus::Queued.may_become(TaskStatus::Completed));
    }

    #[test]
    fn a_word_that_is_no_status_is_named() {
        let error = "paused".parse::<TaskStatus>().expect_err("no status");
        assert_eq!(error.to_string(), "`paused` is no status that this version knows");
    }
}
