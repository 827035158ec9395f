//! How long a server lives: as long as anybody uses it, and no longer.

use std::{fs, os::unix::process::CommandExt};

use flow_tests::support::eventually;
use sqlx::{Connection, PgConnection};

use super::user::{Place, User, server_pid, signal};

#[tokio::test]
async fn killing_the_last_user_leaves_no_server() {
    let place = Place::new();
    let user = User::start(&mut place.user());
    assert!(server_pid(&place.cluster()).is_some());
    user.kill();
    eventually("the server ends", async || server_pid(&place.cluster()).is_none()).await;
    eventually("it was shut down in order", async || !place.cluster().join("data/postmaster.pid").exists()).await;
}

#[tokio::test]
async fn a_kept_database_of_another_edition_is_left_alone_and_another_one_stands_beside_it() {
    let place = Place::new();
    let before = User::start(&mut place.user());
    let mut connection = PgConnection::connect(&before.url).await.unwrap();
    let other = "create schema flow; create table flow.migration (version integer, checksum text);
                 insert into flow.migration values (1, 'another'); create table flow.precious as select 42::int8 as run";
    sqlx::raw_sql(other).execute(&mut connection).await.unwrap();
    let after = User::start(&mut place.user());
    assert_eq!(before.ask("select run from flow.precious").await, 42);
    assert!(after.url.contains("/flow_") && after.port() == before.port(), "{}", after.url);
    assert_eq!(after.ask("select count(*) from pg_namespace n where n.nspname = 'flow'").await, 0);
    connection.close().await.unwrap();
    let again = User::start(&mut place.user());
    assert_eq!(again.url, after.url);
    [before, after, again].into_iter().for_each(User::leave);
}

#[tokio::test]
async fn a_second_program_joins_and_keeps_the_server_when_the_first_is_killed() {
    let place = Place::new();
    let first = User::start(&mut place.user());
    let second = User::start(&mut place.user());
    assert!(first.description.contains(" was started on port "), "{}", first.description);
    assert!(second.description.contains(" runs already on port "), "{}", second.description);
    assert!(second.description.contains(&*place.cluster().to_string_lossy()), "{}", second.description);
    assert_eq!(first.url, second.url);
    let server = server_pid(&place.cluster());
    first.kill();
    let third = User::start(&mut place.user());
    assert_eq!(second.ask("select 1::int8").await, 1);
    assert_eq!(server_pid(&place.cluster()), server);
    second.leave();
    third.kill();
    eventually("the server ends", async || server_pid(&place.cluster()).is_none()).await;
}

#[tokio::test]
async fn many_programs_that_start_at_once_share_one_server() {
    let place = Place::new();
    let starts: Vec<_> = (0..8)
        .map(|_| {
            let mut command = place.user();
            std::thread::spawn(move || User::start(&mut command))
        })
        .collect();
    let users: Vec<User> = starts.into_iter().map(|start| start.join().unwrap()).collect();
    assert!(users.iter().all(|user| user.port() == users[0].port()));
    users.into_iter().for_each(User::kill);
    eventually("the server ends", async || server_pid(&place.cluster()).is_none()).await;
}

