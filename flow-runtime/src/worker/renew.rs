//! Keeps the leases of held tasks, and the worker's heartbeat, on a schedule of its own.

use std::{sync::Arc, time::Instant};

use flow_core::definition::QueueMode;
use tokio_util::sync::CancellationToken;

use super::{log, start::Shared};
use crate::{
    database::{Backoff, Link, Subscription, deadline, in_time},
    fault, store,
};

/// Renews until `all_settled`, every third of a lease and whenever the database calls this worker.
pub(super) async fn renew_until(
    shared: Arc<Shared>,
    mut link: Link,
    own: Subscription,
    all_settled: CancellationToken,
) {
    let mut backoff = Backoff::default();
    let mut pause = shared.config.renew_interval();
    loop {
        tokio::select! {
            () = all_settled.cancelled() => break,
            () = tokio::time::sleep(pause) => {}
            () = own.notified() => {}
        }
        let held = shared.held.ids();
        if !held.is_empty() && fault::is_cut("renewing") {
            link.lose();
        }
        let renewed = match link.get().await {
            Ok(connection) => {
                let renewal = store::renew_leases(connection, shared.worker_id, shared.config.lease, &held);
                in_time(deadline::RENEW, renewal).await
            }
            Err(error) => Err(error),
        };
        match renewed {
            Ok(renewed) => {
                link.has_served();
                backoff.reset();
                pause = shared.config.renew_interval();
                let mut lost = renewed.lost;
                lost.retain(|(id, _)| shared.held.cancel(*id));
                log::leases_lost(&shared, &lost);
                if matches!(renewed.state.as_str(), "draining" | "worker_gone" | "upgrade_needed") {
                    // The main loop's next exchange learns the same, and why.
                    tracing::debug!(state = renewed.state, reason = renewed.reason, "the worker is to stop");
                    shared.wake.notify_one();
                }
                look_out(&shared, &mut link).await;
            }
            Err(error) => {
                link.after(&error);
                pause = backoff.next_pause().min(shared.config.renew_interval());
                tracing::warn!(error = %error, cause = error.cause(), ?pause, "renewal failed; trying again");
            }
        }
    }
    link.close().await;
}

/// Looks, when it is time, for queues of the flow that have work and no worker. A plain flow's one queue is this worker's own.
async fn look_out(shared: &Shared, link: &mut Link) {
    let (slug, lookout) = (shared.flow.slug(), shared.db.lookout());
    let is_plain = shared.flow.definition.shape.queue_mode == QueueMode::Plain;
    if is_plain || !lookout.is_due(slug, Instant::now()) {
        return;
    }
    let looked = match link.get().await {
        Ok(connection) => in_time(deadline::RENEW, store::unserved_queues(connection, slug)).await,
        Err(error) => Err(error),
    };
    match looked {
        Ok(unserved) => lookout.report(slug, unserved),
        Err(error) => {
            // Nothing depends on it: the next look is a minute away.
            tracing::debug!(error = %error, cause = error.cause(), "no look at the queues");
            link.after(&error);
        }
    }
}
