//! A connection's socket with its packet reader and output buffer: one receive and one send per statement.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wire::{OutBuffer, PacketReader};

use crate::answer::Answer;
use crate::status::{Counters, Hot};
use crate::stream::Stream;

/// How long a client may go on talking after its connection was given up.
const LISTENING: Duration = Duration::from_secs(10);

/// Why no packet could be read.
#[derive(Debug)]
pub enum ReadError {
    /// The client is gone, or the socket failed.
    Closed,
    /// Nothing came in time.
    TimedOut,
    /// What came is no packet.
    Malformed(wire::Error),
}

/// Socket, reader and output buffer of one connection.
#[derive(Debug)]
pub struct ClientIo {
    stream: Arc<Stream>,
    counters: Arc<Counters>,
    /// Cuts what is received into packets.
    pub reader: PacketReader,
    /// Takes what is to be sent.
    pub out: OutBuffer,
}

impl ClientIo {
    /// A connection that takes packets of at most `limit` bytes and counts what it receives and sends.
    pub fn new(stream: Arc<Stream>, counters: Arc<Counters>, limit: usize) -> Self {
        ClientIo { stream, counters, reader: PacketReader::new(limit), out: OutBuffer::new() }
    }

    /// The socket.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Receives until a packet is complete; returns at once if one was received before. The packet is
    /// [`PacketReader::packet`], and what is written next answers it.
    #[inline]
    pub fn read_packet(&mut self) -> Result<(), ReadError> {
        receive(&self.stream, &mut self.reader, &self.counters)?;
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
    pub fn packet_and_answer(&mut self, binary: bool) -> (&[u8], Answer<'_>) {
        let socket = Socket { stream: &self.stream, counters: &self.counters };
        let answer = Answer { out: &mut self.out, socket, reader: None, more_results: false, binary };
        (self.reader.packet(), answer)
    }

    /// Sends everything written so far. After an error the connection is lost.
    #[inline]
    pub fn send(&mut self) -> io::Result<()> {
        send(&self.stream, &mut self.out, &self.counters)?;
        self.reader.set_sequence(self.out.sequence());
        Ok(())
    }

    /// Sends what is written, and drops what the client still had to say: without that the kernel would reset the
    /// connection and the client might never see the answer.
    pub fn send_and_close(&mut self) {
        if self.send().is_err() {
            return;
        }
        self.stream.shut_down_write();
        if self.stream.set_read_timeout(Some(1)).is_ok() {
            let (mut waste, until) = ([0; 16 << 10], Instant::now() + LISTENING);
            while matches!((&*self.stream).read(&mut waste), Ok(1..)) && Instant::now() < until {}
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
    /// As [`Stream::set_read_timeout`].
    pub fn set_read_timeout(self, seconds: Option<u64>) -> io::Result<()> {
        self.stream.set_read_timeout(seconds)
    }

    /// As [`receive`].
    ///
    /// # Errors
    /// The connection is lost, or what comes is no packet.
    pub fn receive(self, reader: &mut PacketReader) -> Result<(), ReadError> {
        receive(self.stream, reader, self.counters)
    }

    /// Sends what is in the buffer.
    pub fn send(self, out: &mut OutBuffer) -> io::Result<()> {
        send(self.stream, out, self.counters)
    }
}

#[inline]
fn send(stream: &Stream, out: &mut OutBuffer, counters: &Counters) -> io::Result<()> {
    counters.add(Hot::BytesSent, out.pending().len() as u64);
    out.flush_to(&mut &*stream)
}

/// Receives until `reader` has a packet.
///
/// # Errors
/// The connection is lost, or what comes is no packet.
#[inline]
fn receive(stream: &Stream, reader: &mut PacketReader, counters: &Counters) -> Result<(), ReadError> {
    while !reader.advance().map_err(ReadError::Malformed)? {
        let n = loop {
            match (&*stream).read(reader.space()) {
                Ok(0) => return Err(ReadError::Closed),
                Ok(n) => break n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Err(ReadError::TimedOut);
                }
                Err(_) => return Err(ReadError::Closed),
            }
        };
        reader.filled(n);
        counters.add(Hot::BytesReceived, n as u64);
    }
    Ok(())
}
