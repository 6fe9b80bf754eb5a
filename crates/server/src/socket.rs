//! A connection's socket: receives of packets and sends of answers, counted.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use base::sync::interrupt;
use wire::{OutBuffer, PacketReader};

use crate::compression::CompressedStream;
use crate::status::{Counters, HotCounter};
use crate::stream::Stream;

/// Why no packet could be read.
#[derive(Debug)]
pub enum ReadError {
    /// The client is gone, or the socket failed.
    Closed,
    /// Nothing came in time.
    TimedOut,
    /// A part of a packet came, and the rest may follow.
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
    pub(crate) fn left(self) -> Duration {
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

/// A connection's socket and what counts its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Socket<'a> {
    pub(crate) stream: &'a Stream,
    pub(crate) counters: &'a Counters,
}

impl Socket<'_> {
    /// Receives until `reader` has a packet.
    ///
    /// # Errors
    /// Nothing came in time, the connection is lost, or what came is no packet.
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
pub(crate) fn send(stream: &Stream, out: &mut OutBuffer, counters: &Counters) -> io::Result<()> {
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
pub(crate) fn take_frame_number(stream: &Stream, reader: &mut PacketReader) {
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
pub(crate) fn give_up(stream: &Stream, error: io::Error) -> io::Error {
    stream.shut_down();
    error
}

/// Receives what has arrived, at least one byte, and waits for it for ever.
#[inline]
pub(crate) fn receive_some(
    stream: &Stream,
    reader: &mut PacketReader,
    counters: &Counters,
) -> Result<(), ReadError> {
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
pub(crate) fn receive_within(
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
