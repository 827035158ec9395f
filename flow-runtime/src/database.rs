//! Everything about a Postgres database: connections and their deadlines, migration of the schema, deployment of flows, the calls of the
//! SQL functions, and notifications.

pub(crate) mod address;
pub(crate) mod backend;
pub(crate) mod backoff;
pub(crate) mod connector;
pub(crate) mod db;
pub(crate) mod deadline;
pub(crate) mod deploy;
pub(crate) mod id;
pub(crate) mod link;
pub(crate) mod literal;
pub(crate) mod migrate;
pub(crate) mod notify;
pub(crate) mod pool;
pub(crate) mod store;
