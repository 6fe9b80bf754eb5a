//! A connection's socket with its packet reader and output buffer: one receive and one send per statement.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::memory::ServerAccount;
use base::sync::interrupt;
use rustls::ServerConfig;
use wire::{OutBuffer, PacketReader};

use crate::answer::Answer;
use crate::compression::{Algorithm, CompressedStream};
use crate::status::{Counters, HotCounter};
use crate::stream::Stream;

/// Longest time for which a client may still send after the server has given its connection up.
const LINGER_MAX: Duration = Duration::from_secs(10);

/// Longest silence in that time.
const LINGER_SILENCE_MAX: Duration = Duration::from_secs(1);

/// Why no packet could be read.
#[derive(Debug)]
pub enum ReadError {
    /// The client is gone, or the socket failed.
    Closed,
    /// Nothing came in time.
    TimedOut,
    /// A part of a packet came; [`ClientIo::read_rest`] reads on.
    Incomplete,
    /// The bytes received are not a packet.
    Malformed(wire::Error),
}

/// A read that KILL ends looks this often whether it has to.
const KILL_LOOK: Duration = Duration::from_millis(50);

/// How long a read may wait.
#[derive(Clone, Copy, Debug)]
pub enum ReadTimeout {
    /// So long for each piece that the client sends.
    Each(Duration),
    /// As `Each`, but no longer than until the thread's statement is killed.
    EachUnlessKilled(Duration),
    /// Until then for everything.
    Until(Instant),
}

impl ReadTimeout {
    fn left(self) -> Duration {
        match self {
            ReadTimeout::Each(timeout) | ReadTimeout::EachUnlessKilled(timeout) => timeout,
            ReadTimeout::Until(deadline) => deadline.saturating_duration_since(Instant::now()),
        }
    }

    /// Waits until something can be read from `stream`; false if that takes too long.
    fn wait(self, stream: &Stream) -> io::Result<bool> {
        let ReadTimeout::EachUnlessKilled(timeout) = self else {
            return stream.wait_readable(self.left());
        };
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if interrupt::is_requested() || left.is_zero() {
                return Ok(false);
            }
            if stream.wait_readable(left.min(KILL_LOOK))? {
                return Ok(true);
            }
        }
    }
}

/// Socket, reader and output buffer of one connection.
#[derive(Debug)]
pub struct ClientIo {
    stream: Arc<Stream>,
    counters: Arc<Counters>,
    /// When the client must have proved who it is.
    deadline: Instant,
    /// Cuts what is received into packets.
    pub reader: PacketReader,
    /// Takes what is to be sent.
    pub out: OutBuffer,
}

impl ClientIo {
    /// A connection that takes packets of at most `packet_bytes_max` bytes and counts what it receives and
    /// sends.
    pub fn new(stream: Arc<Stream>, counters: Arc<Counters>, packet_bytes_max: usize) -> Self {
        let (reader, out) = (PacketReader::new(packet_bytes_max), OutBuffer::new());
        ClientIo { stream, counters, deadline: Instant::now(), reader, out }
    }

    /// The socket.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Gives the client `timeout` to prove who it is: all of [`ClientIo::read_packet`] until then ends in
    /// this time.
    pub(crate) fn begin_handshake(&mut self, timeout: Duration) {
        self.deadline = Instant::now() + timeout;
    }

    /// Begins TLS, which may take as long as the handshake. What the client has sent after its wish is the
    /// first part of it.
    ///
    /// # Errors
    /// The connection is lost.
    #[cold]
    pub(crate) fn begin_tls(&mut self, config: &Arc<ServerConfig>) -> io::Result<()> {
        let early = self.reader.take_unread();
        self.stream.begin_tls(config, &early, self.deadline)
    }

    /// Compresses what follows in both directions. What the client has sent of it already are its first
    /// frames, or a part of them. Frames are charged to `memory`.
    #[cold]
    pub(crate) fn begin_compression(&mut self, algorithm: Algorithm, memory: &Arc<ServerAccount>) {
        let early = self.reader.take_unread();
        self.reader.ignore_numbers();
        self.stream.begin_compression(algorithm, early, Arc::clone(memory));
    }

    /// Receives a packet of a handshake. The packet is [`PacketReader::packet`], and what is written next
    /// answers it.
    ///
    /// # Errors
    /// The time for the handshake is over, the connection is lost, or what comes is no packet.
    pub fn read_packet(&mut self) -> Result<(), ReadError> {
        self.read_with(ReadTimeout::Until(self.deadline))
    }

