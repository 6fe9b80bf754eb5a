//! A connection that needs no thread while it waits: commands are sent at once, answers are futures.
//!
//! A thread that serves many connections spends a send and a receive on each statement. A thread per
//! connection would also be stopped and woken for each, which on few cores costs as much as a fast server
//! does.

use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::task::Poll;
use std::time::Duration;

use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, HandshakePacket, HandshakeResponse};
use mysql_common::proto::{MyDeserialize, MySerialize};
use rustix::event::{PollFd, PollFlags, poll};

use crate::target::Address;
use crate::tpcc::answer::{self, Request};
use crate::tpcc::session::{Failure, Outcome};

/// Bytes of a packet's header.
pub(super) const HEADER_BYTES: usize = 4;
/// A packet whose body has this many bytes is continued by another.
const PART_BYTES: usize = 0xff_ffff;
/// Least space offered to a receive.
const RECEIVE_BYTES: usize = 16 << 10;
/// A server that does not greet for so long is down.
const GREETING_MAX: Duration = Duration::from_secs(30);

const WANTED: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);

trait Socket: Read + Write + AsFd + Send {}
impl<T: Read + Write + AsFd + Send> Socket for T {}

/// A connection to a server.
pub(super) struct Link {
    socket: Box<dyn Socket>,
    /// A result set's columns and rows end without EOF packets of their own.
    pub(super) deprecates_eof: bool,
    /// The command being built, then sent.
    out: Vec<u8>,
    /// Its first `arrived` bytes are what has arrived of the answer.
    inbox: Vec<u8>,
    arrived: usize,
}

impl Link {
    /// Logs in and chooses a database.
    ///
    /// # Errors  The server's word, or why it cannot be reached.
    pub(super) fn connect(server: &Address, database: &str) -> Outcome<Link> {
        let (socket, out, inbox) = (socket(server)?, Vec::new(), vec![0; RECEIVE_BYTES]);
        let mut link = Link { socket, deprecates_eof: false, out, inbox, arrived: 0 };
        let greeting = link.packet()?;
        link.log_in(server, database, &greeting)?;
        rustix::io::ioctl_fionbio(link.socket.as_fd(), true).map_err(io::Error::from)?;
        Ok(link)
    }

    /// Returns another descriptor of the socket.
    pub(super) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.socket.as_fd().try_clone_to_owned()
    }

    fn log_in(&mut self, server: &Address, database: &str, greeting: &[u8]) -> Outcome<()> {
        let greeting = HandshakePacket::deserialize((), &mut ParseBuf(greeting))?;
        let offered = greeting.capabilities();
        self.deprecates_eof = offered.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        let plugin = greeting.auth_plugin().unwrap_or(AuthPlugin::MysqlNativePassword);
        let secret = plugin.gen_data(Some(&server.password), &greeting.nonce());
        let response = HandshakeResponse::new(
            secret.as_deref(),
            greeting.server_version_parsed().unwrap_or((8, 0, 0)),
            Some(server.user.as_bytes()),
            Some(database.as_bytes()),
            Some(plugin.clone()),
            WANTED & offered,
            None,
            1 << 30,
        );
        let mut body = Vec::new();
        response.serialize(&mut body);
        self.send_packet(1, &body)?;
        loop {
            let (number, packet) = self.numbered_packet()?;
            match packet.as_slice() {
                [0, ..] => return Ok(()),
                // The password was known from an earlier login: OK follows.
                [1, 3] => {}
                [0xff, ..] => return Err(Failure::of_error_packet(&packet)),
                [0xfe, request @ ..] => {
                    let (name, nonce) = request.split_at(request.iter().position(|&b| b == 0).unwrap_or(0));
                    let secret = AuthPlugin::from_bytes(name)
                        .gen_data(Some(&server.password), nonce.get(1..21).unwrap_or_default());
                    self.send_packet(number.wrapping_add(1), secret.as_deref().unwrap_or_default())?;
                }
                _ => {
                    return Err(Failure::Protocol("the server wants a login that this client does not know"));
                }
            }
        }
    }

    fn send_packet(&mut self, number: u8, body: &[u8]) -> io::Result<()> {
        let mut packet = (body.len() as u32).to_le_bytes().to_vec();
        packet[3] = number;
        packet.extend_from_slice(body);
        self.socket.write_all(&packet)
    }

    fn packet(&mut self) -> io::Result<Vec<u8>> {
        self.numbered_packet().map(|(_, body)| body)
    }

    /// Waits for a packet. The socket must not be in non-blocking mode.
    fn numbered_packet(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut header = [0; HEADER_BYTES];
        self.socket.read_exact(&mut header)?;
        let [a, b, c, number] = header;
        let mut body = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
        self.socket.read_exact(&mut body)?;
        Ok((number, body))
    }

    /// Begins a command of this code; what follows is appended to the buffer returned.
    pub(super) fn begin(&mut self, code: u8) -> &mut Vec<u8> {
        self.out.clear();
        self.out.extend_from_slice(&[0, 0, 0, 0, code]);
        &mut self.out
    }

    /// Sends the command that was begun and returns the bytes of its whole answer.
    pub(super) async fn exchange(&mut self, request: Request) -> Outcome<&[u8]> {
        self.send()?;
        let mut is_first = true;
        poll_fn(|_| {
            // The answer to what was sent this instant is never there yet: trying would cost a system call.
            if std::mem::take(&mut is_first) {
                return Poll::Pending;
            }
            self.receive(request)
        })
        .await?;
        Ok(&self.inbox[..self.arrived])
    }

    fn send(&mut self) -> Outcome<()> {
        let length = self.out.len() - HEADER_BYTES;
        if length >= PART_BYTES {
            return Err(Failure::Protocol("the command is too long"));
        }
        self.out[..3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
        self.arrived = 0;
        let mut rest = &self.out[..];
        while !rest.is_empty() {
            match self.socket.write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    poll(&mut [PollFd::new(&self.socket.as_fd(), PollFlags::OUT)], None)
                        .map_err(io::Error::from)?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    /// Receives until nothing is left in the socket; ready once the last of the answer has come.
    fn receive(&mut self, request: Request) -> Poll<Outcome<()>> {
        loop {
            if self.inbox.len() < self.arrived + RECEIVE_BYTES {
                self.inbox.resize(self.inbox.len() * 2, 0);
            }
            match self.socket.read(&mut self.inbox[self.arrived..]) {
                Ok(0) => return Poll::Ready(Err(Failure::Protocol("the server has closed the connection"))),
                Ok(received) => {
                    self.arrived += received;
                    let answer = &self.inbox[..self.arrived];
                    if answer::is_complete(answer, request, self.deprecates_eof) {
                        return Poll::Ready(Ok(()));
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Poll::Ready(Err(e.into())),
            }
        }
    }
}

fn socket(server: &Address) -> io::Result<Box<dyn Socket>> {
    if let Some(path) = &server.socket {
        let socket = UnixStream::connect(path)?;
        socket.set_read_timeout(Some(GREETING_MAX))?;
        return Ok(Box::new(socket));
    }
    let socket = TcpStream::connect((server.host.as_str(), server.port))?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(GREETING_MAX))?;
    Ok(Box::new(socket))
}
