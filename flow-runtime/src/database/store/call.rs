//! A client's call as one message of the simple protocol.
//!
//! A pooler may give each statement of a client another server process, where a prepared statement of the client's name is missing or
//! belongs to another client. A call that travels as one message with its arguments as literals needs no prepared statement and leaves
//! no state behind, and its isolation level is set in the same message. docs/decisions/0009 has the measurements.

use std::{borrow::Cow, sync::Arc, time::Duration};

use chrono::{DateTime, SecondsFormat, Utc};
use sqlx::{FromRow, PgConnection, Row, postgres::PgRow};
use uuid::Uuid;

use crate::{
    database::literal::literal,
    database::pool::{SharedPool, send_message},
    error::DbError,
};

/// Precedes each call outside of a caller's transaction: the engine's functions rely on seeing what others have committed meanwhile.
const READ_COMMITTED: &str = "set transaction isolation level read committed; ";

/// A value that can be an argument of a call.
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

impl Argument for i32 {
    fn sql_type() -> String {
        "integer".to_owned()
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        Some(self.to_string().into())
    }
}

impl Argument for i64 {
    fn sql_type() -> String {
        "bigint".to_owned()
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        Some(self.to_string().into())
    }
}

impl Argument for bool {
    fn sql_type() -> String {
        "boolean".to_owned()
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        Some(self.to_string().into())
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
    /// The text that follows the arguments: the closing parenthesis, and the name of the result if it has one.
    end: String,
}

impl Call {
    /// Begins with everything before the arguments, as in `select flow.cancel_run`.
    pub(super) fn new(head: &'static str) -> Self {
        Self { text: format!("{head}("), end: ")".to_owned() }
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

    /// Gives the function's result a name, to which the head can refer.
    pub(super) fn named(self, name: &'static str) -> Self {
        Self { end: format!(") {name}"), ..self }
    }

    /// Calls the function in a transaction of its own, and waits for at most `limit`. When the reply is lost, the call is made again, so
    /// calling the function twice must have the effect of calling it once.
    pub(super) async fn rows(self, pool: &SharedPool, limit: Duration) -> sqlx::Result<Vec<PgRow>> {
        let text = self.message();
        pool.call(limit, |_| Arc::clone(&text)).await
    }

    /// Calls the function in a transaction of its own over `connection`, once and without a limit.
    pub(super) async fn rows_over(self, connection: &mut PgConnection) -> sqlx::Result<Vec<PgRow>> {
        send_message(self.message(), connection).await
    }

    /// Calls the function in the transaction that the caller has begun.
    pub(super) async fn rows_in_transaction(self, connection: &mut PgConnection) -> sqlx::Result<Vec<PgRow>> {
        send_message(format!("{}{}", self.text, self.end).into(), connection).await
    }

    /// The call as one message, which begins a transaction of its own.
    pub(super) fn message(&self) -> Arc<str> {
        format!("{READ_COMMITTED}{}{}", self.text, self.end).into()
    }
}

/// The first value of the first row that a call returned.
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
