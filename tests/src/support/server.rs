//! The parts of a URL.

/// The parts of a URL of the test server.
pub struct Server {
    pub(super) user: String,
    pub(super) password: String,
    pub(super) host: String,
    pub(super) port: u16,
    database: String,
}

impl Server {
    /// Takes a URL apart.
    ///
    /// # Panics
    /// When it is not of the form `postgres://user:password@host:port/database`.
    pub fn of(url: &str) -> Self {
        let parts = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@')).unwrap();
        let (user, password) = parts.0.split_once(':').unwrap_or((parts.0, ""));
        let (place, database) = parts.1.split_once('/').unwrap();
        let (host, port) = place.rsplit_once(':').unwrap_or((place, "5432"));
        Self {
            user: user.to_owned(),
            password: password.to_owned(),
            host: host.to_owned(),
            port: port.parse().unwrap(),
            database: database.split('?').next().unwrap_or_default().to_owned(),
        }
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The same database by another address.
    pub fn url_at(&self, host: &str, port: u16) -> String {
        format!("postgres://{}:{}@{host}:{port}/{}", self.user, self.password, self.database)
    }
}