/// Programs that come and go without a pause meet a server that ends, that starts, and that runs.
#[tokio::test]
async fn coming_and_going_never_meets_a_server_that_is_about_to_end() {
    let place = Place::new();
    let workers: Vec<_> = (0..3)
        .map(|worker| {
            let path = place.cluster();
            std::thread::spawn(move || {
                for round in 0..6 {
                    let mut command = super::user::user("kept");
                    let user = User::start(command.env("FLOW_PG_DATA", &path));
                    let answer = tokio::runtime::Runtime::new().unwrap().block_on(user.ask("select 7::int8"));
                    assert_eq!(answer, 7);
                    if (worker + round) % 2 == 0 { user.kill() } else { user.leave() }
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    eventually("the server ends", async || server_pid(&place.cluster()).is_none()).await;
}

#[tokio::test]
async fn data_is_kept_and_found_again() {
    let place = Place::new();
    let user = User::start(&mut place.user());
    create_table(&user).await;
    user.leave();
    let user = User::start(&mut place.user());
    assert_eq!(user.ask("select n from kept").await, 42);
    assert_eq!(user.ask("select count(*) from pg_settings where name = 'fsync' and setting = 'on'").await, 1);
    user.leave();
}

#[tokio::test]
async fn data_survives_a_server_that_was_killed() {
    let place = Place::new();
    let user = User::start(&mut place.user());
    create_table(&user).await;
    let server = server_pid(&place.cluster()).unwrap();
    assert!(signal(server, "QUIT"));
    eventually("the server ends", async || server_pid(&place.cluster()).is_none()).await;
    let next = User::start(&mut place.user());
    assert_eq!(next.ask("select n from kept").await, 42);
    next.kill();
    // The first user still holds the door of the server that is gone, which keeps nobody else's running.
    eventually("the server ends", async || server_pid(&place.cluster()).is_none()).await;
    user.leave();
}

#[tokio::test]
async fn a_pid_file_of_a_dead_server_is_no_obstacle() {
    let place = Place::new();
    let user = User::start(&mut place.user());
    let server = server_pid(&place.cluster()).unwrap();
    assert!(signal(server, "KILL"));
    user.kill();
    // As after a restart of the machine: the number now belongs to a program that is no server.
    let pid_file = place.cluster().join("data/postmaster.pid");
    let text = fs::read_to_string(&pid_file).unwrap();
    let other = std::process::id().to_string();
    fs::write(&pid_file, text.replacen(&server.to_string(), &other, 1)).unwrap();
    let user = User::start(&mut place.user());
    assert_eq!(user.ask("select 1::int8").await, 1);
    user.leave();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_whose_watcher_was_killed_is_replaced() {
    let place = Place::new();
    let user = User::start(&mut place.user());
    let server = server_pid(&place.cluster()).unwrap();
    let cluster = place.cluster().to_string_lossy().into_owned();
    for shell in shells(&cluster) {
        assert!(signal(shell, "KILL"));
    }
    assert_eq!(server_pid(&place.cluster()), Some(server));
    let next = User::start(&mut place.user());
    assert_ne!(server_pid(&place.cluster()), Some(server));
    next.kill();
    user.kill();
    eventually("the server ends", async || server_pid(&place.cluster()).is_none()).await;
}

#[tokio::test]
async fn a_signal_to_the_programs_group_does_not_reach_the_server() {
    let place = Place::new();
    // A terminal sends Ctrl-C to the whole group of the program that started the server. SIGTERM stands for it here: a
    // program that a script starts in the background ignores SIGINT.
    let first = User::start(place.user().process_group(0));
    let second = User::start(&mut place.user());
    let server = server_pid(&place.cluster());
    let group = format!("kill -TERM -{}", first.process.id());
    assert!(std::process::Command::new("sh").args(["-c", &group]).status().unwrap().success());
    let mut process = first.process;
    assert!(!process.wait().unwrap().success());
    assert_eq!(second.ask("select 1::int8").await, 1);
    assert_eq!(server_pid(&place.cluster()), server);
    second.kill();
    eventually("the server ends", async || server_pid(&place.cluster()).is_none()).await;
}

async fn create_table(user: &User) {
    use sqlx::{Connection, PgConnection};

    let mut connection = PgConnection::connect(&user.url).await.unwrap();
    sqlx::raw_sql("create table kept as select 42::int8 as n").execute(&mut connection).await.unwrap();
}

/// The shells that run and watch the server of a cluster.
#[cfg(target_os = "linux")]
fn shells(cluster: &str) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let found: Vec<u32> = pids
        .filter(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            line.contains("flow-postgres") && line.contains(cluster)
        })
        .collect();
    assert_eq!(found.len(), 2, "one shell runs the server and one watches the door");
    found
}
