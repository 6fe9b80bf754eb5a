//! A connection's socket with its packet reader and output buffer: one receive and one send per statement.

use std::io::{self, Read};
use std::sync::Arc;

use wire::{OutBuffer, PacketReader};

use crate::status::{Hot, Status};
use crate::stream::Stream;

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
    /// Cuts what is received into packets.
    pub reader: PacketReader,
    /// Takes what is to be sent.
    pub out: OutBuffer,
}

impl ClientIo {
    /// A connection that takes packets of at most `limit` bytes.
    pub fn new(stream: Arc<Stream>, limit: usize) -> Self {
        ClientIo { stream, reader: PacketReader::new(limit), out: OutBuffer::new() }
    }

    /// The socket.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Receives until a packet is complete; returns at once if one was received before. The packet is
    /// [`PacketReader::packet`], and what is written next answers it.
    pub fn read_packet(&mut self, status: &Status) -> Result<(), ReadError> {
        receive(&self.stream, &mut self.reader, status)?;
        self.out.set_sequence(self.reader.next_sequence());
        Ok(())
    }

    /// The parts, to be used at the same time.
    pub fn split(&mut self) -> (&Stream, &mut PacketReader, &mut OutBuffer) {
        (&self.stream, &mut self.reader, &mut self.out)
    }

    /// Sends everything written so far. After an error the connection is lost.
    pub fn send(&mut self, status: &Status) -> io::Result<()> {
        let n = self.out.pending().len();
        self.out.flush_to(&mut &*self.stream)?;
        self.reader.set_sequence(self.out.sequence());
        status.add(Hot::BytesSent, n as u64);
        Ok(())
    }

    /// Sends what is written, and drops what the client still had to say: without that the kernel would reset the
    /// connection and the client might never see the answer.
    pub fn send_and_close(&mut self, status: &Status) {
        if self.send(status).is_err() {
            return;
        }
        self.stream.shut_down_write();
        if self.stream.set_read_timeout(1).is_ok() {
            let mut waste = [0; 4096];
            for _ in 0..256 {
                if !matches!((&*self.stream).read(&mut waste), Ok(1..)) {
                    break;
                }
            }
        }
    }
}

/// Receives until `reader` has a packet.
///
/// # Errors
/// The connection is lost, or what comes is no packet.
pub fn receive(stream: &Stream, reader: &mut PacketReader, status: &Status) -> Result<(), ReadError> {
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
        status.add(Hot::BytesReceived, n as u64);
    }
    Ok(())
}
