//! Connections outside of the pool, and errors that name the address.

use sqlx::PgConnection;

use crate::{
    database::{
        backend::{OwnName, Purpose},
        pool::SharedPool,
    },
    error::DbError,
};

/// Opens connections to the server that the pool leads to. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connector(SharedPool);

impl Connector {
    pub(crate) fn new(pool: SharedPool) -> Self {
        Self(pool)
    }

    pub(crate) fn pool(&self) -> &SharedPool {
        &self.0
    }

    /// A connection for a few calls, also through a pooler.
    ///
    /// # Errors
    /// What is wrong with address, user or database.
    pub(crate) async fn connect(&self) -> Result<PgConnection, DbError> {
        self.named(self.0.open(&Purpose::Statements).await)
    }

    /// A connection that lasts, with a name that tells it from all others.
    pub(crate) async fn connect_own(&self) -> Result<(PgConnection, OwnName), DbError> {
        let name = OwnName::new(&self.0.options());
        let opened = self.0.open(&Purpose::Lasting(name.clone())).await;
        Ok((self.named(opened)?, name))
    }

    /// Refuses an address behind which connections share server processes statement by statement, which no worker can use.
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

    /// The error names the address.
    fn named<T>(&self, called: sqlx::Result<T>) -> Result<T, DbError> {
        called.map_err(|error| DbError::connecting(error, &self.address(), self.0.options().get_username()))
    }
}
