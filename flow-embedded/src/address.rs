//! The address of an embedded server, and connections to the server.

use std::time::Duration;

use sqlx::{
    ConnectOptions, Connection, PgConnection,
    postgres::{PgConnectOptions, PgSslMode},
};

use crate::{error::EmbeddedError, folder::Folder, pidfile::PidFile};

/// The name of an embedded cluster's superuser, and of the database from which other databases are created and removed.
pub(crate) const SUPERUSER: &str = "postgres";

/// The longest wait for one connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Port and password of a server.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) port: u16,
    password: String,
}

impl Address {
    /// Reads the address from the files of a cluster's folder; `None` while the server is not ready.
    pub(crate) fn read(folder: &Folder) -> Option<Self> {
        let server = PidFile::read(&folder.data()).filter(|server| server.is_ready)?;
        Some(Self { port: server.port, password: folder.password().ok()? })
    }

    /// The URL of one database. Names that were checked, and the hexadecimal password, need no escaping.
    pub(crate) fn url(&self, database: &str) -> String {
        let Self { port, password } = self;
        format!("postgres://{SUPERUSER}:{password}@127.0.0.1:{port}/{database}?sslmode=disable")
    }

    /// The options to connect to the managing database.
    pub(crate) fn manager(&self) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(self.port)
            .username(SUPERUSER)
            .password(&self.password)
            .database(SUPERUSER)
            .ssl_mode(PgSslMode::Disable)
    }

    /// Connects to the managing database and asks for the server's version, which proves that the server answers.
    pub(crate) async fn connect(&self) -> Result<(PgConnection, String), sqlx::Error> {
        let mut connection = connect(&self.manager()).await?;
        let version: String = sqlx::query_scalar("show server_version").fetch_one(&mut connection).await?;
        // Debian adds its own name to the version.
        let version = version.split_whitespace().next().unwrap_or_default().to_owned();
        Ok((connection, version))
    }

    /// Creates a database unless it exists.
    pub(crate) async fn create_database(&self, name: &str) -> Result<(), EmbeddedError> {
        let failed = |source| EmbeddedError::database(format!("create the database `{name}`"))(source);
        let (mut connection, _) = self.connect().await.map_err(failed)?;
        let exists: bool = sqlx::query_scalar("select exists (select from pg_database d where d.datname = $1)")
            .bind(name)
            .fetch_one(&mut connection)
            .await
            .map_err(failed)?;
        if !exists {
            let created = execute(&mut connection, format!("create database {name}")).await;
            // Another program may have created the database since the check.
            if let Err(cause) = created
                && !is_duplicate(&cause)
            {
                return Err(failed(cause));
            }
        }
        let _ = connection.close().await;
        Ok(())
    }
}

/// Connects within [`CONNECT_LIMIT`].
pub(crate) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    match tokio::time::timeout(CONNECT_LIMIT, options.connect()).await {
        Ok(connected) => connected,
        Err(_) => Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
    }
}

/// Runs a statement, whose names the caller has checked.
pub(crate) async fn execute(connection: &mut PgConnection, statement: String) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(connection).await.map(drop)
}

/// Refuses a database name that would need quoting.
pub(crate) fn check_database_name(name: &str) -> Result<(), EmbeddedError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_good = name.len() <= 63 && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_plain);
    if is_good { Ok(()) } else { Err(EmbeddedError::DatabaseName(name.into())) }
}

fn is_duplicate(cause: &sqlx::Error) -> bool {
    let code = cause.as_database_error().and_then(|error| error.code());
    // duplicate_database, or unique_violation when two programs wrote the catalogue at once.
    code.is_some_and(|code| code == "42P04" || code == "23505")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_name_needs_no_quotes() {
        assert!(check_database_name("flow_2").is_ok());
        for bad in ["", "2flow", "Flow", "flow-2", "flow;", &"f".repeat(64)] {
            let text = check_database_name(bad).unwrap_err().to_string();
            assert!(text.contains("use 1 to 63 of a-z"), "{text}");
        }
    }
}
