//! The shape of each example's flow is read back from the database as it was sent.

use std::{fs, path::Path};

use flow_examples::wfformat::{Workflow, build};
use flow_runtime::{Db, Flow, StepQueued, definition::FlowDefinition, embedded::open_tests, schema_fingerprint};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::{
    lockfile_audit::LockfileAudit,
    step_queues::{PooledAudit, PooledAuditQueues},
};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The definition of a recorded workflow, as the example builds it.
fn recorded(file: &str) -> FlowDefinition {
    let workflow = Workflow::read(&folder().join("data").join(file)).unwrap();
    build(&workflow, 0.0).unwrap().definition().clone()
}

/// How many blocks under `#[flow(…)]` the examples have.
fn count_flows(folder: &Path) -> usize {
    let count = |path: &Path| match path.extension() {
        Some(ending) if ending == "rs" => fs::read_to_string(path).unwrap().matches("\n#[flow(").count(),
        _ if path.is_dir() && !path.ends_with("tests") => count_flows(path),
        _ => 0,
    };
    fs::read_dir(folder).unwrap().map(|entry| count(&entry.unwrap().path())).sum()
}

async fn migrate(url: String) -> anyhow::Result<()> {
    let db = Db::new(&url)?;
    db.migrate().await?;
    db.set_development().await?;
    db.close().await;
    Ok(())
}

// P9
#[tokio::test]
async fn the_shape_of_every_examples_flow_reads_back_as_it_was_sent() {
    assert_eq!(count_flows(folder()), 2, "the examples have other flows than this test");
    let server = open_tests(&schema_fingerprint(), migrate).await.unwrap();
    // A flow is plain or has step queues, for life: the two ways get a database each.
    let others = vec![LockfileAudit::definition(), recorded("bakery.json"), recorded("relay.json")];
    for (pooled, others) in [(PooledAudit::definition(), others), (PooledAuditQueues::definition(), vec![])] {
        let database = server.database().await.unwrap();
        let pool = PgPool::connect(database.url()).await.unwrap();
        let sent: Vec<Value> = others.into_iter().chain([pooled]).map(|definition| json!(definition)).collect();
        for definition in &sent {
            sqlx::query("select flow.deploy($1)").bind(definition).execute(&pool).await.unwrap();
        }
        let query = include_str!("../../../tests/sql/shapes_of_rows.sql");
        let stored: Vec<(String, Value, Value)> = sqlx::query_as(query).fetch_all(&pool).await.unwrap();
        assert_eq!(stored.len(), sent.len());
        for shape in sent.iter().map(|definition| &definition["shape"]) {
            let (_, read, of_rows) = stored.iter().find(|(slug, ..)| *slug == shape["slug"]).unwrap();
            assert_eq!((read, of_rows), (shape, shape));
        }
        pool.close().await;
    }
}
