//! The private Postgres of [`flow_embedded`], as a database for clients and workers.

pub use flow_embedded::{
    Embedded, EmbeddedError, PrivateServer, TestDatabase, TestServer, open, open_tests, start_private,
};

use crate::{
    Db,
    error::{DbError, MigrateError},
};

impl Db {
    /// The database of an embedded server, migrated and [set to development](Db::set_development). One that the user names with
    /// `FLOW_DATABASE_URL` is left as it is, and no connection is made.
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

    /// Sets a migrated database to development: a flow may then be deployed with another shape under its name, which deletes its runs.
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
