//! A primary that is killed and a standby that takes its place: nothing that was answered is lost, and nobody hangs.

use std::{sync::Arc, time::Duration};

use flow_runtime::{
    embedded,
    error::{RunError, StartError},
    prelude::*,
};
use flow_tests::{
    flows::Tick,
    support::{Server, Standby, eventually},
};
use sqlx::PgPool;
use tokio::{sync::Mutex, task::JoinSet};

/// Longer than every deadline of a program, one after the other.
const ALL_DEADLINES: Duration = Duration::from_secs(180);

// P38
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_synchronous_failover_every_started_run_ends_on_the_standby() {
    let mut primary = embedded::start_private().await.unwrap();
    let url = primary.create_database("shop").await.unwrap();
    let Some(standby) = Standby::of(&url).await else { return };
    let pool = PgPool::connect(&url).await.unwrap();
    let synchronous = "alter system set synchronous_standby_names = '*'";
    sqlx::raw_sql(synchronous).execute(&pool).await.unwrap();
    sqlx::raw_sql("select pg_reload_conf()").execute(&pool).await.unwrap();
    eventually("the standby follows at once", async || {
        let synchronous = "select count(*) from pg_stat_replication r where r.sync_state in ('sync', 'quorum')";
        sqlx::query_scalar::<_, i64>(synchronous).fetch_one(&pool).await.unwrap() == 1
    })
    .await;

    let (user, database) = (url.rsplit_once('@').unwrap().0, "shop");
    let both = format!("{user}@{},{}/{database}", Server::of(&url).address(), Server::of(standby.url()).address());
    let db = Db::new(&both).unwrap();
    let worker = Worker::builder(&db).flow(Tick).lease(Duration::from_secs(5)).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);
    let started = Arc::new(Mutex::new(Vec::new()));
    let mut waits = JoinSet::new();
    let starting = tokio::spawn({
        let (client, started) = (client.clone(), Arc::clone(&started));
        async move {
            for number in 0..400 {
                match client.start::<Tick>(&number).await {
                    Ok(run) => started.lock().await.push((number, run)),
                    // Whether it was started is not known; it was not answered.
                    Err(StartError::Db(error)) if error.is_transient() => {
                        tokio::time::sleep(Duration::from_millis(20)).await
                    }
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
    });
    eventually("some runs are started", async || started.lock().await.len() >= 100).await;
    primary.kill().await.unwrap();
    let promoted = PgPool::connect(standby.url()).await.unwrap();
    sqlx::raw_sql("alter system set synchronous_standby_names = ''").execute(&promoted).await.unwrap();
    sqlx::raw_sql("select pg_promote()").execute(&promoted).await.unwrap();

    tokio::time::timeout(ALL_DEADLINES, starting).await.expect("a start hangs").unwrap();
    let started = Arc::into_inner(started).unwrap().into_inner();
    let last = started.last().unwrap().0;
    assert_eq!(last, 399, "nothing was started after the failover");
    for (number, run) in started {
        waits.spawn(async move { (number, run.wait().await) });
    }
    let ended = async {
        while let Some(ended) = waits.join_next().await {
            match ended.unwrap() {
                (number, Ok(output)) => assert_eq!(output.only, number),
                (number, Err(RunError::NotFound(run))) => panic!("run {run} of {number} was lost"),
                (number, Err(error)) => panic!("{number}: {error:?}"),
            }
        }
    };
    tokio::time::timeout(ALL_DEADLINES, ended).await.expect("a wait hangs");
    worker.shutdown().await.unwrap();
}

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
    for unknown in [run.id(), uuid::Uuid::now_v7()] {
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