    /// Receives a command, for which the client has any time; returns at once if one was received before. As
    /// [`ClientIo::read_packet`] otherwise.
    ///
    /// # Errors
    /// [`ReadError::Incomplete`] if less than a packet came with the first bytes; else as
    /// [`ClientIo::read_packet`].
    #[inline]
    pub(crate) fn read_command(&mut self) -> Result<(), ReadError> {
        if self.reader.is_drained() {
            receive_some(&self.stream, &mut self.reader, &self.counters)?;
            if !self.reader.advance_to_only() {
                self.find_command(true)?;
            }
        } else {
            self.find_command(false)?;
        }
        self.out.begin_answer(self.reader.next_sequence());
        Ok(())
    }

    /// Moves to a command that was received, after one receive at most. `has_received`: that has been.
    #[inline(never)]
    fn find_command(&mut self, mut has_received: bool) -> Result<(), ReadError> {
        while !self.reader.advance().map_err(ReadError::Malformed)? {
            if has_received {
                return Err(ReadError::Incomplete);
            }
            receive_some(&self.stream, &mut self.reader, &self.counters)?;
            has_received = true;
        }
        if has_received {
            take_frame_number(&self.stream, &mut self.reader);
        }
        Ok(())
    }

    /// Receives what is left of a command. The client has `timeout` for each piece of it.
    ///
    /// # Errors
    /// As [`ClientIo::read_packet`].
    #[cold]
    pub(crate) fn read_rest(&mut self, timeout: Duration) -> Result<(), ReadError> {
        self.read_with(ReadTimeout::Each(timeout))
    }

    #[cold]
    fn read_with(&mut self, timeout: ReadTimeout) -> Result<(), ReadError> {
        receive_within(&self.stream, &mut self.reader, &self.counters, timeout)?;
        take_frame_number(&self.stream, &mut self.reader);
        self.out.begin_answer(self.reader.next_sequence());
        Ok(())
    }

    /// Where a text statement's answer goes.
    pub fn answer(&mut self, more_results: bool) -> Answer<'_> {
        let socket = Socket { stream: &self.stream, counters: &self.counters };
        let reader = Some(&mut self.reader);
        Answer { out: &mut self.out, socket, reader, more_results, binary: false }
    }

    /// The packet of the command, and where its answer goes.
    #[inline]
    pub(crate) fn packet_and_answer(&mut self, binary: bool) -> (&[u8], Answer<'_>) {
        let socket = Socket { stream: &self.stream, counters: &self.counters };
        let answer = Answer { out: &mut self.out, socket, reader: None, more_results: false, binary };
        (self.reader.packet(), answer)
    }

    /// Sends everything written so far. After an error the connection is lost.
    #[inline]
    pub fn send(&mut self) -> io::Result<()> {
        match send(&self.stream, &mut self.out, &self.counters) {
            Ok(()) => {
                self.reader.set_sequence(self.out.sequence());
                Ok(())
            }
            Err(error) => Err(give_up(&self.stream, error)),
        }
    }

    /// Sends what is written, and drops what the client still had to say: without that the kernel would reset
    /// the connection and the client might never see the answer.
    pub(crate) fn send_and_close(&mut self) {
        self.send_and_linger(LINGER_MAX);
    }

    /// As [`ClientIo::send_and_close`] for a client that is not let in: its time is that of its handshake.
    pub(crate) fn send_refusal(&mut self) {
        self.send_and_linger(ReadTimeout::Until(self.deadline).left().min(LINGER_SILENCE_MAX));
    }

    fn send_and_linger(&mut self, longest: Duration) {
        if self.send().is_err() {
            return;
        }
        self.stream.shut_down_write();
        let (mut waste, until) = ([0; 16 << 10], Instant::now() + longest);
        loop {
            match self.stream.raw(false).read(&mut waste) {
                Ok(1..) if Instant::now() < until + LINGER_SILENCE_MAX => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    let silence = ReadTimeout::Until(until).left().min(LINGER_SILENCE_MAX);
                    if silence.is_zero() || !self.stream.wait_readable(silence).unwrap_or(false) {
                        return;
                    }
                }
                Ok(_) | Err(_) => return,
            }
        }
    }
}

/// A connection's socket and what counts its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Socket<'a> {
    stream: &'a Stream,
    counters: &'a Counters,
}

impl Socket<'_> {
    /// Receives until `reader` has a packet.
    ///
    /// # Errors
    /// As [`ClientIo::read_packet`].
    pub fn receive(self, reader: &mut PacketReader, timeout: ReadTimeout) -> Result<(), ReadError> {
        receive_within(self.stream, reader, self.counters, timeout)
    }

    /// The number of the packet that answers what `reader` has read.
    pub(crate) fn answer_number(self, reader: &mut PacketReader) -> u8 {
        take_frame_number(self.stream, reader);
        reader.next_sequence()
    }

    /// Sends what is in the buffer.
    pub fn send(self, out: &mut OutBuffer) -> io::Result<()> {
        send(self.stream, out, self.counters).map_err(|error| give_up(self.stream, error))
    }
}

