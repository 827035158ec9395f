//! A server that the user names, instead of an embedded one.

use sqlx::postgres::PgConnectOptions;

use crate::{env::env_value, error::EmbeddedError};

/// A server named by an environment variable.
#[derive(Debug, Clone)]
pub(crate) struct External {
    pub(crate) variable: &'static str,
    pub(crate) url: String,
    options: PgConnectOptions,
}

impl External {
    /// Reads the variable; `None` when the variable is not set or empty.
    pub(crate) fn from_env(variable: &'static str) -> Result<Option<Self>, EmbeddedError> {
        env_value(variable).map(|url| Self::parse(variable, url)).transpose()
    }

    fn parse(variable: &'static str, url: String) -> Result<Self, EmbeddedError> {
        let refuse = |source| EmbeddedError::InvalidUrl { variable, source };
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(refuse(sqlx::Error::Configuration("it does not start with postgres://".into())));
        }
        let options = url.parse().map_err(refuse)?;
        Ok(Self { variable, url, options })
    }

    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// The URL of another database of the same server.
    pub(crate) fn url_of(&self, database: &str) -> String {
        let (before, query) = match self.url.split_once('?') {
            Some((before, query)) => (before, format!("?{query}")),
            None => (&*self.url, String::new()),
        };
        let host_at = before.find("://").map_or(0, |scheme| scheme + 3);
        let host_end = before[host_at..].find('/').map_or(before.len(), |path| host_at + path);
        format!("{}/{database}{query}", &before[..host_end])
    }

    /// The server in words, without the password.
    pub(crate) fn describe(&self) -> String {
        let options = &self.options;
        let host = match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        };
        let database = options.get_database().unwrap_or(options.get_username());
        format!(
            "using the PostgreSQL server that {} names: {}@{host}/{database}",
            self.variable,
            options.get_username()
        )
    }
}

/// A hint for descriptions when `DATABASE_URL` is set: the variable is ignored here, because it often names another project's database.
pub(crate) fn ignored_hint(instead: &str) -> String {
    match env_value("DATABASE_URL") {
        Some(_) => format!("; DATABASE_URL is set and ignored, set {instead} to use that server"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_hides_the_password() {
        let url = "postgres://app:s3cret@db.example:6432/orders?sslmode=require";
        let server = External::parse("FLOW_DATABASE_URL", url.into()).unwrap();
        assert_eq!(
            server.describe(),
            "using the PostgreSQL server that FLOW_DATABASE_URL names: app@db.example:6432/orders"
        );
    }

    #[test]
    fn another_database_keeps_the_rest_of_the_url() {
        for (url, other) in [
            ("postgres://app:s@db:6432/orders?sslmode=require", "postgres://app:s@db:6432/x?sslmode=require"),
            ("postgres://app@db", "postgres://app@db/x"),
            ("postgresql:///orders?host=/run/postgresql", "postgresql:///x?host=/run/postgresql"),
        ] {
            assert_eq!(External::parse("FLOW_TEST_DATABASE_URL", url.into()).unwrap().url_of("x"), other);
        }
    }

    #[test]
    fn a_refused_url_is_not_repeated() {
        for url in ["mysql://app:s3cret@db/orders", "postgres://app:s3cret@db:notaport/orders", "s3cret"] {
            let error = External::parse("FLOW_DATABASE_URL", url.into()).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(text.contains("postgres://USER:PASSWORD@HOST:5432/DATABASE") || !text.contains("USER"), "{text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
    }
}
