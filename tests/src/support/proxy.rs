//! A proxy between a program and its server that can freeze, cut, slow down and repoint connections.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream, lookup_host, tcp},
    sync::watch,
    task::JoinHandle,
};

use super::Server;

/// How many bytes of the server's may wait for the proxy.
const RECEIVE_BUFFER: u32 = 64 << 10;

/// What becomes of one connection's bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Passes,
    /// Each piece of at most 4 kB comes late, and no more than so many bytes pass in a second.
    Slow {
        delay: Duration,
        bytes_per_second: u32,
    },
    /// Nothing passes, and both ends are kept open: as behind a network that has gone.
    Frozen,
    /// What the client sends passes, and the connection is cut when the server answers.
    LosesReply,
    Cut,
}

/// One connection through the proxy.
struct Connection {
    flow: watch::Sender<Flow>,
    /// The port from which the proxy reaches the server, which the server shows as the client's.
    client_port: u16,
    /// How many bytes the server has sent.
    received: Arc<AtomicU64>,
}

/// What the proxy and its accepting task share.
struct State {
    target: Mutex<String>,
    connections: Mutex<Vec<Connection>>,
    /// What becomes of connections that are made from now on.
    later: Mutex<Flow>,
    /// How many connections were cut at an answer.
    lost: Arc<AtomicU64>,
}

/// A proxy on a port of its own; it ends when dropped.
pub struct Proxy {
    url: String,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Stands in front of the server of `url`.
    ///
    /// # Panics
    /// When there is no port to be had.
    pub async fn start(url: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            target: Mutex::new(Server::of(url).address()),
            connections: Mutex::default(),
            later: Mutex::new(Flow::Passes),
            lost: Arc::default(),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { url: Server::of(url).url_at("127.0.0.1", port), state, accepting }
    }

    /// The database's URL through the proxy.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many connections were made so far.
    ///
    /// # Panics
    /// Never.
    pub fn made(&self) -> usize {
        self.state.connections.lock().unwrap().len()
    }

    /// Freezes the connections that are there now; later ones pass.
    pub fn freeze_present(&self) {
        self.set_present(Flow::Frozen);
    }

    /// Freezes the one connection that the server knows by this client port. Says whether it goes through this proxy.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn freeze(&self, client_port: u16) -> bool {
        let connections = self.state.connections.lock().unwrap();
        let Some(found) = connections.iter().find(|connection| connection.client_port == client_port) else {
            return false;
        };
        found.flow.send_replace(Flow::Frozen);
        true
    }

    /// Loses the next answer of each connection that is there now, and the connection with it; later ones pass.
    pub fn lose_replies(&self) {
        self.set_present(Flow::LosesReply);
    }

    /// How many answers were lost so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.state.lost.load(Ordering::Relaxed)
    }

    /// Cuts the connections that are there now; later ones pass.
    pub fn cut_present(&self) {
        self.set_present(Flow::Cut);
    }

    /// Slows down all connections, later ones too.
    ///
    /// # Panics
    /// Never.
    pub fn slow_down(&self, delay: Duration, bytes_per_second: u32) {
        let slow = Flow::Slow { delay, bytes_per_second };
        *self.state.later.lock().unwrap() = slow;
        self.set_present(slow);
    }

    /// Lets everything pass again.
    ///
    /// # Panics
    /// Never.
    pub fn speed_up(&self) {
        *self.state.later.lock().unwrap() = Flow::Passes;
        self.set_present(Flow::Passes);
    }

    /// How many bytes the server has sent over all connections.
    ///
    /// # Panics
    /// Never.
    pub fn received(&self) -> u64 {
        let connections = self.state.connections.lock().unwrap();
        connections.iter().map(|connection| connection.received.load(Ordering::Relaxed)).sum()
    }

    /// Leads later connections to another server.
    ///
    /// # Panics
    /// Never.
    pub fn repoint(&self, url: &str) {
        *self.state.target.lock().unwrap() = Server::of(url).address();
    }

    fn set_present(&self, flow: Flow) {
        for connection in &*self.state.connections.lock().unwrap() {
            connection.flow.send_replace(flow);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut_present();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    while let Ok((client, _)) = listener.accept().await {
        let address = state.target.lock().unwrap().clone();
        let Ok(server) = connect(&address).await else { continue };
        let client_port = server.local_addr().unwrap().port();
        let (sender, flow) = watch::channel(*state.later.lock().unwrap());
        let received = Arc::new(AtomicU64::new(0));
        let connection = Connection { flow: sender, client_port, received: Arc::clone(&received) };
        state.connections.lock().unwrap().push(connection);
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        tokio::spawn(pass(from_client, to_server, flow.clone(), Arc::default(), None));
        tokio::spawn(pass(from_server, to_client, flow, received, Some(Arc::clone(&state.lost))));
    }
}

/// Connects with a small buffer: what the proxy does not read is soon too much for the server's socket.
async fn connect(address: &str) -> io::Result<TcpStream> {
    let address = lookup_host(address).await?.next().ok_or(io::ErrorKind::NotFound)?;
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
    socket.connect(address).await
}

async fn pass(
    mut from: tcp::OwnedReadHalf,
    mut to: tcp::OwnedWriteHalf,
    mut flow: watch::Receiver<Flow>,
    passed: Arc<AtomicU64>,
    lost: Option<Arc<AtomicU64>>,
) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        // A copy, so that no guard is held across a wait.
        let now = *flow.borrow_and_update();
        let (piece, delay, bytes_per_second) = match now {
            Flow::Cut => return,
            Flow::Frozen => match flow.changed().await {
                Ok(()) => continue,
                Err(_) => return,
            },
            Flow::Passes | Flow::LosesReply => (buffer.len(), Duration::ZERO, u32::MAX),
            Flow::Slow { delay, bytes_per_second } => (4 << 10, delay, bytes_per_second),
        };
        tokio::select! {
            changed = flow.changed() => if changed.is_err() { return },
            read = from.read(&mut buffer[..piece]) => match read {
                Ok(0) | Err(_) => return,
                Ok(bytes) => {
                    if let Some(lost) = lost.as_ref().filter(|_| now == Flow::LosesReply) {
                        lost.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                    if delay > Duration::ZERO {
                        tokio::time::sleep(delay + Duration::from_secs(1) * bytes as u32 / bytes_per_second).await;
                    }
                    if to.write_all(&buffer[..bytes]).await.is_err() {
                        return;
                    }
                    passed.fetch_add(bytes as u64, Ordering::Relaxed);
                }
            },
        }
    }
}
