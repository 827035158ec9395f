//! Connections outside of the pool. Their errors name the address.

use sqlx::PgConnection;

use crate::{
    database::{
        backend::{OwnName, Purpose},
        pool::SharedPool,
    },
    error::DbError,
};

/// Opens connections to the server that the shared pool uses. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connector(SharedPool);

impl Connector {
    pub(crate) fn new(pool: SharedPool) -> Self {
        Self(pool)
    }

    pub(crate) fn pool(&self) -> &SharedPool {
        &self.0
    }

    /// Opens a connection for a few calls. A pooler may stand behind the address.
    ///
    /// # Errors
    /// [`DbError`], which says whether address, user or database is at fault.
    pub(crate) async fn connect(&self) -> Result<PgConnection, DbError> {
        self.named(self.0.open(&Purpose::Statements).await)
    }

    /// Opens a connection that lasts, under a name that no other connection has.
    pub(crate) async fn connect_own(&self) -> Result<(PgConnection, OwnName), DbError> {
        let name = OwnName::new(&self.0.options());
        let opened = self.0.open(&Purpose::Lasting(name.clone())).await;
        Ok((self.named(opened)?, name))
    }

    /// Refuses an address where a pooler hands server processes from client to client between two statements: no worker can use one.
    pub(crate) async fn refuse_shared_processes(&self) -> Result<(), DbError> {
        if self.named(self.0.shares_processes().await)? {
            return Err(DbError::TransactionPooler { address: self.address() });
        }
        Ok(())
    }

    /// Host, port and database, for people; never user or password.
    pub(crate) fn address(&self) -> String {
        let options = self.0.options();
        let database = options.get_database().unwrap_or(options.get_username());
        format!("{}:{}/{database}", options.get_host(), options.get_port())
    }

    /// Puts the address into the error.
    fn named<T>(&self, called: sqlx::Result<T>) -> Result<T, DbError> {
        called.map_err(|error| DbError::connecting(error, &self.address(), self.0.options().get_username()))
    }
}
