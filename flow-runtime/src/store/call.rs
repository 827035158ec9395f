//! A client's call as one message of the simple protocol.
//!
//! A pooler may give each statement of a client another server process, where a prepared statement of that name is missing or is
//! somebody else's. A call that travels as one message with its arguments as literals needs no prepared statement and leaves no
//! state behind, and its isolation level is set in the same message. docs/decisions/0009 has the measurements.

use std::borrow::Cow;

use chrono::{DateTime, SecondsFormat, Utc};
use sqlx::{AssertSqlSafe, FromRow, PgExecutor, Row, postgres::PgRow};
use uuid::Uuid;

use crate::error::DbError;

/// Goes before each call outside of a caller's transaction: the engine's functions rely on seeing what others have committed, and an
/// answer of a server that cannot write, as a primary that was demoted, is not to be believed.
const READ_COMMITTED: &str = "set transaction isolation level read committed read write; ";

/// A value as an argument.
pub(super) trait Argument {
    /// The argument's SQL type.
    fn sql_type() -> String;

    /// The value in PostgreSQL's text form; `None` is SQL null.
    fn text(&self) -> Option<Cow<'_, str>>;
}

impl Argument for str {
    fn sql_type() -> String {
        "text".to_owned()
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        Some(self.into())
    }
}

impl Argument for String {
    fn sql_type() -> String {
        str::sql_type()
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        Some(self.as_str().into())
    }
}

impl Argument for Uuid {
    fn sql_type() -> String {
        "uuid".to_owned()
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        Some(self.to_string().into())
    }
}

impl Argument for DateTime<Utc> {
    fn sql_type() -> String {
        "timestamptz".to_owned()
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        Some(self.to_rfc3339_opts(SecondsFormat::Micros, true).into())
    }
}

impl<T: Argument> Argument for Option<T> {
    fn sql_type() -> String {
        T::sql_type()
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        self.as_ref().and_then(T::text)
    }
}

impl<T: Argument> Argument for Vec<T> {
    fn sql_type() -> String {
        format!("{}[]", T::sql_type())
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        <[T]>::text(self).map(|text| text.into_owned().into())
    }
}

impl<T: Argument> Argument for [T] {
    fn sql_type() -> String {
        format!("{}[]", T::sql_type())
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        let element = |value: &T| match value.text() {
            Some(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            None => "NULL".to_owned(),
        };
        Some(format!("{{{}}}", self.iter().map(element).collect::<Vec<_>>().join(",")).into())
    }
}

/// A call of one SQL function.
pub(super) struct Call {
    text: String,
    /// What closes the call.
    end: &'static str,
}

impl Call {
    /// Begins with everything before the arguments, as in `select flow.cancel_run`.
    pub(super) fn new(head: &'static str) -> Self {
        Self { text: format!("{head}("), end: ")" }
    }

    /// Adds the next argument.
    pub(super) fn arg<T: Argument + ?Sized>(mut self, value: &T) -> Self {
        if !self.text.ends_with('(') {
            self.text.push_str(", ");
        }
        match value.text() {
            Some(text) => self.text.push_str(&literal(&text)),
            None => self.text.push_str("null"),
        }
        self.text.push_str("::");
        self.text.push_str(&T::sql_type());
        self
    }

    /// Has the result returned as text.
    pub(super) fn as_text(self) -> Self {
        Self { end: ")::text", ..self }
    }

    /// Calls the function in a transaction of its own.
    pub(super) async fn rows(self, executor: impl PgExecutor<'_>) -> sqlx::Result<Vec<PgRow>> {
        send(format!("{READ_COMMITTED}{}{}", self.text, self.end), executor).await
    }

    /// Calls the function in the transaction that the caller has begun.
    pub(super) async fn rows_in_transaction(self, executor: impl PgExecutor<'_>) -> sqlx::Result<Vec<PgRow>> {
        send(format!("{}{}", self.text, self.end), executor).await
    }
}

/// The one value that a call returned.
pub(super) fn only_value<T>(rows: Vec<PgRow>) -> sqlx::Result<T>
where
    T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    rows.first().ok_or(sqlx::Error::RowNotFound)?.try_get(0)
}

/// The first row that a call returned, if any.
pub(super) fn first_row<T: for<'r> FromRow<'r, PgRow>>(rows: Vec<PgRow>) -> Result<Option<T>, DbError> {
    Ok(rows.first().map(T::from_row).transpose()?)
}

async fn send(text: String, executor: impl PgExecutor<'_>) -> sqlx::Result<Vec<PgRow>> {
    if text.contains('\0') {
        // A zero byte would end the message early.
        return Err(sqlx::Error::Encode("a text holds the character U+0000, which Postgres cannot store".into()));
    }
    // Every argument went through `literal`.
    sqlx::raw_sql(AssertSqlSafe(text)).fetch_all(executor).await
}

/// A text as a literal that means the same whatever `standard_conforming_strings` is.
pub(crate) fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_literals_of_their_types() {
        let call = Call::new("select flow.f").arg("it's \\ \"x\"").arg(&None::<String>).arg(&vec![
            Some("a,\"b\"\\".to_owned()),
            None,
            Some("NULL".to_owned()),
        ]);
        assert_eq!(
            call.text,
            r#"select flow.f(E'it''s \\ "x"'::text, null::text, E'{"a,\\"b\\"\\\\",NULL,"NULL"}'::text[]"#
        );
    }
}
