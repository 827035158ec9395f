//! A server that dies again and again, and one whose disk is full.

use std::{path::PathBuf, time::Duration};

use flow_runtime::embedded;
use flow_tests::{outage::SmallDisk, support::eventually};
use sqlx::PgPool;

use super::{a_while, judge, rounds, start_load};

/// How often the server dies in one round.
const RESTARTS: usize = 10;

/// The size of the small disk: the data takes some 80 MB.
const DISK_MEGABYTES: u32 = 200;

// W20 H15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_crashes_of_the_server_under_load_lose_nothing() {
    let mut server = embedded::start_private().await.unwrap();
    let url = server.create_database("shop").await.unwrap();
    for _ in 0..rounds() {
        let mut load = start_load(&[&url, &url], &[&url]).await;
        for _ in 0..RESTARTS {
            load.outage_begins();
            server.kill().await.unwrap();
            server.start().await.unwrap();
            tokio::time::sleep(Duration::from_millis(700)).await;
        }
        let figures = judge("ten crashes of the server", &mut load, &url).await;
        figures.check_all();
    }
}

// W21 H15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_under_load_loses_nothing() {
    let mut server = embedded::start_private().await.unwrap();
    let url = server.create_database("shop").await.unwrap();
    let pool = PgPool::connect(&url).await.unwrap();
    let data: String = sqlx::query_scalar("select current_setting('data_directory')").fetch_one(&pool).await.unwrap();
    pool.close().await;
    server.stop().await.unwrap();
    let Some(disk) = SmallDisk::under(&PathBuf::from(data), DISK_MEGABYTES) else { return };
    server.start().await.unwrap();
    for _ in 0..rounds() {
        let mut load = start_load(&[&url, &url], &[&url]).await;
        disk.fill();
        a_while().await;
        // Whatever the server has freed meanwhile is taken too.
        disk.fill();
        a_while().await;
        // What counts is how long it takes from when there is room.
        load.outage_begins();
        disk.clear();
        // A server that could not write its log has gone, and somebody starts it again when there is room.
        if PgPool::connect(&url).await.is_err() {
            server.kill().await.unwrap();
            server.start().await.unwrap();
        }
        eventually("the server answers", async || PgPool::connect(&url).await.is_ok()).await;
        let figures = judge("full disk", &mut load, &url).await;
        assert!(figures.refused > 0, "the disk was never full: {figures:?}");
        figures.check_all();
    }
    server.stop().await.unwrap();
}
