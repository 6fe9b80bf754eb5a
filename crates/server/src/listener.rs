//! Listening sockets, the accept loop, and the way out.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::connection;
use crate::idle_watch::IdleWatch;
use crate::process_list::Kill;
use crate::server::Server;
use crate::stream::Stream;

/// How long open connections may take to end at shutdown.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// Time between two looks at connections whose clients may be silent for too long.
const IDLE_LOOK: Duration = Duration::from_secs(1);

/// The sockets that clients connect to.
#[derive(Debug)]
pub struct Listeners {
    tcp: Vec<TcpListener>,
    unix: Option<(UnixListener, PathBuf)>,
}

impl Listeners {
    /// Binds what the options name: TCP unless `--skip-networking`, and the Unix socket unless its path is empty.
    ///
    /// # Errors
    /// One line that names the address or path.
    pub fn bind(server: &Server) -> Result<Self, String> {
        let options = &server.options;
        let mut tcp = Vec::new();
        if !options.variables.named("skip_networking").as_bool() {
            let addresses = resolve(options.bind_address(), options.port())?;
            refuse_open_accounts(server, &addresses)?;
            for address in addresses {
                let listener =
                    TcpListener::bind(address).map_err(|e| format!("cannot listen on {address}: {e}"))?;
                tcp.push(listener);
            }
        }
        let path = options.socket();
        let unix = if path.as_os_str().is_empty() { None } else { Some((bind_unix(&path)?, path)) };
        if tcp.is_empty() && unix.is_none() {
            return Err("neither TCP nor a socket to listen on".to_owned());
        }
        Ok(Listeners { tcp, unix })
    }

    /// The TCP port in use; 0 without TCP.
    pub fn port(&self) -> u16 {
        self.tcp.first().and_then(|listener| listener.local_addr().ok()).map_or(0, |address| address.port())
    }

    /// The Unix socket's path; empty without one.
    pub fn socket(&self) -> String {
        self.unix.as_ref().map_or_else(String::new, |(_, path)| path.display().to_string())
    }

    /// Accepts connections until a byte can be read from `stop`; then no more are accepted, those open are ended, and
    /// their threads are waited for.
    ///
    /// # Errors
    /// When polling fails.
    pub fn run(self, server: &Arc<Server>, stop: &UnixStream) -> io::Result<()> {
        let (mut watch, mut looked) = (IdleWatch::default(), Instant::now());
        while !self.wait(stop)? {
            if looked.elapsed() >= IDLE_LOOK {
                looked = Instant::now();
                watch.look(&server.processes, looked);
            }
            for listener in &self.tcp {
                accept(server, listener.accept().map(|(socket, _)| Stream::Tcp(socket)));
            }
            if let Some((listener, _)) = &self.unix {
                accept(server, listener.accept().map(|(socket, _)| Stream::Unix(socket)));
            }
        }
        server.begin_stopping();
        if let Some((_, path)) = &self.unix {
            // The file may be gone already; a new server removes a stale one.
            let _ = fs::remove_file(path);
        }
        drop(self);
        drain(server);
        Ok(())
    }

    /// Waits until a client knocks or connections may be looked at (false), or the server is to stop (true).
    fn wait(&self, stop: &UnixStream) -> io::Result<bool> {
        let sockets = self.tcp.iter().map(AsFd::as_fd).chain(self.unix.iter().map(|(l, _)| l.as_fd()));
        let mut fds: Vec<_> = std::iter::once(stop.as_fd())
            .chain(sockets)
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let until_look = Timespec { tv_sec: IDLE_LOOK.as_secs() as i64, tv_nsec: 0 };
        match poll(&mut fds, Some(&until_look)) {
            Ok(_) => Ok(!fds[0].revents().is_empty()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }
}

/// Starts a thread for an accepted connection. Listeners do not block: after one knock all of them are asked.
fn accept(server: &Arc<Server>, accepted: io::Result<Stream>) {
    let stream = match accepted {
        Ok(stream) => stream,
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
        Err(e) => {
            server.log.warning(&format!("cannot accept a connection: {e}"));
            // Out of file descriptors, most likely: do not spin until some are free.
            thread::sleep(Duration::from_millis(10));
            return;
        }
    };
    let shared = Arc::clone(server);
    let builder = thread::Builder::new().name("connection".to_owned()).stack_size(connection::STACK_BYTES);
    if let Err(e) = builder.spawn(move || connection::serve(&shared, stream)) {
        server.log.error(&format!("cannot start a connection's thread: {e}"));
    }
}

/// Ends all connections and waits until they are gone.
fn drain(server: &Server) {
    let deadline = Instant::now() + DRAIN_TIME;
    while server.processes.count() > 0 && Instant::now() < deadline {
        for process in server.processes.all() {
            process.kill(Kill::Connection);
        }
        server.engine.trx_system().wake_waiters();
        thread::sleep(Duration::from_millis(5));
    }
    if server.processes.count() > 0 {
        server.log.warning(&format!("{} connections did not end in time", server.processes.count()));
    }
}

fn resolve(names: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let mut addresses = Vec::new();
    for name in names.split(',').map(str::trim) {
        let host = if name == "*" { "0.0.0.0" } else { name };
        let found = (host, port).to_socket_addrs().map_err(|e| format!("bad bind address '{name}': {e}"))?;
        let before = addresses.len();
        addresses.extend(found.take(1));
        if addresses.len() == before {
            return Err(format!("bad bind address '{name}'"));
        }
    }
    Ok(addresses)
}

/// A server that others can reach must not have accounts that anybody can use.
fn refuse_open_accounts(server: &Server, addresses: &[SocketAddr]) -> Result<(), String> {
    let Some(address) = addresses.iter().find(|address| !address.ip().is_loopback()) else {
        return Ok(());
    };
    match server.accounts.find_passwordless() {
        None => Ok(()),
        Some(account) => Err(format!(
            "will not listen on {}: account '{}'@'{}' has no password; give it one first (ALTER USER ... \
             IDENTIFIED BY ...) or bind to 127.0.0.1",
            address.ip(),
            account.user,
            account.host
        )),
    }
}

/// Binds the Unix socket, over a file that no server answers on any more.
fn bind_unix(path: &Path) -> Result<UnixListener, String> {
    let name = path.display();
    if path.exists() {
        if UnixStream::connect(path).is_ok() {
            return Err(format!("another server listens on {name}"));
        }
        fs::remove_file(path).map_err(|e| format!("cannot remove the stale socket {name}: {e}"))?;
    }
    UnixListener::bind(path).map_err(|e| format!("cannot listen on {name}: {e}"))
}

impl Listeners {
    /// Makes accepting non-blocking; called once all sockets are bound.
    pub fn set_nonblocking(&self) -> io::Result<()> {
        for listener in &self.tcp {
            listener.set_nonblocking(true)?;
        }
        self.unix.as_ref().map_or(Ok(()), |(listener, _)| listener.set_nonblocking(true))
    }
}
