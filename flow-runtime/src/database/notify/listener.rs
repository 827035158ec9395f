//! The listening connection. It sends itself a notification now and then, and so notices when notifications do not arrive any more.

use std::time::Duration;

use sqlx::{
    Executor,
    postgres::{PgListener, PgPoolOptions},
};
use tokio::time::Instant;
use uuid::Uuid;

use crate::database::{
    backend::{OwnName, let_go_when_frozen},
    deadline::{self, in_time},
    pool::SharedPool,
};

/// How often the connection sends itself a notification.
const BEAT_INTERVAL: Duration = Duration::from_secs(20);

/// What waiting on the connection has brought.
pub(super) enum Heard {
    /// A notification of the engine.
    Note { channel: String, payload: String },
    /// The notification that the connection has sent itself.
    Itself,
    /// Nothing for [`BEAT_INTERVAL`]: the connection is to send itself a notification.
    Nothing,
}

/// The listening connection, from a pool of one connection, because the shared pool may be busy or broken.
pub(super) struct Listener {
    listener: PgListener,
    /// The channel on which the connection sends itself notifications.
    own: String,
    /// When the next notification to itself is to be sent; while `awaits_beat`, when the one that was sent must have arrived.
    beat_at: Instant,
    awaits_beat: bool,
}

impl Listener {
    pub(super) async fn open(shared: &SharedPool) -> sqlx::Result<Self> {
        shared.find_server().await?;
        let options = shared.options();
        let options = OwnName::new(&options).on(&options);
        let pool =
            PgPoolOptions::new().max_connections(1).acquire_timeout(deadline::CONNECT).connect_lazy_with(options);
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.eager_reconnect(false);
        let_go_when_frozen(&mut listener).await?;
        let own = format!("flow_own_{}", Uuid::now_v7().simple());
        listener.listen_all(["flow_queue", "flow_worker", "flow_run", own.as_str()]).await?;
        Ok(Self { listener, own, beat_at: Instant::now() + BEAT_INTERVAL, awaits_beat: false })
    }

    /// Waits for the next notification, or until a notification to itself is due. Dropping the future loses no notification.
    ///
    /// # Errors
    /// When the connection is lost, or its own notification has not arrived within [`deadline::POLL`].
    pub(super) async fn next(&mut self) -> sqlx::Result<Heard> {
        let note = match tokio::time::timeout_at(self.beat_at, self.listener.try_recv()).await {
            Ok(note) => note?.ok_or(sqlx::Error::WorkerCrashed)?,
            Err(_) if self.awaits_beat => return Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
            Err(_) => return Ok(Heard::Nothing),
        };
        if note.channel() == self.own {
            self.awaits_beat = false;
            self.beat_at = Instant::now() + BEAT_INTERVAL;
            return Ok(Heard::Itself);
        }
        Ok(Heard::Note { channel: note.channel().to_owned(), payload: note.payload().to_owned() })
    }

    /// Sends the connection a notification to itself, which must arrive within [`deadline::POLL`].
    pub(super) async fn beat(&mut self) -> sqlx::Result<()> {
        let send = sqlx::query("select pg_notify($1, '')").bind(&self.own);
        in_time(deadline::POLL, self.listener.execute(send)).await?;
        self.awaits_beat = true;
        self.beat_at = Instant::now() + deadline::POLL;
        Ok(())
    }
}
