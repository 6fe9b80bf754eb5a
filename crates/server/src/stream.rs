//! A client's socket, TCP or Unix.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use crate::account::Peer;

/// A connected socket. Reading and writing need no exclusive access, so that KILL can close it from outside.
#[derive(Debug)]
pub enum Stream {
    /// TCP.
    Tcp(TcpStream),
    /// Unix socket.
    Unix(UnixStream),
}

impl Stream {
    /// Where the client is, and its host and port as SHOW PROCESSLIST shows them.
    pub fn peer(&self) -> io::Result<(Peer, String)> {
        match self {
            Stream::Tcp(socket) => {
                let address = socket.peer_addr()?;
                let peer = Peer::Remote(address.ip());
                Ok((peer, format!("{}:{}", peer.host(), address.port())))
            }
            Stream::Unix(_) => Ok((Peer::Local, "localhost".to_owned())),
        }
    }

    /// Small packets leave at once.
    pub fn set_no_delay(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(socket) => socket.set_nodelay(true),
            Stream::Unix(_) => Ok(()),
        }
    }

    /// How long a write may wait without any byte being taken; then it fails with `WouldBlock`. Costs a write
    /// nothing that does not wait.
    pub fn set_write_timeout(&self, seconds: u64) -> io::Result<()> {
        let timeout = Some(Duration::from_secs(seconds.max(1)));
        match self {
            Stream::Tcp(socket) => socket.set_write_timeout(timeout),
            Stream::Unix(socket) => socket.set_write_timeout(timeout),
        }
    }

    /// Reads what has arrived; `WouldBlock` if that is nothing.
    pub fn read_arrived(&self, buf: &mut [u8]) -> io::Result<usize> {
        let (read, _) = rustix::net::recv(self, buf, RecvFlags::DONTWAIT)?;
        Ok(read)
    }

    /// Waits until something can be read, or the client is gone; false if that takes longer than `timeout`.
    pub fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
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

    /// Sends `bytes` if there is room for them in the socket; does not wait.
    pub fn send_without_waiting(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?)
    }

    /// Whether the client has closed its end, whatever it sent before. Does not wait.
    pub fn is_closed_by_peer(&self) -> bool {
        let mut polled = [PollFd::new(self, PollFlags::RDHUP)];
        let closed = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(closed)
    }

    /// Ends the connection under whoever reads or writes it. A socket that is gone already is no error.
    pub fn shut_down(&self) {
        let _ = match self {
            Stream::Tcp(socket) => socket.shutdown(Shutdown::Both),
            Stream::Unix(socket) => socket.shutdown(Shutdown::Both),
        };
    }

    /// Lets whoever waits for the client read its end; what is written still goes out.
    pub fn shut_down_read(&self) {
        let _ = match self {
            Stream::Tcp(socket) => socket.shutdown(Shutdown::Read),
            Stream::Unix(socket) => socket.shutdown(Shutdown::Read),
        };
    }

    /// Tells the client that nothing more comes; what was written is still delivered.
    pub fn shut_down_write(&self) {
        let _ = match self {
            Stream::Tcp(socket) => socket.shutdown(Shutdown::Write),
            Stream::Unix(socket) => socket.shutdown(Shutdown::Write),
        };
    }
}

impl AsFd for Stream {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(socket) => socket.as_fd(),
            Stream::Unix(socket) => socket.as_fd(),
        }
    }
}

/// By the system call itself: the C library's function looks for thread cancellation before and after it.
impl Read for &Stream {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self, buf)?)
    }
}

impl Write for &Stream {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self, buf, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
