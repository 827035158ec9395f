//! Why no server could be started or joined. Each error's text says what can be done.

use std::{io, path::PathBuf};

/// A refusal of [`open`](crate::open), [`open_tests`](crate::open_tests) or [`start_private`](crate::start_private).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedError {
    /// A variable that names a server does not hold a Postgres URL. The value is not shown: it may hold a password.
    #[error("{variable} is not a Postgres URL; write it as postgres://USER:PASSWORD@HOST:5432/DATABASE, or unset it")]
    InvalidUrl {
        /// The environment variable.
        variable: &'static str,
        /// What the driver says about the URL.
        #[source]
        source: sqlx::Error,
    },

    /// The database's name cannot be used unquoted in a URL and in SQL.
    #[error("`{0}` cannot name an embedded database; use 1 to 63 of a-z, 0-9 and `_`, a letter first")]
    DatabaseName(String),

    /// `FLOW_PG_BIN` names a folder without usable server programs.
    #[error(
        "FLOW_PG_BIN cannot be used: {reason}; set it to the folder that holds `postgres` and `initdb` of \
             PostgreSQL 15 or newer, to `none`, or unset it"
    )]
    Binaries {
        /// What is wrong with the folder.
        reason: String,
    },

    /// Neither this machine nor a package index has a server to start.
    #[error("no PostgreSQL server to start ({tried}); take one of these ways, then run again:\n{}", ways_out())]
    NoServer {
        /// What was tried, and why each could not be used.
        tried: String,
    },

    /// This process runs as root, Postgres refuses to run as root, and there is no other account to run the server.
    #[error(
        "Postgres refuses to run as root, and this machine has neither a user `postgres` nor `nobody` to run it as; \
             add one (useradd --system postgres), or set FLOW_DATABASE_URL to a running server"
    )]
    NoAccount,

    /// The account that runs the server cannot enter a folder.
    #[error("`{}` cannot be entered by user `{user}`, who runs the server because you are root; \
             choose a folder elsewhere with FLOW_PG_DATA", .path.display())]
    NotEnterable {
        /// The folder that is closed to the account.
        path: PathBuf,
        /// The account.
        user: String,
    },

    /// A folder belongs to somebody else, or others may write to it.
    #[error("`{}` {problem}; remove it, or choose another folder with FLOW_PG_DATA", .path.display())]
    UnsafeFolder {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },

    /// The folder holds something that is not an embedded cluster.
    #[error("`{}` holds `{found}`, which is none of ours; choose an empty folder with FLOW_PG_DATA", .path.display())]
    ForeignFolder {
        /// The folder.
        path: PathBuf,
        /// An entry of the folder that does not belong there.
        found: String,
    },

    /// The data was written by another major version of Postgres.
    #[error("`{}` holds data of PostgreSQL {found}, but the programs in `{}` are {expected}; set FLOW_PG_BIN to the \
             programs of PostgreSQL {found}, choose another folder with FLOW_PG_DATA, or remove the folder if its data is \
             not needed", .path.display(), .binaries.display())]
    OtherMajor {
        /// The cluster's folder.
        path: PathBuf,
        /// The version that wrote the data.
        found: String,
        /// The version of the programs.
        expected: u32,
        /// Where the programs are.
        binaries: PathBuf,
    },

    /// The operating system refused a file or folder.
    #[error("cannot {action} `{}`; check its owner and free space, or choose another folder with FLOW_PG_DATA", .path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },

    /// A program that the start needs cannot be run.
    #[error("cannot run `{program}`; install it, or set FLOW_DATABASE_URL to a running server")]
    Program {
        /// The program.
        program: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },

    /// `initdb` failed.
    #[error("initdb made no cluster in `{}`: {output}; mend that, or set FLOW_DATABASE_URL to a running server", .path.display())]
    Initdb {
        /// The cluster's folder.
        path: PathBuf,
        /// The last lines that `initdb` printed.
        output: String,
    },

    /// The server ended before it was ready, or was not ready in time.
    #[error("the server in `{}` did not start: {output}; its log is `{}`, and removing the folder starts afresh \
             without its data", .path.display(), .path.join("server.log").display())]
    Start {
        /// The cluster's folder.
        path: PathBuf,
        /// The last lines of the server's log.
        output: String,
    },

    /// Another program has held the start lock for too long.
    #[error("another program has been starting the server in `{}` for {seconds} s; end that program, then run again",
            .path.display())]
    Locked {
        /// The cluster's folder.
        path: PathBuf,
        /// How long this program waited.
        seconds: u64,
    },

    /// The server runs but does not answer, or does not end.
    #[error("the server in `{}` (process {pid}) runs but cannot be used; end it with `kill {pid}`, then run again",
            .path.display())]
    Unanswered {
        /// The cluster's folder.
        path: PathBuf,
        /// The server's process id.
        pid: u32,
        /// The error of the last attempt to connect, if any.
        #[source]
        source: Option<sqlx::Error>,
    },

    /// A statement that manages databases failed.
    #[error("cannot {action}; see the cause, and check that the server runs and that its user may create databases")]
    Database {
        /// What was tried.
        action: String,
        /// The driver's answer.
        #[source]
        source: sqlx::Error,
    },

    /// The template of the databases for tests could not be migrated.
    #[error("the template of the databases for tests could not be migrated; see the cause")]
    Migrate(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl EmbeddedError {
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }

    pub(crate) fn database(action: impl Into<String>) -> impl FnOnce(sqlx::Error) -> Self {
        let action = action.into();
        move |source| Self::Database { action, source }
    }
}

/// What a user can do about [`EmbeddedError::NoServer`], as commands to paste.
fn ways_out() -> String {
    let install =
        if cfg!(target_os = "macos") { "brew install postgresql@18" } else { "apt-get install -y postgresql" };
    format!(
        "  1. install the server programs:  {install}\n  \
         2. use a container:  docker run -d -p 5432:5432 -e POSTGRES_PASSWORD=flow postgres:18 && \
         export FLOW_DATABASE_URL=postgres://postgres:flow@127.0.0.1:5432/postgres\n  \
         3. use a server you have:  export FLOW_DATABASE_URL=postgres://USER:PASSWORD@HOST:5432/DATABASE"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_server_is_told_three_ways_out() {
        let text = EmbeddedError::NoServer { tried: "no server programs on this machine".into() }.to_string();
        let ways: Vec<&str> = text.lines().skip(1).map(str::trim).collect();
        assert!(text.starts_with("no PostgreSQL server to start (no server programs on this machine); take one"));
        assert!(ways[0].starts_with("1. ") && ways[1].starts_with("2. ") && ways[2].starts_with("3. "), "{text}");
        assert!(ways[2].contains("export FLOW_DATABASE_URL=postgres://"), "{text}");
    }
}
