//! LOAD DATA LOCAL: the file comes from the client, packet by packet, up to an empty one.

use std::io;

use exec::LoadSource;
use wire::PacketReader;

use crate::client_io::{ReadError, Socket};

/// The client's file.
#[derive(Debug)]
pub(super) struct ClientFile<'a> {
    socket: Socket<'a>,
    reader: &'a mut PacketReader,
    ended: bool,
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
        // A socket that is gone is noticed by the first read.
        let _ = socket.set_read_timeout(Some(timeout_s));
        ClientFile { socket, reader, ended: false }
    }

    /// Reads what is left, so that the answer meets a client that waits for it; the number of the answer's first packet.
    ///
    /// # Errors
    /// The connection is lost.
    pub(super) fn drain(&mut self) -> io::Result<u8> {
        let mut chunk = Vec::new();
        while self.next_chunk(&mut chunk)? {}
        Ok(self.reader.next_sequence())
    }
}

impl Drop for ClientFile<'_> {
    fn drop(&mut self) {
        // As in `new`: the next read notices.
        let _ = self.socket.set_read_timeout(None);
    }
}

impl LoadSource for ClientFile<'_> {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        self.socket.receive(self.reader).map_err(|error| match error {
            ReadError::TimedOut => io::Error::from(io::ErrorKind::TimedOut),
            ReadError::Closed => io::Error::from(io::ErrorKind::UnexpectedEof),
            ReadError::Malformed(error) => io::Error::new(io::ErrorKind::InvalidData, error),
        })?;
        self.reader.take_packet(chunk);
        self.ended = chunk.is_empty();
        Ok(!self.ended)
    }
}
