//! Connections that freeze one by one, are cut, or are slow.

use std::time::Duration;

use flow_tests::support::{Proxy, TestDb, eventually};
use sqlx::PgPool;

use super::{a_while, judge, recovery, rounds, start_load};

/// Freezes the connection of `proxy` whose last statement holds `text`.
async fn freeze(pool: &PgPool, proxy: &Proxy, text: &str) {
    eventually(text, async || {
        let ports = "select a.client_port from pg_stat_activity a
                     where a.datname = current_database() and a.client_port > 0 and strpos(lower(a.query), $1) > 0";
        let ports: Vec<i32> = sqlx::query_scalar(ports).bind(text).fetch_all(pool).await.unwrap();
        ports.iter().any(|port| proxy.freeze(u16::try_from(*port).unwrap()))
    })
    .await;
}

// W19 H15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_connection_may_freeze_alone() {
    for _ in 0..rounds() {
        let test = TestDb::new().await;
        let mut proxies = Vec::new();
        for _ in 0..6 {
            proxies.push(Proxy::start(test.url()).await);
        }
        let urls: Vec<&str> = proxies.iter().map(Proxy::url).collect();
        let workers = [urls[0], urls[1], urls[2], test.url()];
        let mut load = start_load(&workers, &urls[3..]).await;
        // Of three workers and three clients one connection each.
        let frozen = ["flow.exchange", "flow.heartbeat", "listen", "flow.start_runs", "flow.get_run", "listen"];
        for (proxy, text) in proxies.iter().zip(frozen) {
            freeze(test.pool(), proxy, text).await;
        }
        load.outage_begins();
        let figures = judge("each connection frozen alone", &mut load, test.url()).await;
        figures.check_all();
    }
}

// W19 H15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_cut_again_and_again_lose_nothing() {
    for _ in 0..rounds() {
        let test = TestDb::new().await;
        let proxy = Proxy::start(test.url()).await;
        let mut load = start_load(&[proxy.url(), proxy.url()], &[proxy.url()]).await;
        for _ in 0..10 {
            load.outage_begins();
            proxy.cut_present();
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        let figures = judge("all connections cut ten times", &mut load, test.url()).await;
        figures.check_all();
    }
}

// W19 H15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_connections_lose_nothing() {
    for _ in 0..rounds() {
        let test = TestDb::new().await;
        let proxy = Proxy::start(test.url()).await;
        let mut load = start_load(&[proxy.url(), proxy.url()], &[proxy.url()]).await;
        load.outage_begins();
        proxy.slow_down(Duration::from_millis(100), 20_000);
        recovery(&load).await;
        a_while().await;
        proxy.speed_up();
        let figures = judge("slow connections (100 ms, 20 kB/s)", &mut load, test.url()).await;
        figures.check_all();
    }
}
