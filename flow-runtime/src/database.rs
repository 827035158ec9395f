//! Everything that is about a Postgres database: connections with their deadlines, the schema, deployment, the calls of its functions,
//! and who is woken by what.

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