#[inline(never)]
fn send(stream: &Stream, out: &mut OutBuffer, counters: &Counters) -> io::Result<()> {
    if stream.is_layered() {
        return send_layered(stream, out, counters);
    }
    counters.add(HotCounter::BytesSent, out.pending().len() as u64);
    out.flush_to(&mut stream.plain())
}

#[cold]
#[inline(never)]
fn send_layered(stream: &Stream, out: &mut OutBuffer, counters: &Counters) -> io::Result<()> {
    let packets = out.pending().len() as u64;
    let sent = out.flush_to(&mut stream.layered());
    count_bytes(stream, counters, (0, packets));
    sent
}

/// Counts bytes received and sent: those of packets, or those of frames if the connection is compressed.
fn count_bytes(stream: &Stream, counters: &Counters, packets: (u64, u64)) {
    let (received, sent) = stream.compression().map_or(packets, CompressedStream::take_counts);
    counters.add(HotCounter::BytesReceived, received);
    counters.add(HotCounter::BytesSent, sent);
}

/// An answer to packets in frames carries the number that follows that of the last frame, as clients expect.
fn take_frame_number(stream: &Stream, reader: &mut PacketReader) {
    if let Some(compression) = stream.compression() {
        reader.set_sequence(compression.next_number());
    }
}

/// The error of a failed read.
#[cold]
fn read_error(error: &io::Error) -> ReadError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<wire::Error>()) {
        Some(malformed) => ReadError::Malformed(*malformed),
        // Frames have arrived in part.
        None if error.kind() == io::ErrorKind::WouldBlock => ReadError::Incomplete,
        None => ReadError::Closed,
    }
}

/// Shuts a connection that could not be written to: the answer was cut off somewhere, so nothing more can be
/// sent.
#[cold]
fn give_up(stream: &Stream, error: io::Error) -> io::Error {
    stream.shut_down();
    error
}

/// Receives what has arrived, at least one byte, and waits for it for ever.
#[inline]
fn receive_some(stream: &Stream, reader: &mut PacketReader, counters: &Counters) -> Result<(), ReadError> {
    if stream.is_layered() {
        return receive_layered(stream, reader, counters);
    }
    loop {
        match stream.plain().read(reader.space()) {
            Ok(0) => return Err(ReadError::Closed),
            Ok(n) => {
                reader.filled(n);
                counters.add(HotCounter::BytesReceived, n as u64);
                return Ok(());
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(ReadError::Closed),
        }
    }
}

/// [`receive_some`] through TLS or compression.
#[cold]
#[inline(never)]
fn receive_layered(stream: &Stream, reader: &mut PacketReader, counters: &Counters) -> Result<(), ReadError> {
    if let Some(compression) = stream.compression()
        && reader.is_drained()
    {
        compression.begin_command();
    }
    loop {
        let read = stream.read_layered(true, reader.space());
        count_bytes(stream, counters, (*read.as_ref().unwrap_or(&0) as u64, 0));
        match read {
            Ok(0) => return Err(ReadError::Closed),
            Ok(n) => {
                reader.filled(n);
                return Ok(());
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(read_error(&e)),
        }
    }
}

/// Receives what has arrived; how many bytes of packets it was.
fn receive_arrived(stream: &Stream, reader: &mut PacketReader, counters: &Counters) -> io::Result<usize> {
    let received = if stream.is_layered() {
        let read = stream.read_layered(false, reader.space());
        count_bytes(stream, counters, (*read.as_ref().unwrap_or(&0) as u64, 0));
        read?
    } else {
        let read = stream.raw(false).read(reader.space())?;
        counters.add(HotCounter::BytesReceived, read as u64);
        read
    };
    reader.filled(received);
    Ok(received)
}

/// Receives until `reader` has a packet. A client that has sent already what is read costs one system call,
/// as if it had any time.
fn receive_within(
    stream: &Stream,
    reader: &mut PacketReader,
    counters: &Counters,
    timeout: ReadTimeout,
) -> Result<(), ReadError> {
    // A client that sends fast enough is never waited for.
    if timeout.left().is_zero() {
        return Err(ReadError::TimedOut);
    }
    while !reader.advance().map_err(ReadError::Malformed)? {
        match receive_arrived(stream, reader, counters) {
            Ok(0) => return Err(ReadError::Closed),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                if !timeout.wait(stream).map_err(|_| ReadError::Closed)? {
                    return Err(ReadError::TimedOut);
                }
            }
            Err(e) => return Err(read_error(&e)),
        }
    }
    Ok(())
}
