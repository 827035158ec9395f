//! A database's address: one server, or several servers of which the first that may write is used.

use std::str::FromStr;

use sqlx::{ConnectOptions, postgres::PgConnectOptions};

/// The options that an address may have behind its `?`, beside `target_session_attrs`, `options` and `options[…]`.
const KNOWN: [&str; 17] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
];

/// The servers of an address, in the address's order.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) all: Vec<PgConnectOptions>,
    /// Whether servers that may not write are passed over.
    pub(crate) must_write: bool,
}

impl Servers {
    /// The one server of a pool that the caller has made.
    pub(crate) fn one(options: PgConnectOptions) -> Self {
        Self { all: vec![options], must_write: false }
    }

    /// Reads `postgres://user:password@host:port,host:port/database?option=value`.
    ///
    /// # Errors
    /// A text that says what is wrong, without the address, which may hold a password.
    pub(crate) fn read(url: &str) -> Result<Self, String> {
        // The driver accepts any scheme and ignores unknown options, so both are refused here.
        let rest = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"));
        let rest = rest.ok_or("it does not begin with postgres://")?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut options = Vec::new();
        let mut attributes = None;
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match name {
                "target_session_attrs" => attributes = Some(value),
                name if KNOWN.contains(&name) || name == "options" || name.starts_with("options[") => {
                    options.push(option)
                }
                other => return Err(format!("the option `{other}` is not known")),
            }
        }
        let (authority, path) = place.split_once('/').map_or((place, ""), |(authority, path)| (authority, path));
        let (user, hosts) = authority.rsplit_once('@').map_or(("", authority), |(user, hosts)| (user, hosts));
        let at = if authority.contains('@') { "@" } else { "" };
        let query = if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) };
        let read = |host: &str| {
            let one = format!("postgres://{user}{at}{host}/{path}{query}");
            PgConnectOptions::from_str(&one).map(ConnectOptions::disable_statement_logging).map_err(|error| match error
            {
                sqlx::Error::Configuration(cause) => cause.to_string(),
                other => other.to_string(),
            })
        };
        let all = hosts.split(',').map(read).collect::<Result<Vec<_>, _>>()?;
        let must_write = match attributes {
            None => all.len() > 1,
            Some("any") => false,
            Some("read-write" | "primary") => true,
            Some(other) => {
                return Err(format!("target_session_attrs is `{other}`; it must be read-write, primary or any"));
            }
        };
        Ok(Self { all, must_write })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(url: &str) -> Vec<(String, u16)> {
        let servers = Servers::read(url).unwrap();
        servers.all.iter().map(|server| (server.get_host().to_owned(), server.get_port())).collect()
    }

    // P37
    #[test]
    fn an_address_names_one_server_or_several() {
        assert_eq!(places("postgres://u:p@one:5433/db"), [("one".to_owned(), 5433)]);
        assert_eq!(places("postgresql://u:p%40x@one:5433,two,[::1]:7/db?sslmode=disable").len(), 3);
        let several =
            Servers::read("postgres://u:p@one:1,two:2/db?target_session_attrs=read-write&application_name=shop")
                .unwrap();
        assert!(several.must_write);
        assert!(several.all.iter().all(|server| server.get_database() == Some("db") && server.get_username() == "u"));
        assert_eq!(several.all[1].get_application_name(), Some("shop"));
        assert!(Servers::read("postgres://one,two/db").unwrap().must_write);
        assert!(!Servers::read("postgres://one,two/db?target_session_attrs=any").unwrap().must_write);
        assert!(!Servers::read("postgres://one/db").unwrap().must_write);
    }

    // P37
    #[test]
    fn what_is_not_understood_is_refused_by_name() {
        let refused = |url| Servers::read(url).unwrap_err();
        assert_eq!(refused("mysql://one/db"), "it does not begin with postgres://");
        assert_eq!(refused("postgres://one/db?conect_timeout=3"), "the option `conect_timeout` is not known");
        assert!(refused("postgres://one/db?target_session_attrs=standby").contains("`standby`; it must be read-write"));
        assert!(refused("postgres://u:secret@one:x/db").contains("invalid port"));
        assert!(!refused("postgres://u:secret@one:x/db").contains("secret"));
    }
}
