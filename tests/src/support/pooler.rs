//! A PgBouncer between the tests and their server.

use std::{
    fs,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use super::eventually;

/// A PgBouncer of its own; stopped when dropped.
pub struct Pooler {
    child: Child,
    folder: PathBuf,
    url: String,
}

impl Pooler {
    /// Starts one in `session` or `transaction` mode in front of the server of `url`, with at most `server_connections`
    /// connections to it. `None` where there is no PgBouncer, unless `FLOW_TEST_POOLER=required`.
    ///
    /// # Panics
    /// When it does not start, or is required and missing.
    pub async fn start(url: &str, mode: &str, server_connections: u32) -> Option<Self> {
        let Some(program) =
            ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].into_iter().find(|path| fs::exists(path).unwrap())
        else {
            let is_required = std::env::var("FLOW_TEST_POOLER").is_ok_and(|value| value == "required");
            assert!(!is_required, "there is no pgbouncer; install it, as `apt-get install pgbouncer` does");
            eprintln!("not run: there is no pgbouncer");
            return None;
        };
        let server = Server::of(url);
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let folder = std::env::temp_dir().join(format!("flow-pooler-{}", uuid::Uuid::now_v7().simple()));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("users"), format!("\"{}\" \"{}\"\n", server.user, server.password)).unwrap();
        let config = format!(
            "[databases]\n* = host={} port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = plain\nauth_file = {users}\npool_mode = {mode}\ndefault_pool_size = {server_connections}\n\
             max_client_conn = 1000\nignore_startup_parameters = extra_float_digits,options\n",
            server.host,
            server.port,
            users = folder.join("users").display(),
        );
        let path = folder.join("config");
        fs::write(&path, config).unwrap();
        let mut command = Command::new(program);
        if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
            // PgBouncer refuses to run as root.
            for file in [&folder, &path, &folder.join("users")] {
                Command::new("chown").arg("nobody").arg(file).status().unwrap();
            }
            command.args(["-u", "nobody"]);
        }
        let child = command.arg(&path).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let url = format!("postgres://{}:{}@127.0.0.1:{port}/{}", server.user, server.password, server.database);
        eventually("the pooler listens", async || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()).await;
        Some(Self { child, folder, url })
    }

    /// The database's URL through the pooler.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The parts of a URL of the test server.
pub struct Server {
    user: String,
    password: String,
    /// A host's name or address.
    pub host: String,
    /// The port.
    pub port: u16,
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
}
