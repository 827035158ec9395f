//! A proxy between a program and its server that can freeze, cut and repoint connections.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, tcp},
    sync::watch,
    task::JoinHandle,
};

use super::Server;

/// What becomes of one connection's bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Passes,
    /// Nothing passes, and both ends are kept open: as behind a network that has gone.
    Frozen,
    Cut,
}

/// A proxy on a port of its own; it ends when dropped.
pub struct Proxy {
    url: String,
    target: Arc<Mutex<String>>,
    connections: Arc<Mutex<Vec<watch::Sender<Flow>>>>,
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
        let target = Arc::new(Mutex::new(Server::of(url).address()));
        let connections = Arc::new(Mutex::new(Vec::new()));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&target), Arc::clone(&connections)));
        Self { url: Server::of(url).url_at("127.0.0.1", port), target, connections, accepting }
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
        self.connections.lock().unwrap().len()
    }

    /// Freezes the connections that are there now; later ones pass.
    pub fn freeze_present(&self) {
        self.set_present(Flow::Frozen);
    }

    /// Cuts the connections that are there now; later ones pass.
    pub fn cut_present(&self) {
        self.set_present(Flow::Cut);
    }

    /// Leads later connections to another server.
    ///
    /// # Panics
    /// Never.
    pub fn repoint(&self, url: &str) {
        *self.target.lock().unwrap() = Server::of(url).address();
    }

    fn set_present(&self, flow: Flow) {
        for connection in &*self.connections.lock().unwrap() {
            connection.send_replace(flow);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut_present();
    }
}

async fn accept(listener: TcpListener, target: Arc<Mutex<String>>, connections: Arc<Mutex<Vec<watch::Sender<Flow>>>>) {
    while let Ok((client, _)) = listener.accept().await {
        let address = target.lock().unwrap().clone();
        let Ok(server) = TcpStream::connect(address).await else { continue };
        let (sender, flow) = watch::channel(Flow::Passes);
        connections.lock().unwrap().push(sender);
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        tokio::spawn(pass(from_client, to_server, flow.clone()));
        tokio::spawn(pass(from_server, to_client, flow));
    }
}

async fn pass(mut from: tcp::OwnedReadHalf, mut to: tcp::OwnedWriteHalf, mut flow: watch::Receiver<Flow>) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        // A copy, so that no guard is held across a wait.
        let now = *flow.borrow_and_update();
        match now {
            Flow::Cut => return,
            Flow::Frozen => {
                if flow.changed().await.is_err() {
                    return;
                }
            }
            Flow::Passes => tokio::select! {
                changed = flow.changed() => if changed.is_err() { return },
                read = from.read(&mut buffer) => match read {
                    Ok(0) | Err(_) => return,
                    Ok(bytes) => if to.write_all(&buffer[..bytes]).await.is_err() { return },
                },
            },
        }
    }
}
