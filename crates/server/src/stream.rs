//! A client's socket, TCP or Unix.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use base::memory::ServerAccount;
use nix::unistd::{Uid, User};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustls::ServerConfig;

use crate::compression::{Algorithm, CompressedStream};
use crate::peer::Peer;
use crate::tls::TlsSession;

/// A connected socket. Reading and writing need no exclusive access, so that KILL can close it from outside.
/// After client and server have agreed on TLS or compression, these transform what is read and written.
#[derive(Debug)]
pub struct Stream {
    socket: Socket,
    /// Absent without TLS and compression: such connections check this alone.
    layers: OnceLock<Box<Layers>>,
}

/// What lies between packets and socket: compression above TLS.
#[derive(Debug, Default)]
struct Layers {
    tls: OnceLock<TlsSession>,
    compression: OnceLock<CompressedStream>,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl From<TcpStream> for Stream {
    fn from(socket: TcpStream) -> Self {
        Stream { socket: Socket::Tcp(socket), layers: OnceLock::new() }
    }
}

impl From<UnixStream> for Stream {
    fn from(socket: UnixStream) -> Self {
        Stream { socket: Socket::Unix(socket), layers: OnceLock::new() }
    }
}

impl Stream {
    /// Where the client is, and its host and port as SHOW PROCESSLIST shows them.
    pub(crate) fn peer(&self) -> io::Result<(Peer, String)> {
        match &self.socket {
            Socket::Tcp(socket) => {
                let address = socket.peer_addr()?;
                let peer = Peer::Remote(address.ip());
                Ok((peer, format!("{}:{}", peer.host(), address.port())))
            }
            Socket::Unix(_) => Ok((Peer::Local, "localhost".to_owned())),
        }
    }

    /// Name of the user of the system that connected; `None` over TCP, or if the system has none of that
    /// number.
    #[cold]
    pub(crate) fn system_user(&self) -> Option<String> {
        let Socket::Unix(socket) = &self.socket else { return None };
        let uid = rustix::net::sockopt::socket_peercred(socket).ok()?.uid;
        User::from_uid(Uid::from_raw(uid.as_raw())).ok()?.map(|user| user.name)
    }

    /// Small packets leave at once.
    pub(crate) fn set_no_delay(&self) -> io::Result<()> {
        match &self.socket {
            Socket::Tcp(socket) => socket.set_nodelay(true),
            Socket::Unix(_) => Ok(()),
        }
    }

    /// Begins TLS, until `deadline` at the latest. `early`: what the client has sent of it already.
    ///
    /// # Errors
    /// The client speaks no TLS that `config` takes, is gone, or was too slow (`TimedOut`). The connection is
    /// lost then.
    #[cold]
    pub(crate) fn begin_tls(
        &self,
        config: &Arc<ServerConfig>,
        early: &[u8],
        deadline: Instant,
    ) -> io::Result<()> {
        let session = TlsSession::accept(self, config, early, deadline)?;
        let layers = self.layers.get_or_init(Box::default);
        layers.tls.set(session).map_err(|_| io::ErrorKind::AlreadyExists.into())
    }

    /// Compresses what follows in both directions, at the cost of `memory`. `early`: what the client has sent
    /// of it already.
    #[cold]
    pub(crate) fn begin_compression(&self, algorithm: Algorithm, early: Vec<u8>, memory: Arc<ServerAccount>) {
        let layers = self.layers.get_or_init(Box::default);
        layers.compression.get_or_init(|| CompressedStream::new(algorithm, early, memory));
    }

    /// The TLS session, if there is one.
    pub(crate) fn tls(&self) -> Option<&TlsSession> {
        self.layers.get()?.tls.get()
    }

    /// The compression, if there is one.
    pub(crate) fn compression(&self) -> Option<&CompressedStream> {
        self.layers.get()?.compression.get()
    }

    /// Whether what is sent goes through TLS or compression.
    #[inline]
    pub(crate) fn is_layered(&self) -> bool {
        self.layers.get().is_some()
    }

    /// The socket of a connection without TLS and compression.
    #[inline]
    pub(crate) fn plain(&self) -> PlainSocket<'_> {
        PlainSocket(self)
    }

