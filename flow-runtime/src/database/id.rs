//! Ids of runs and workers, each a type of its own, so that the compiler refuses an id of the wrong kind.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The id of a run: a UUID. Ids that [`Client::start`](crate::Client::start) makes are of version 7, so they sort by the time at which they
/// were made.
///
/// ```
/// use flow_runtime::RunId;
///
/// let id: RunId = "01a22ecc-aaad-7049-9629-b662b7b67abb".parse()?;
/// assert_eq!(id.to_string(), "01a22ecc-aaad-7049-9629-b662b7b67abb");
/// # Ok::<(), uuid::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct RunId(Uuid);

impl RunId {
    /// A new id, which sorts behind those that this program has made before.
    pub(crate) fn generate() -> Self {
        Self(Uuid::now_v7())
    }

    /// The id as a UUID.
    pub const fn as_uuid(self) -> Uuid {
        self.0
    }
}

impl From<Uuid> for RunId {
    fn from(id: Uuid) -> Self {
        Self(id)
    }
}

impl From<RunId> for Uuid {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl FromStr for RunId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of a registered worker: the column `worker_id` of the view `flow.workers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct WorkerId(i64);

impl WorkerId {
    /// The id as a number.
    pub const fn as_i64(self) -> i64 {
        self.0
    }
}

impl From<i64> for WorkerId {
    fn from(id: i64) -> Self {
        Self(id)
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
