//! Why a database could not be brought to this program's schema.

use crate::error::db::DbError;

/// The database could not be brought to this program's schema.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// A newer program has migrated the schema, and the schema does not support this program's interface any more.
    #[error(
        "this program speaks interface {ours}, the database speaks {oldest} to {newest}; build the program with a newer flow"
    )]
    TooNew {
        /// This program's interface.
        ours: i32,
        /// The oldest interface that the database supports.
        oldest: i32,
        /// The newest interface that the database supports.
        newest: i32,
    },
    /// A migration that was applied has another text than this program's migration of the same number.
    #[error(
        "the schema `flow` of this database was made by another edition of flow, one that was never released (migration {version} has \
         another text); use another database, or drop the schemas `flow` and `pgmq` with everything in them: runs, results, queues"
    )]
    Changed {
        /// The migration's number.
        version: i32,
    },
    /// The schema lacks something that this program uses.
    #[error(
        "the database lacks {}; let `Db::migrate` of this program's version run there, or restore what was dropped",
        .missing.join(", ")
    )]
    Incomplete {
        /// Every missing table, view, type, column and function, one text each.
        missing: Vec<String>,
    },
    /// The database's encoding is not UTF8.
    #[error(
        "the database's encoding is {encoding}, which cannot hold every text; use one with encoding UTF8, as \
         `create database … template template0 encoding 'UTF8'` makes"
    )]
    Encoding {
        /// The database's encoding.
        encoding: String,
    },
    /// PGMQ is installed in a version that is too old for the engine.
    #[error(
        "PGMQ {version} is too old; bring it to 1.11 or newer, an extension with `alter extension pgmq update`, else with \
         PGMQ's own update scripts"
    )]
    OldPgmq {
        /// The version, or the range of versions, that was found.
        version: String,
    },
    /// The database has the same version of the functions as this program, with other texts, and is not set to development.
    #[error(
        "the database has version {version} of flow's functions as {stored}, this program has the same version as {ours}; \
         build both programs from one version of flow, or set the database to development"
    )]
    OtherFunctions {
        /// The version of the functions in the database and in this program.
        version: i32,
        /// A hash of the functions that the database has.
        stored: String,
        /// A hash of the functions that this program has.
        ours: String,
    },
    /// PGMQ's SQL could not be installed.
    #[error("PGMQ's SQL could not be installed; install the extension pgmq before, or report this with its cause")]
    Pgmq(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database itself.
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<sqlx::Error> for MigrateError {
    fn from(error: sqlx::Error) -> Self {
        Self::Db(error.into())
    }
}
