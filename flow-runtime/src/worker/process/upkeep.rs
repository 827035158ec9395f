//! What a process does once a minute beside its heartbeat: it looks for queues without workers and for stranded work, and removes runs
//! that the setting `retention` keeps no longer.

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

/// How long a process removes runs in a row. Only one process removes at a time, so the others get their turn after this.
const KEEPING: Duration = Duration::from_secs(30);

impl Heart<'_> {
    /// Starts the upkeep in the background when a flow's check is due and no upkeep runs. The upkeep has a connection of its own, so that a
    /// slow look or removal does not delay the heartbeat that renews the lease.
    pub(super) fn keep_up(&mut self, members: &[Arc<Shared>]) {
        if self.upkeep.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        let now = Instant::now();
        let check = self.db.companion::<UnservedCheck>();
        let is_due = |shared: &&Arc<Shared>| check.is_due(shared.flow.slug(), now);
        let due: Vec<Arc<Shared>> = members.iter().filter(is_due).cloned().collect();
        if !due.is_empty() {
            self.upkeep = Some(tokio::spawn(keep_up(self.db.clone(), due)));
        }
    }
}

/// Looks at the queues of the flows of the workers `due`, then removes old runs.
async fn keep_up(db: Db, due: Vec<Arc<Shared>>) {
    let mut link = Link::new(db.connector().clone());
    for shared in due {
        look_at_queues(&mut link, &shared).await;
    }
    match link.call(deadline::HEARTBEAT, async |connection| store::has_retention(connection).await).await {
        Ok(true) => keep_house(&mut link).await,
        Ok(false) => {}
        Err(error) => tracing::debug!(error = %error, cause = error.cause(), "no look at the retention"),
    }
    link.close().await;
}

/// Looks for queues of a worker's flow that have work and no worker, and for queues with work that no worker would ever take up.
async fn look_at_queues(link: &mut Link, shared: &Shared) {
    let slug = shared.flow.slug();
    // A plain flow has one queue, which this worker serves, so no queue of the flow can be without a worker.
    let is_plain = shared.flow.definition.shape.queue_mode == QueueMode::Plain;
    let looked = link
        .call(deadline::HEARTBEAT, async |connection| {
            let unserved = if is_plain { Vec::new() } else { store::unserved_queues(connection, slug).await? };
            Ok::<_, DbError>((unserved, store::stranded_queues(connection, slug).await?))
        })
        .await;
    match looked {
        Ok((unserved, stranded)) => shared.notice(Notice::Queues { unserved, stranded }),
        Err(error) => {
            // A failed look loses nothing: the next look follows in a minute.
            tracing::debug!(error = %error, cause = error.cause(), "no look at the queues");
            link.after(&error);
        }
    }
}

/// Removes runs that the setting `retention` keeps no longer, until none is left, another process is removing, or [`KEEPING`] has passed.
async fn keep_house(link: &mut Link) {
    let until = Instant::now() + KEEPING;
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
                link.after(&error);
                break;
            }
        }
    }
    if removed > 0 {
        tracing::info!(runs = removed, "removed runs that the setting retention keeps no longer");
    }
}
