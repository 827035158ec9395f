//! A private server: stopped, killed, started again, and gone without a trace.

use std::path::PathBuf;

use flow_runtime::embedded::{self, PrivateServer};
use flow_tests::support::eventually;
use sqlx::{Connection, PgConnection};

use super::user::{User, signal, user};

async fn ask(server: &PrivateServer, query: &'static str) -> Result<String, sqlx::Error> {
    let mut connection = PgConnection::connect(&server.url("mine")).await?;
    sqlx::query_scalar(query).fetch_one(&mut connection).await
}

#[tokio::test]
async fn a_private_server_keeps_data_and_port_over_stop_and_kill() {
    let mut server = embedded::start_private().await.unwrap();
    let url = server.create_database("mine").await.unwrap();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    sqlx::raw_sql("create table kept as select 'yes' as word").execute(&mut connection).await.unwrap();

    let first = server.pid().unwrap();
    server.stop().await.unwrap();
    assert_eq!(server.pid(), None);
    assert!(!signal(first, "0"));
    assert!(ask(&server, "select word from kept").await.is_err());
    server.start().await.unwrap();
    assert_eq!(ask(&server, "select word from kept").await.unwrap(), "yes");
    server.kill().await.unwrap();
    server.kill().await.unwrap();
    server.start().await.unwrap();
    assert_eq!(ask(&server, "select word from kept").await.unwrap(), "yes");
    server.restart().await.unwrap();
    assert_eq!(ask(&server, "select word from kept").await.unwrap(), "yes");
    assert_eq!(server.url("mine"), url);

    let folder = data_folder(&url).await;
    let last = server.pid().unwrap();
    drop(connection);
    drop(server);
    assert!(!signal(last, "0"));
    assert!(!folder.exists());
}

#[tokio::test]
async fn what_a_killed_owner_leaves_is_cleared_away() {
    let owner = User::start(&mut user("private"));
    let folder = data_folder(&owner.url).await;
    let server = std::fs::read_to_string(folder.join("postmaster.pid")).unwrap();
    let server: u32 = server.lines().next().unwrap().parse().unwrap();
    owner.kill();
    eventually("the server ends", async || !signal(server, "0")).await;
    assert!(folder.exists());
    embedded::start_private().await.unwrap();
    assert!(!folder.exists());
}

async fn data_folder(url: &str) -> PathBuf {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let folder: String = sqlx::query_scalar("show data_directory").fetch_one(&mut connection).await.unwrap();
    folder.into()
}
