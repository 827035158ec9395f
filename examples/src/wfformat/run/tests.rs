//! Files run to their end on a real engine.

use std::{env, path::Path};

use flow_runtime::{RunStatus, embedded, schema_fingerprint};

use super::*;

/// A migrated database, which lives as long as the returned server and database.
async fn database() -> (embedded::TestServer, embedded::TestDatabase, Db) {
    // A template of its own: other packages put more into theirs.
    let fingerprint = format!("examples {}", schema_fingerprint());
    let server = embedded::open_tests(&fingerprint, async |url: String| {
        Db::new(&url)?.migrate().await.map_err(anyhow::Error::from)
    })
    .await
    .unwrap();
    let database = server.database().await.unwrap();
    let db = Db::new(database.url()).unwrap();
    (server, database, db)
}

async fn runs_to_its_end(db: &Db, path: &Path) -> (usize, usize) {
    let workflow = Workflow::read(path).unwrap();
    let ran = run(db, build(&workflow, 0.0).unwrap(), 500).await.unwrap();
    assert_eq!(ran.progress.status, RunStatus::Completed, "{}", path.display());
    let tasks = workflow.tasks.len();
    assert_eq!((ran.progress.steps_done, ran.progress.tasks_done), (tasks as u64, tasks as u64));
    (tasks, workflow.edges())
}

#[tokio::test]
async fn our_own_files_run_to_their_end() {
    let (_server, _database, db) = database().await;
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    assert_eq!(runs_to_its_end(&db, &data.join("bakery.json")).await, (7, 7));
    assert_eq!(runs_to_its_end(&db, &data.join("relay.json")).await, (4, 3));
}

/// Prints how many of the recorded files ran; `.ci/run` shows the line.
#[tokio::test]
async fn recorded_workflows_run_to_their_end() {
    let Some(folder) = env::var_os("FLOW_WFFORMAT_DIR") else {
        println!("wfformat: not run");
        return;
    };
    let (_server, _database, db) = database().await;
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    assert!(!paths.is_empty(), "FLOW_WFFORMAT_DIR holds no workflow");
    let mut largest = (0, 0);
    for path in &paths {
        largest = largest.max(runs_to_its_end(&db, path).await);
    }
    println!("wfformat: {} files run, the largest with {} tasks and {} edges", paths.len(), largest.0, largest.1);
}

#[test]
fn a_step_that_would_sleep_for_days_is_refused() {
    let text = r#"{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [{"id": "x"}]},
                   "execution": {"tasks": [{"id": "x", "runtimeInSeconds": 100000}]}}}"#;
    let workflow = Workflow::parse("test".into(), text).unwrap();
    assert!(build(&workflow, 2.0).is_ok());
    assert!(build(&workflow, 1.0).unwrap_err().to_string().contains("raise --speed"));
}
