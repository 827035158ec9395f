//! The private Postgres of [`flow_embedded`] as a database for clients and workers.

pub use flow_embedded::{Embedded, EmbeddedError, PrivateServer, TestDatabase, TestServer, open_tests, start_private};

use crate::{
    Db,
    database::migrate,
    error::{DbError, MigrateError},
};

/// Opens the database `database` of the kept embedded server, as [`flow_embedded::open`] does.
///
/// A database that was made by another edition of flow, whose schema this program cannot bring to its own, is left as it is. The program
/// gets another database of the same server, whose name adds eight hexadecimal digits, and a line in the log tells this.
///
/// # Errors
/// [`EmbeddedError`], which says what was expected and what can be done.
pub async fn open(database: &str) -> Result<Embedded, EmbeddedError> {
    let mut server = flow_embedded::open(database).await?;
    if server.is_external() {
        return Ok(server);
    }
    let is_foreign = async { migrate::is_of_other_edition(&mut Db::new(server.url())?.connect().await?).await };
    // An error of this question counts as "no": the calls that follow meet the same error and return it.
    if is_foreign.await.unwrap_or(false) {
        let beside = format!("{database}_{}", migrate::edition());
        server.take_database(&beside).await?;
        tracing::warn!(
            "the database `{database}` of the embedded server was made by another edition of flow and is left as it is; \
             `{beside}` is used beside it"
        );
    }
    Ok(server)
}

impl Db {
    /// Takes the database of an embedded server, migrates it and [sets it to development](Db::set_development). A database that the user
    /// names with `FLOW_DATABASE_URL` is left as it is, and no connection is made.
    ///
    /// # Errors
    /// [`MigrateError`]; nothing is half applied.
    pub async fn embedded(server: &Embedded) -> Result<Self, MigrateError> {
        let db = Self::new(server.url())?;
        if !server.is_external() {
            db.migrate().await?;
            db.set_development().await?;
        }
        Ok(db)
    }

    /// Sets a migrated database to development: a flow may then be deployed with another shape under its slug, which deletes the flow's
    /// runs.
    ///
    /// # Errors
    /// [`DbError`] when the database cannot be reached, or was not migrated.
    pub async fn set_development(&self) -> Result<(), DbError> {
        let mut connection = self.connect().await?;
        let set = "select flow.set_setting('environment', '\"development\"')";
        sqlx::query(set).persistent(false).execute(&mut connection).await?;
        Ok(sqlx::Connection::close(connection).await?)
    }
}
