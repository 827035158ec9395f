//! A listening connection of its own that notices when it hears nothing any more.

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

/// What came over the connection.
pub(super) enum Heard {
    /// A notification of the engine's.
    Note { channel: String, payload: String },
    /// The notification that it sent itself.
    Itself,
    /// Nothing for so long that it is to send itself a notification.
    Nothing,
}

/// The connection, from a pool of one: the pool of the handles may be busy or broken.
pub(super) struct Listener {
    listener: PgListener,
    /// The channel on which it hears itself.
    own: String,
    /// When the next notification to itself is sent, or else when the one that was sent must have come.
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

    /// Waits for the next notification, or until one to itself is due. May be dropped at any point.
    ///
    /// # Errors
    /// When the connection is lost, or its own notification has not come back in time.
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

    /// Sends itself a notification, which must come back.
    pub(super) async fn beat(&mut self) -> sqlx::Result<()> {
        let send = sqlx::query("select pg_notify($1, '')").bind(&self.own);
        in_time(deadline::POLL, self.listener.execute(send)).await?;
        self.awaits_beat = true;
        self.beat_at = Instant::now() + deadline::POLL;
        Ok(())
    }
}
