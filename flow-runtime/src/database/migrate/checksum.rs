//! Checksums of the migrations, functions and views that were applied.

use sha2::{Digest, Sha256};
use sqlx::PgConnection;

use crate::error::DbError;

/// The names and checksums of the functions and views that the database has.
pub(super) async fn stored_checksums(connection: &mut PgConnection) -> Result<Vec<(String, String)>, DbError> {
    Ok(sqlx::query_as("select f.name, f.checksum from flow.sql_function f")
        .persistent(false)
        .fetch_all(connection)
        .await?)
}

/// The checksum of a text: its SHA-256 in hexadecimal digits.
pub(super) fn checksum(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
