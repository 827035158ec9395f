//! A standby before it takes a primary's place. The `outage` module promotes it.

use flow_runtime::{
    embedded,
    error::{RunError, StartError},
    prelude::*,
};
use flow_tests::{flows::Tick, support::Standby};

// P38
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_never_believed() {
    let primary = embedded::start_private().await.unwrap();
    let url = primary.create_database("shop").await.unwrap();
    let db = Db::new(&url).unwrap();
    Worker::builder(&db).flow(Tick).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    let run = Client::new(&db).start::<Tick>(&1).await.unwrap();
    let Some(standby) = Standby::of(&url).await else { return };
    let client = Client::new(&Db::new(standby.url()).unwrap());
    for unknown in [run.id(), uuid::Uuid::now_v7().into()] {
        let error = client.run_json(unknown).status().await.unwrap_err();
        let RunError::Db(error) = &error else { panic!("{error:?}") };
        assert!(error.is_transient(), "{error:?}");
    }
    let error = client.start::<Tick>(&1).await.unwrap_err();
    assert!(matches!(&error, StartError::Db(error) if error.is_transient()), "{error:?}");
    let only_writable = Db::new(&format!("{}?target_session_attrs=read-write", standby.url())).unwrap();
    let error = only_writable.ready(None).await.unwrap_err();
    let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(cause.contains("read-only"), "{error:?}");
}
