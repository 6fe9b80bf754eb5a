//! The client's side of a connection to a server in this process.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use server::connection;
use server::process_list::Kill;
use server::server::Server;
use server::stream::Stream;
use wire::Capabilities;

/// How long a client of an input waits for the end of its answers before it kills its connection.
pub(crate) const PATIENCE: Duration = Duration::from_millis(400);
/// How long a killed connection may take to end.
const END_AFTER_KILL: Duration = Duration::from_secs(8);
/// Longest answer that is read; a client that has seen enough hangs up.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// Packets from a client, one after another, as they are sent in one stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    bytes: Vec<u8>,
}

impl Script {
    /// A client that logs in as root, with the default database `f`.
    pub(crate) fn logged_in() -> Script {
        Script::log_in(b"f\0")
    }

    /// A client that logs in as root.
    pub(crate) fn logged_in_without_database() -> Script {
        Script::log_in(b"")
    }

    fn log_in(database: &[u8]) -> Script {
        let flags = Capabilities::OFFERED
            .with(Capabilities::CONNECT_ATTRS, false)
            .with(Capabilities::CONNECT_WITH_DB, !database.is_empty());
        let mut packet = flags.0.to_le_bytes().to_vec();
        packet.extend_from_slice(&(1u32 << 24).to_le_bytes());
        packet.push(255);
        packet.extend_from_slice(&[0; 23]);
        packet.extend_from_slice(b"root\0\0");
        packet.extend_from_slice(database);
        packet.extend_from_slice(b"caching_sha2_password\0");
        let mut script = Script::default();
        script.packet(1, &packet);
        script
    }

    /// Appends a packet with this sequence number. A body of 16 MiB or more is cut.
    pub(crate) fn packet(&mut self, sequence: u8, body: &[u8]) {
        let body = &body[..body.len().min((1 << 24) - 2)];
        self.bytes.extend_from_slice(&(body.len() as u32).to_le_bytes()[..3]);
        self.bytes.push(sequence);
        self.bytes.extend_from_slice(body);
    }

    /// Appends a command.
    pub(crate) fn command(&mut self, code: u8, args: &[u8]) {
        let mut body = Vec::with_capacity(args.len() + 1);
        body.push(code);
        body.extend_from_slice(args);
        self.packet(0, &body);
    }

    /// Appends a statement as text.
    pub(crate) fn query(&mut self, sql: &[u8]) {
        self.command(3, sql);
    }

    /// Appends bytes that need not be packets.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}

/// What a server sent until the connection ended.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// The client did not wait for the end.
    cut: bool,
}

impl Answer {
    /// The bodies of all packets.
    ///
    /// # Panics
    /// When the bytes are no packets.
    pub(crate) fn packets(&self) -> Vec<&[u8]> {
        let (mut rest, mut packets) = (&self.bytes[..], Vec::new());
        while let Some((header, body)) = rest.split_first_chunk::<4>() {
            let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let Some((body, after)) = body.split_at_checked(len) else { break };
            packets.push(body);
            rest = after;
        }
        assert!(self.cut || rest.is_empty(), "{} bytes of an incomplete packet", rest.len());
        packets
    }

    /// Whether a statement failed.
    pub(crate) fn has_error(&self) -> bool {
        self.packets().iter().any(|packet| packet.first() == Some(&0xff))
    }

    /// Rows of the one result set that a client who logged in asked for: packets beside the greeting, the OK
    /// of the login, the number of columns, a definition each, and the end.
    pub(crate) fn row_count(&self) -> usize {
        let packets = self.packets();
        let columns =
            packets.get(2).and_then(|packet| packet.first()).map_or(0, |&columns| usize::from(columns));
        packets.len().saturating_sub(4 + columns)
    }

    /// Fails when a statement of the connection panicked.
    pub(crate) fn assert_sound(&self) {
        let panicked = |packet: &&[u8]| packet.starts_with(b"\xff\x51\x04#HY000Internal error");
        assert!(!self.packets().iter().any(panicked), "a statement panicked");
    }
}

/// Sends `script` to `server` over a connection of its own and reads until the connection ends, or for
/// `timeout`, after which it is killed.
///
/// # Panics
/// When the connection does not end a while after it was killed, or its answer is malformed.
pub(crate) fn converse(server: &Arc<Server>, script: &Script, timeout: Duration) -> Answer {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let shared = Arc::clone(server);
    let serve = move || connection::serve(&shared, Stream::from(theirs));
    let thread = thread::Builder::new().stack_size(connection::STACK_BYTES).spawn(serve).expect("a thread");
    // The server may hang up before it has read everything.
    let sender = ours.try_clone().expect("a second handle");
    let bytes = script.bytes.clone();
    let sending = thread::spawn(move || {
        let _ = (&sender).write_all(&bytes);
        let _ = sender.shutdown(Shutdown::Write);
    });
    let answer = read_to_end(server, ours, timeout);
    let served = thread.join();
    assert!(served.is_ok(), "a connection's thread panicked");
    assert!(sending.join().is_ok(), "the sender panicked");
    answer.assert_sound();
    answer
}

fn read_to_end(server: &Arc<Server>, mut socket: UnixStream, timeout: Duration) -> Answer {
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let (mut answer, mut chunk) = (Answer { bytes: Vec::new(), cut: false }, vec![0; 64 << 10]);
    let (begun, mut killed_at) = (Instant::now(), None::<Instant>);
    loop {
        match socket.read(&mut chunk) {
            Ok(0) => return answer,
            Ok(n) => answer.bytes.extend_from_slice(&chunk[..n]),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return Answer { cut: true, ..answer },
        }
        if answer.bytes.len() > ANSWER_BYTES_MAX {
            return Answer { cut: true, ..answer };
        }
        if begun.elapsed() < timeout {
            continue;
        }
        answer.cut = true;
        if let Some(at) = killed_at {
            assert!(at.elapsed() < END_AFTER_KILL, "a killed connection does not end");
            continue;
        }
        killed_at = Some(Instant::now());
        server.processes.all().iter().for_each(|process| process.kill(Kill::Connection));
        server.engine.trx_system().wake_waiters();
    }
}
