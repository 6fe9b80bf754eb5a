//! A connection's socket with its packet reader and output buffer: one receive and one send per statement.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::memory::ServerAccount;
use rustls::ServerConfig;
use wire::{OutBuffer, PacketReader};

use crate::answer::Answer;
use crate::compression::Algorithm;
use crate::socket::{
    ReadError, ReadTimeout, Socket, give_up, receive_some, receive_within, send, take_frame_number,
};
use crate::status::Counters;
use crate::stream::Stream;

/// Longest time for which a client may still send after the server has given its connection up.
const LINGER_MAX: Duration = Duration::from_secs(10);

/// Longest silence in that time.
const LINGER_SILENCE_MAX: Duration = Duration::from_secs(1);

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
