//! What a server is made of: who runs it, which programs, in which folder, and how durably.

use std::path::PathBuf;

use super::{
    EmbeddedError,
    account::Account,
    binaries::Binaries,
    folder::{Folder, Home},
};

/// Everything that is settled before a server is joined or started.
#[derive(Debug, Clone)]
pub(super) struct Site {
    pub(super) account: Account,
    pub(super) binaries: Binaries,
    pub(super) folder: Folder,
    /// Whether the data is meant to survive: fsync on, and nothing is ever thrown away.
    pub(super) is_durable: bool,
    /// How long the server waits for another user after the last one has left, in seconds.
    pub(super) linger_s: u32,
}

impl Site {
    /// The kept cluster, in `FLOW_PG_DATA` or the home folder. Blocks.
    pub(super) fn kept() -> Result<Self, EmbeddedError> {
        let (account, binaries) = Self::ground()?;
        let place = match super::env_value("FLOW_PG_DATA") {
            Some(place) => place.into(),
            None => Home::open(&account)?.path().join(format!("pg{}", binaries.major)),
        };
        let folder = Folder::open(&place, &account)?;
        Ok(Self { account, binaries, folder, is_durable: true, linger_s: 0 })
    }

    /// The cluster that all tests share. It lingers, because a test runner ends one process before it starts the next. Blocks.
    pub(super) fn tests() -> Result<Self, EmbeddedError> {
        let (account, binaries) = Self::ground()?;
        let place = Home::open(&account)?.path().join(format!("test-pg{}", binaries.major));
        let folder = Folder::open(&place, &account)?;
        Ok(Self { account, binaries, folder, is_durable: false, linger_s: 3 })
    }

    /// A cluster of one's own, in a folder that `make` makes in the home folder. Blocks.
    pub(super) fn private(make: impl FnOnce(&Home) -> Result<PathBuf, EmbeddedError>) -> Result<Self, EmbeddedError> {
        let (account, binaries) = Self::ground()?;
        let folder = Folder::open(&make(&Home::open(&account)?)?, &account)?;
        Ok(Self { account, binaries, folder, is_durable: false, linger_s: 0 })
    }

    fn ground() -> Result<(Account, Binaries), EmbeddedError> {
        let account = Account::current()?;
        let binaries = Binaries::find(&account)?;
        Ok((account, binaries))
    }
}
