//! LOAD DATA LOCAL: the file comes from the client, packet by packet, up to an empty one.

use std::io;
use std::time::Duration;

use base::sync::interrupt;
use exec::LoadSource;
use wire::PacketReader;

use crate::socket::{ReadError, ReadTimeout, Socket};

/// The client's file.
#[derive(Debug)]
pub(super) struct ClientFile<'a> {
    socket: Socket<'a>,
    reader: &'a mut PacketReader,
    timeout: Duration,
    ended: bool,
    /// Received data is dropped: KILL does not end that.
    drains: bool,
    /// Why no more can be read.
    failed: Option<io::ErrorKind>,
}

impl<'a> ClientFile<'a> {
    /// The file that the client has been asked for. Its first packet follows number `last` of the request.
    /// It may let the server wait for `timeout_s` seconds (`net_read_timeout`) at a time.
    pub(super) fn new(
        socket: Socket<'a>,
        reader: &'a mut PacketReader,
        next_sequence: u8,
        timeout_s: u64,
    ) -> Self {
        reader.set_sequence(next_sequence);
        ClientFile {
            socket,
            reader,
            timeout: Duration::from_secs(timeout_s),
            ended: false,
            drains: false,
            failed: None,
        }
    }

    /// Reads what is left, so that the answer meets a client that waits for it; the number of the answer's
    /// first packet.
    ///
    /// # Errors
    /// The connection is lost.
    pub(super) fn drain(&mut self) -> io::Result<u8> {
        self.drains = true;
        let mut chunk = Vec::new();
        while self.next_chunk(&mut chunk)? {}
        Ok(self.socket.answer_number(self.reader))
    }
}

impl LoadSource for ClientFile<'_> {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if let Some(kind) = self.failed {
            return Err(kind.into());
        }
        let timeout = if self.drains {
            ReadTimeout::Each(self.timeout)
        } else {
            ReadTimeout::EachUnlessKilled(self.timeout)
        };
        let received = self.socket.receive(self.reader, timeout);
        if !self.drains && matches!(received, Ok(()) | Err(ReadError::TimedOut)) && interrupt::is_requested()
        {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if let Err(error) = received {
            let kind = match error {
                ReadError::TimedOut => io::ErrorKind::TimedOut,
                ReadError::Closed | ReadError::Incomplete => io::ErrorKind::UnexpectedEof,
                ReadError::Malformed(_) => io::ErrorKind::InvalidData,
            };
            self.failed = Some(kind);
            return Err(kind.into());
        }
        self.reader.take_packet(chunk);
        self.ended = chunk.is_empty();
        Ok(!self.ended)
    }
}
