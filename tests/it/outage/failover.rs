//! A primary that dies or may not write any more, and a standby that takes its place.

use flow_runtime::embedded::{self, PrivateServer};
use flow_tests::{
    outage::Load,
    support::{Proxy, Server, Standby, make_synchronous},
};
use sqlx::PgPool;

use super::{a_while, judge, rounds, start_load};

/// A primary and its standby.
struct Pair {
    primary: PrivateServer,
    primary_url: String,
    standby: Standby,
    /// Between the standby and the primary.
    replication: Proxy,
}

impl Pair {
    async fn start(is_synchronous: bool) -> Option<Self> {
        let primary = embedded::start_private().await.unwrap();
        let primary_url = primary.create_database("shop").await.unwrap();
        let replication = Proxy::start(&primary_url).await;
        let standby = Standby::of(replication.url()).await?;
        if is_synchronous {
            make_synchronous(&primary_url).await;
        }
        Some(Self { primary, primary_url, standby, replication })
    }

    async fn load(&self) -> Load {
        let (primary, standby) = (Server::of(&self.primary_url), Server::of(self.standby.url()));
        let user = self.primary_url.rsplit_once('@').unwrap().0;
        let both = format!("{user}@{},{}/shop", primary.address(), standby.address());
        start_load(&[&both, &both], &[&both]).await
    }
}

// P38
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_synchronous_failover_under_load_loses_nothing() {
    for _ in 0..rounds() {
        let Some(mut pair) = Pair::start(true).await else { return };
        let mut load = pair.load().await;
        load.outage_begins();
        pair.primary.kill().await.unwrap();
        pair.standby.promote().await;
        let figures = judge("failover, synchronous", &mut load, pair.standby.url()).await;
        figures.check_all();
    }
}

// P39
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_asynchronous_failover_under_load_loses_only_what_the_standby_had_not() {
    for _ in 0..rounds() {
        let Some(mut pair) = Pair::start(false).await else { return };
        let mut load = pair.load().await;
        // What is committed from here on never reaches the standby.
        pair.replication.freeze_present();
        a_while().await;
        load.outage_begins();
        pair.primary.kill().await.unwrap();
        pair.standby.promote().await;
        let figures = judge("failover, asynchronous", &mut load, pair.standby.url()).await;
        println!("lost: {:#?}", figures.lost);
        assert!(!figures.lost.is_empty(), "the standby had everything, so that nothing was tried");
        assert!(figures.lost.iter().all(|lost| lost.ends_with("is not there")), "{figures:?}");
        figures.check_but_lost();
    }
}

// P40
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_demoted_primary_that_still_answers_is_left_for_the_new_one() {
    for _ in 0..rounds() {
        let Some(pair) = Pair::start(true).await else { return };
        let mut load = pair.load().await;
        load.outage_begins();
        let old = PgPool::connect(&pair.primary_url).await.unwrap();
        for demote in ["alter system set default_transaction_read_only = on", "select pg_reload_conf()"] {
            sqlx::raw_sql(demote).execute(&old).await.unwrap();
        }
        pair.standby.promote().await;
        let figures = judge("demotion with open sockets", &mut load, pair.standby.url()).await;
        figures.check_all();
        old.close().await;
    }
}
