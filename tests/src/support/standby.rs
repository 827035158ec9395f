//! A standby of a private server, which can be promoted.

use std::{
    fs,
    net::TcpListener,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use super::{Server, eventually};

/// A streaming standby; ended and removed when dropped.
pub struct Standby {
    server: Child,
    folder: PathBuf,
    url: String,
}

impl Standby {
    /// Copies the running primary of `url` and follows it. `None` where PostgreSQL's programs are not on the machine.
    ///
    /// # Panics
    /// When the primary cannot be copied.
    pub async fn of(url: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            eprintln!("not run: there is no pg_basebackup");
            return None;
        };
        let folder = PathBuf::from("/var/tmp").join(format!("flow-standby-{}", uuid::Uuid::now_v7().simple()));
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let data = folder.join("data");
        fs::create_dir(&folder).unwrap();
        let copied = as_server(&folder, &programs.join("pg_basebackup"))
            .args(["--checkpoint=fast", "--write-recovery-conf", "--dbname", url, "--pgdata"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        let server = as_server(&folder, &programs.join("postgres"))
            .arg("-D")
            .arg(&data)
            .args([
                "-p",
                &port.to_string(),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "unix_socket_directories=",
                "-c",
                "max_connections=300",
            ])
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        let url = Server::of(url).url_at("127.0.0.1", port);
        let standby = Self { server, folder, url };
        eventually("the standby answers", async || sqlx::PgPool::connect(standby.url()).await.is_ok()).await;
        Some(standby)
    }

    /// The database's URL on the standby.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes it the primary, which waits for no standby of its own.
    ///
    /// # Panics
    /// When it does not become one.
    pub async fn promote(&self) {
        let pool = sqlx::PgPool::connect(&self.url).await.unwrap();
        for statement in ["alter system set synchronous_standby_names = ''", "select pg_promote()"] {
            sqlx::raw_sql(statement).execute(&pool).await.unwrap();
        }
        pool.close().await;
    }
}

/// Has each commit on the server of `url` wait until its standby has it.
///
/// # Panics
/// When no standby follows.
pub async fn make_synchronous(url: &str) {
    let pool = sqlx::PgPool::connect(url).await.unwrap();
    for statement in ["alter system set synchronous_standby_names = '*'", "select pg_reload_conf()"] {
        sqlx::raw_sql(statement).execute(&pool).await.unwrap();
    }
    eventually("the standby follows at once", async || {
        let synchronous = "select count(*) from pg_stat_replication r where r.sync_state in ('sync', 'quorum')";
        sqlx::query_scalar::<_, i64>(synchronous).fetch_one(&pool).await.unwrap() == 1
    })
    .await;
    pool.close().await;
}

impl Drop for Standby {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-QUIT", &self.server.id().to_string()]).status();
        let _ = self.server.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The folder of PostgreSQL's programs, those for replication among them.
fn programs() -> Option<PathBuf> {
    let installed =
        fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    std::env::var_os("FLOW_PG_BIN")
        .map(PathBuf::from)
        .into_iter()
        .chain(installed)
        .find(|bin| bin.join("pg_basebackup").exists())
}

/// A program as an ordinary user, who owns the folder: the server refuses to run as root.
fn as_server(folder: &Path, program: &Path) -> Command {
    let mut command = Command::new(program);
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if is_root {
        let users = fs::read_to_string("/etc/passwd").unwrap();
        let ids = |name: &str| {
            let fields: Vec<&str> =
                users.lines().find(|line| line.starts_with(&format!("{name}:")))?.split(':').collect();
            Some((fields.get(2)?.parse::<u32>().ok()?, fields.get(3)?.parse::<u32>().ok()?))
        };
        let (user, group) = ids("postgres").or_else(|| ids("nobody")).unwrap();
        chown(folder, Some(user), Some(group)).unwrap();
        command.uid(user).gid(group);
    }
    command.current_dir(folder);
    command
}
