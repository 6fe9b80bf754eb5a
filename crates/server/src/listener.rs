//! Listening sockets, the accept loop, and the way out.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::connection::{self, Accepted};
use crate::error_map;
use crate::idle_watch::IdleWatch;
use crate::process_list::Kill;
use crate::server::Server;
use crate::stream::Stream;

/// How long open connections may take to end at shutdown.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// Time between two checks of connections whose clients may be silent for too long.
const IDLE_LOOK: Duration = Duration::from_secs(1);

/// Most connections that are accepted from a socket before the others, the time and the stop are checked
/// again.
const ACCEPTS_MAX: usize = 4096;

/// Pause after a failed accept, which most likely lacks a file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Time between two lines of the log about failed accepts.
const ACCEPT_LOG_EVERY: Duration = Duration::from_secs(10);

/// The kernel's limit on `back_log`.
const SOMAXCONN_FILE: &str = "/proc/sys/net/core/somaxconn";

/// The sockets that clients connect to.
#[derive(Debug)]
pub(crate) struct Listeners {
    tcp: Vec<TcpListener>,
    unix: Option<(UnixListener, PathBuf)>,
    accept_failed: Option<Instant>,
}

impl Listeners {
    /// Binds what the options name: TCP unless `--skip-networking`, and the Unix socket unless its path is
    /// empty.
    ///
    /// # Errors
    /// One line that names the address or path.
    pub(crate) fn bind(server: &Server) -> Result<Self, String> {
        let options = &server.options;
        let back_log = back_log(server);
        let mut tcp = Vec::new();
        if !options.variables.named("skip_networking").as_bool() {
            let addresses = resolve(options.bind_address(), options.port())?;
            refuse_open_accounts(server, &addresses)?;
            for address in addresses {
                tcp.push(
                    bind_tcp(address, back_log).map_err(|e| format!("cannot listen on {address}: {e}"))?,
                );
            }
        }
        let path = options.socket();
        let unix = if path.as_os_str().is_empty() {
            None
        } else {
            Some((bind_unix(&path, socket_mode(server)?, back_log)?, path))
        };
        if tcp.is_empty() && unix.is_none() {
            return Err("neither TCP nor a socket to listen on".to_owned());
        }
        Ok(Listeners { tcp, unix, accept_failed: None })
    }

    /// The TCP port in use; 0 without TCP.
    pub(crate) fn port(&self) -> u16 {
        self.tcp.first().and_then(|listener| listener.local_addr().ok()).map_or(0, |address| address.port())
    }

    /// The Unix socket's path; empty without one.
    pub(crate) fn socket(&self) -> String {
        self.unix.as_ref().map_or_else(String::new, |(_, path)| path.display().to_string())
    }

    /// Accepts connections until a byte can be read from `stop`; then no more are accepted, those open are
    /// ended, and their threads are waited for.
    ///
    /// # Errors
    /// When polling fails.
    pub(crate) fn run(mut self, server: &Arc<Server>, stop: &UnixStream) -> io::Result<()> {
        let (mut watch, mut looked) = (IdleWatch::default(), Instant::now());
        while !self.wait(stop)? {
            if looked.elapsed() >= IDLE_LOOK {
                looked = Instant::now();
                watch.look(&server.processes, looked);
                let connect_timeout = server.variables.read().named("connect_timeout").as_u64();
                server.connection_slots.end_overdue(Duration::from_secs(connect_timeout), looked);
            }
            if let Err(error) = self.accept_all(server) {
                self.accept_failed(server, &error);
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

    /// Waits until a client connects or connections are to be checked (false), or the server is to stop
    /// (true).
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

impl Listeners {
    /// Accepts all clients that have connected.
    fn accept_all(&self, server: &Arc<Server>) -> io::Result<()> {
        for listener in &self.tcp {
            accept_ready(server, || Ok(listener.accept()?.0.into()))?;
        }
        match &self.unix {
            Some((listener, _)) => accept_ready(server, || Ok(listener.accept()?.0.into())),
            None => Ok(()),
        }
    }

    #[cold]
    fn accept_failed(&mut self, server: &Server, error: &io::Error) {
        if self.accept_failed.is_none_or(|logged| logged.elapsed() >= ACCEPT_LOG_EVERY) {
            self.accept_failed = Some(Instant::now());
            server.log.warning(&format!("cannot accept a connection: {error}"));
        }
        thread::sleep(ACCEPT_PAUSE);
    }
}

/// Starts a thread for every connection that `accept` gives before it would block.
fn accept_ready(server: &Arc<Server>, mut accept: impl FnMut() -> io::Result<Stream>) -> io::Result<()> {
    for _ in 0..ACCEPTS_MAX {
        match accept() {
            Ok(stream) => start_thread(server, stream),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            // The client has gone in the meantime.
            Err(e) if matches!(e.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn start_thread(server: &Arc<Server>, stream: Stream) {
    let Some(accepted) = Accepted::enter(server, stream) else { return };
    let stream = accepted.stream();
    let builder = thread::Builder::new().name("connection".to_owned()).stack_size(connection::STACK_BYTES);
    if let Err(e) = builder.spawn(move || accepted.serve()) {
        server.log.error(&format!("cannot start a connection's thread: {e}"));
        let errno = e.raw_os_error().unwrap_or_default();
        connection::refuse(&stream, &error_map::CANT_CREATE_THREAD.with(&[&errno]));
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

/// `back_log`, for whose excess over the kernel's limit the log has a warning.
fn back_log(server: &Server) -> i32 {
    let back_log = server.options.variables.named("back_log").as_u64();
    let limit = fs::read_to_string(SOMAXCONN_FILE).ok().and_then(|text| text.trim().parse::<u64>().ok());
    if let Some(limit) = limit.filter(|&limit| limit < back_log) {
        server.log.warning(&format!(
            "back_log: {back_log} connections may wait to be accepted, but the kernel allows {limit}; raise \
             net.core.somaxconn for more"
        ));
    }
    i32::try_from(back_log).unwrap_or(i32::MAX)
}

fn bind_tcp(address: SocketAddr, back_log: i32) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // A server that has just ended leaves connections behind that would keep the port.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(back_log)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Returns the mode of the Unix socket, `ratchet_socket_mode`. The default lets every user of the machine
/// connect, as MySQL does; accounts decide the rest, as with TCP.
fn socket_mode(server: &Server) -> Result<u32, String> {
    let variables = &server.options.variables;
    let text = variables.named("ratchet_socket_mode").as_text();
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| format!("ratchet_socket_mode: '{text}' is not a mode between 0 and 0777"))
}

/// Binds the Unix socket, over a file that no server answers on any more.
fn bind_unix(path: &Path, mode: u32, back_log: i32) -> Result<UnixListener, String> {
    let name = path.display();
    if path.exists() {
        if UnixStream::connect(path).is_ok() {
            return Err(format!("another server listens on {name}"));
        }
        fs::remove_file(path).map_err(|e| format!("cannot remove the stale socket {name}: {e}"))?;
    }
    let bound = || {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&SockAddr::unix(path)?)?;
        // No client can connect before `listen`, so none connects under the mode that the umask left.
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        socket.listen(back_log)?;
        socket.set_nonblocking(true)?;
        Ok(OwnedFd::from(socket).into())
    };
    bound().map_err(|e: io::Error| format!("cannot listen on {name}: {e}"))
}
