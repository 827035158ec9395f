//! What a process does beside its heartbeat once a minute: it looks for queues without workers or with damage, and removes runs that the
//! setting `retention` keeps no longer.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use flow_core::definition::QueueMode;

use crate::{
    database::{db::Db, deadline, link::Link, store},
    error::DbError,
    worker::{
        process::Heart,
        shared::{Notice, Shared},
        unserved::UnservedCheck,
    },
};

/// How long a process removes runs in a row, so that others take their turns.
const KEEPING: Duration = Duration::from_secs(30);

impl Heart<'_> {
    /// Looks, when it is time, at the queues of each flow, and begins to remove old runs.
    pub(super) async fn keep_up(&mut self, members: &[Arc<Shared>]) {
        let now = Instant::now();
        let mut is_due = false;
        for shared in members {
            let slug = shared.flow.slug();
            if self.db.companion::<UnservedCheck>().is_due(slug, now) {
                is_due = true;
                // A plain flow's one queue is its worker's own.
                let is_plain = shared.flow.definition.shape.queue_mode == QueueMode::Plain;
                self.look_out(shared, slug, is_plain).await;
            }
        }
        if is_due && self.keeper.as_ref().is_none_or(tokio::task::JoinHandle::is_finished) {
            self.keeper = self.keeper().await;
        }
    }

    /// Looks for queues of a flow that have work and no worker, and for those with work that nobody would take up.
    async fn look_out(&mut self, shared: &Shared, slug: &str, is_plain: bool) {
        let looked = self
            .link
            .call(deadline::HEARTBEAT, async |connection| {
                let unserved = if is_plain { Vec::new() } else { store::unserved_queues(connection, slug).await? };
                Ok::<_, DbError>((unserved, store::stranded_queues(connection, slug).await?))
            })
            .await;
        match looked {
            Ok((unserved, stranded)) => shared.notice(Notice::Queues { unserved, stranded }),
            Err(error) => {
                // Nothing depends on it: the next look is a minute away.
                tracing::debug!(error = %error, cause = error.cause(), "no look at the queues");
                self.link.after(&error);
            }
        }
    }

    /// Removes runs on a connection of its own, so that the lease waits for no disk; nothing while the setting is off.
    async fn keeper(&mut self) -> Option<tokio::task::JoinHandle<()>> {
        match self.link.call(deadline::HEARTBEAT, async |connection| store::has_retention(connection).await).await {
            Ok(has_retention) => has_retention.then(|| tokio::spawn(keep_house(self.db.clone()))),
            Err(error) => {
                tracing::debug!(error = %error, cause = error.cause(), "no look at the retention");
                self.link.after(&error);
                None
            }
        }
    }
}

/// Removes what the retention keeps no longer, until nothing is left, another process is at it or the time is over.
async fn keep_house(db: Db) {
    let (mut link, until) = (Link::new(db.connector().clone()), Instant::now() + KEEPING);
    let mut removed = 0;
    while Instant::now() < until {
        match link.call(deadline::KEEP_HOUSE, async |connection| store::keep_house(connection).await).await {
            Ok((runs, has_more)) => {
                removed += runs;
                if !has_more {
                    break;
                }
            }
            Err(error) => {
                tracing::debug!(error = %error, cause = error.cause(), "old runs are removed later");
                break;
            }
        }
    }
    if removed > 0 {
        tracing::info!(runs = removed, "removed runs that the setting retention keeps no longer");
    }
    link.close().await;
}
