//! The settings of the engine's connections, the name of each connection, and how the server process of a lost connection is ended.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Postgres, postgres::PgConnectOptions};
use uuid::Uuid;

use crate::database::literal::literal;

/// Settings that the engine relies on and that a database or a role may set otherwise. Only settings that differ are set, so that in the
/// usual case nothing is left behind on a server process that a pooler hands on.
const SETTINGS: &str = "select set_config(s.name, s.value, false) from (values
    ('default_transaction_isolation', 'read committed'),
    ('standard_conforming_strings', 'on')) s(name, value) where current_setting(s.name) <> s.value";

/// Settings of a connection that lasts: a frozen client or a broken network must not keep a transaction and its locks open on the server.
/// An unanswered packet ends the connection after 30 s, silence after 30 + 3 times 10 s, and an idle transaction after 60 s.
const LASTING: &str = "select set_config(s.name, s.value, false) from (values
    ('tcp_user_timeout', '30s'), ('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'),
    ('tcp_keepalives_count', '3'), ('idle_in_transaction_session_timeout', '60s')) s(name, value)";

/// The longest name that PostgreSQL keeps, in bytes.
const LONGEST_NAME: usize = 63;

/// The name of one connection, which no other connection to any server has.
#[derive(Debug, Clone)]
pub(crate) struct OwnName(String);

impl OwnName {
    /// A new name, which begins with the application's name.
    pub(crate) fn new(options: &PgConnectOptions) -> Self {
        let unique = Uuid::now_v7().simple().to_string();
        let mut application: String = options.get_application_name().unwrap_or("flow").to_owned();
        while application.len() + 1 + unique.len() > LONGEST_NAME || !application.is_ascii() {
            application.pop();
        }
        Self(format!("{application} {unique}"))
    }

    /// Returns `options` with this name.
    pub(crate) fn on(&self, options: &PgConnectOptions) -> PgConnectOptions {
        options.clone().application_name(&self.0)
    }
}

/// What a connection is opened for.
pub(crate) enum Purpose {
    /// One call, whose message brings its own settings.
    Call,
    /// A few statements, with the settings that the engine relies on.
    Statements,
    /// The calls of a worker or a heartbeat: the connection lasts and has this name.
    Lasting(OwnName),
}

impl Purpose {
    pub(crate) async fn open(&self, options: &PgConnectOptions) -> sqlx::Result<PgConnection> {
        match self {
            Self::Call => PgConnection::connect_with(options).await,
            Self::Statements => {
                let mut connection = PgConnection::connect_with(options).await?;
                prepare(&mut connection).await?;
                Ok(connection)
            }
            Self::Lasting(name) => {
                let mut connection = PgConnection::connect_with(&name.on(options)).await?;
                prepare(&mut connection).await?;
                let_go_when_frozen(&mut connection).await?;
                Ok(connection)
            }
        }
    }
}

/// Sets the settings that the engine relies on.
pub(crate) async fn prepare(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::raw_sql(SETTINGS).execute(connection).await.map(drop)
}

/// Makes the server end this connection when its client is frozen or the network is broken.
pub(crate) async fn let_go_when_frozen(connection: impl Executor<'_, Database = Postgres>) -> sqlx::Result<()> {
    sqlx::raw_sql(LASTING).execute(connection).await.map(drop)
}

/// Whether a pooler behind the address hands server processes from client to client between two statements.
pub(crate) async fn shares_processes(options: &PgConnectOptions) -> sqlx::Result<bool> {
    let mut one = PgConnection::connect_with(options).await?;
    let mut other = PgConnection::connect_with(options).await?;
    let is_shared = is_shared_between(&mut one, &mut other).await?;
    let (_, _) = (one.close().await, other.close().await);
    Ok(is_shared)
}

/// How often both connections are asked. On a busy pooler, chance may give two connections the answers of unshared processes at first.
const PROBES: usize = 12;

/// Whether the same server process answers both connections, or the first connection is answered by another process than before.
async fn is_shared_between(one: &mut PgConnection, other: &mut PgConnection) -> sqlx::Result<bool> {
    let first = process_id(one).await?;
    for _ in 0..PROBES {
        if process_id(other).await? == first || process_id(one).await? != first {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Asks for the server process's id in one message, since another server process may not have a statement that was prepared.
async fn process_id(connection: &mut PgConnection) -> sqlx::Result<i32> {
    use sqlx::Row;

    connection.fetch_one("select pg_backend_pid()").await?.try_get(0)
}

/// Ends the server process of a lost connection, if the process still runs, and waits up to 5 s until it is gone. The lost connection's
/// last call is committed or rolled back by then, and cannot be committed later.
///
/// The process is found by the connection's name, so a process that a pooler has handed to another client, under another name, is safe.
pub(crate) async fn end_own(connection: &mut PgConnection, name: &OwnName) -> sqlx::Result<()> {
    // `role none` acts as the user who logged in: a role set on top may neither see nor end that user's processes.
    let end = format!(
        "set local role none; select pg_terminate_backend(a.pid, 5000) from pg_stat_activity a
         where starts_with(a.application_name, {}) and a.pid <> pg_backend_pid()",
        literal(&name.0)
    );
    sqlx::raw_sql(AssertSqlSafe(end)).execute(connection).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_unique_and_fits() {
        let options = PgConnectOptions::new_without_pgpass().application_name(&"shöp".repeat(30));
        let (one, other) = (OwnName::new(&options).0, OwnName::new(&options).0);
        assert!(one.len() <= LONGEST_NAME && one.starts_with("sh ") && one != other, "{one}");
    }
}