    /// The socket itself: what is read and written is not encrypted. Reads return `WouldBlock` if nothing has
    /// arrived, unless they may `wait`.
    pub(crate) fn raw(&self, wait: bool) -> RawSocket<'_> {
        RawSocket { stream: self, wait }
    }

    /// How long a write may wait without any byte being taken; then it fails with `WouldBlock`. Costs a write
    /// nothing that does not wait.
    pub(crate) fn set_write_timeout(&self, seconds: u64) -> io::Result<()> {
        let timeout = Some(Duration::from_secs(seconds.max(1)));
        match &self.socket {
            Socket::Tcp(socket) => socket.set_write_timeout(timeout),
            Socket::Unix(socket) => socket.set_write_timeout(timeout),
        }
    }

    /// Reads through the layers what has arrived, or waits for the first bytes if it may `wait`.
    ///
    /// # Errors
    /// Those of the socket; `WouldBlock` if less has arrived than a layer needs; those of a layer, after
    /// which the connection is lost.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_layered(&self, wait: bool, buf: &mut [u8]) -> io::Result<usize> {
        let mut below = BelowCompression { stream: self, wait };
        match self.compression() {
            None => below.read(buf),
            Some(compression) => compression.read(&mut below, buf),
        }
    }

    /// The layers, to write to.
    pub(crate) fn layered(&self) -> LayeredSocket<'_> {
        LayeredSocket(self)
    }

    /// Waits until something can be read, or the client is gone; false if that takes longer than `timeout`.
    /// For after a read that would have waited.
    pub(crate) fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let wait = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            match poll(&mut [PollFd::new(self, PollFlags::IN)], Some(&wait)) {
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
                Ok(ready) => return Ok(ready > 0),
            }
        }
    }

    /// Sends `bytes` as they are if there is room for them in the socket; does not wait.
    pub(crate) fn send_without_waiting(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?)
    }

    /// Whether the client has closed its end, whatever it sent before. Does not wait.
    pub(crate) fn is_closed_by_peer(&self) -> bool {
        let mut polled = [PollFd::new(self, PollFlags::RDHUP)];
        let closed = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(closed)
    }

    /// Shuts the connection down for its readers and writers. A socket that is gone already is no error.
    pub fn shut_down(&self) {
        let _ = match &self.socket {
            Socket::Tcp(socket) => socket.shutdown(Shutdown::Both),
            Socket::Unix(socket) => socket.shutdown(Shutdown::Both),
        };
    }

    /// Ends reading: a waiting reader sees the end of the stream; what is written still goes out.
    pub(crate) fn shut_down_read(&self) {
        let _ = match &self.socket {
            Socket::Tcp(socket) => socket.shutdown(Shutdown::Read),
            Socket::Unix(socket) => socket.shutdown(Shutdown::Read),
        };
    }

    /// Tells the client that nothing more comes; what was written is still delivered.
    pub(crate) fn shut_down_write(&self) {
        if let Some(session) = self.tls() {
            session.send_close_notify(self.raw(false));
        }
        let _ = match &self.socket {
            Socket::Tcp(socket) => socket.shutdown(Shutdown::Write),
            Socket::Unix(socket) => socket.shutdown(Shutdown::Write),
        };
    }
}

impl AsFd for Stream {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Tcp(socket) => socket.as_fd(),
            Socket::Unix(socket) => socket.as_fd(),
        }
    }
}

/// A connection with TLS or compression.
pub(crate) struct LayeredSocket<'a>(&'a Stream);

impl Write for LayeredSocket<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let mut below = BelowCompression { stream: self.0, wait: true };
        match self.0.compression() {
            None => below.write(buf),
            Some(compression) => {
                compression.write_all(&mut below, buf)?;
                Ok(buf.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The socket, or TLS on it.
struct BelowCompression<'a> {
    stream: &'a Stream,
    /// The next read may wait.
    wait: bool,
}

impl Read for BelowCompression<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut socket = self.stream.raw(self.wait);
        let read = match self.stream.tls() {
            None => socket.read(buf),
            Some(session) => session.read(socket, buf),
        }?;
        self.wait = false;
        Ok(read)
    }
}

impl Write for BelowCompression<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let mut socket = self.stream.raw(self.wait);
        match self.stream.tls() {
            None => socket.write(buf),
            Some(session) => session.write(socket, buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection without TLS and compression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainSocket<'a>(&'a Stream);

/// By the system call itself: the C library's function searches for thread cancellation before and after it.
impl Read for PlainSocket<'_> {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self.0, buf)?)
    }
}

impl Write for PlainSocket<'_> {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0, buf, SendFlags::NOSIGNAL)?)
    }

    /// Without making an `io::Error` of an interruption, as the one of the library does.
    #[inline]
    fn write_all(&mut self, mut buf: &[u8]) -> io::Result<()> {
        while !buf.is_empty() {
            match rustix::net::send(self.0, buf, SendFlags::NOSIGNAL) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => buf = buf.get(sent..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket without its layers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawSocket<'a> {
    stream: &'a Stream,
    wait: bool,
}

impl Read for RawSocket<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let flags = if self.wait { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        let (read, _) = rustix::net::recv(self.stream, buf, flags)?;
        Ok(read)
    }
}

impl Write for RawSocket<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let flags = if self.wait { SendFlags::NOSIGNAL } else { SendFlags::NOSIGNAL | SendFlags::DONTWAIT };
        Ok(rustix::net::send(self.stream, buf, flags)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
