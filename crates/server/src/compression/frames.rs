//! The layer between a connection's packets and its socket: bytes go through it in frames.
//!
//! A connection holds [`INPUT_BYTES`] for its life, a decoder while a frame arrives, and an encoder and a
//! frame while an answer is sent. docs/limits.md has their sizes. All but the first are charged to the
//! server.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use base::memory::ServerAccount;
use parking_lot::Mutex;
use wire::Error;
use wire::frame::{COMPRESSED_BYTES_MIN, FRAME_HEADER_BYTES, FrameHeader};

use super::Algorithm;
use super::codec::{Decoder, Encoder};
use super::held::Held;

/// Bytes received at a time.
const INPUT_BYTES: usize = 16 << 10;
/// Most bytes of the packet stream in a frame. Connector/Python, in pure Python, reads no packet that spans
/// more than two frames: whole answers go into one.
const CONTENT_BYTES_MAX: usize = (1 << 24) - 1;

/// A connection whose packets are compressed. The lock is for the connection's own thread alone: KILL closes
/// the socket.
#[derive(Debug)]
pub(crate) struct CompressedStream {
    algorithm: Algorithm,
    frames: Mutex<Frames>,
}

impl CompressedStream {
    /// A connection that has agreed on `algorithm`. `early`: what the client has sent of its first frames.
    /// Frames are charged to `memory`.
    pub(crate) fn new(algorithm: Algorithm, mut early: Vec<u8>, memory: Arc<ServerAccount>) -> Self {
        let end = early.len();
        early.resize(end.max(INPUT_BYTES), 0);
        let (input, open) = (early, None);
        let frames = Frames { algorithm, memory, input, start: 0, end, open, next: 0, received: 0, sent: 0 };
        CompressedStream { algorithm, frames: Mutex::new(frames) }
    }

    /// The compression algorithm of the packets.
    pub(crate) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Numbers frames from 0 again: a command begins.
    pub(crate) fn begin_command(&self) {
        self.frames.lock().next = 0;
    }

    /// The number of the next frame.
    pub(crate) fn next_number(&self) -> u8 {
        self.frames.lock().next
    }

    /// Bytes received from and sent to the socket since the last call.
    pub(crate) fn take_counts(&self) -> (u64, u64) {
        let mut frames = self.frames.lock();
        (std::mem::take(&mut frames.received), std::mem::take(&mut frames.sent))
    }

    /// Reads from `socket` what the client has sent, decompressed, at least one byte; 0: it sends no more.
    /// Returns the last byte of a frame only if the whole frame is as its header declares.
    ///
    /// # Errors
    /// Those of the socket; a [`wire::Error`] inside for frames that are corrupt or out of order, and
    /// `OutOfMemory` beyond the server's limit, after which the connection is lost.
    pub(crate) fn read(&self, socket: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
        self.frames.lock().read(socket, out)
    }

    /// Compresses `bytes` and sends all of them to `socket`.
    ///
    /// # Errors
    /// Those of the socket, and `OutOfMemory`; the connection is lost then.
    pub(crate) fn write_all(&self, socket: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        self.frames.lock().write_all(socket, bytes)
    }
}

/// Frames in both directions.
struct Frames {
    algorithm: Algorithm,
    memory: Arc<ServerAccount>,
    /// The bytes received, from `start` to `end`.
    input: Vec<u8>,
    start: usize,
    end: usize,
    open: Option<OpenFrame>,
    next: u8,
    received: u64,
    sent: u64,
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames").field("next", &self.next).finish_non_exhaustive()
    }
}

/// A frame whose header was read.
struct OpenFrame {
    /// Bytes of the body that were not used yet.
    body: usize,
    /// Bytes of the content that were not returned yet.
    content: usize,
    /// `None`: the body is the content.
    decoder: Option<(Decoder, Held)>,
}

impl Frames {
    fn read(&mut self, socket: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.open.is_none() {
                self.open_frame()?;
            }
            if let Some(frame) = &mut self.open {
                let received = self.input.get(self.start..self.end).unwrap_or_default();
                let here = received.get(..frame.body).unwrap_or(received);
                let (used, made) = frame.step(here, out)?;
                self.start += used;
                if frame.content == 0 {
                    self.open = None;
                }
                if made > 0 {
                    return Ok(made);
                }
            }
            if self.receive(socket)? == 0 {
                return Ok(0);
            }
        }
    }

    /// Reads the next frame's header, if it has arrived.
    fn open_frame(&mut self) -> io::Result<()> {
        let received = self.input.get(self.start..self.end).unwrap_or_default();
        let Some(header) = received.first_chunk::<FRAME_HEADER_BYTES>() else { return Ok(()) };
        let header = FrameHeader::decode(*header);
        if header.sequence != self.next {
            return Err(io::Error::other(Error::OutOfOrder { expected: self.next, got: header.sequence }));
        }
        // MySQL accepts a frame without content, but no client has a reason to send one.
        if header.body == 0 {
            return Err(corrupt());
        }
        self.start += FRAME_HEADER_BYTES;
        self.next = self.next.wrapping_add(1);
        let decoder = if header.decompressed == 0 {
            None
        } else {
            let held = Held::new(&self.memory, Decoder::bytes_max(self.algorithm))?;
            Some((Decoder::new(self.algorithm)?, held))
        };
        self.open =
            Some(OpenFrame { body: header.body as usize, content: header.content() as usize, decoder });
        Ok(())
    }

    /// Receives something more; 0: the client sends no more.
    fn receive(&mut self, socket: &mut impl Read) -> io::Result<usize> {
        self.input.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let room = self.input.get_mut(self.end..).unwrap_or_default();
        if room.is_empty() {
            // All of the input follows the content of a frame.
            return Err(corrupt());
        }
        let received = socket.read(room)?;
        self.end += received;
        self.received += received as u64;
        Ok(received)
    }

    fn write_all(&mut self, socket: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        let frame_bytes = bytes.len().min(CONTENT_BYTES_MAX) + FRAME_HEADER_BYTES;
        let encoder_bytes =
            if bytes.len() < COMPRESSED_BYTES_MIN { 0 } else { Encoder::bytes_max(self.algorithm) };
        let _held = Held::new(&self.memory, frame_bytes as u64 + encoder_bytes)?;
        let (mut encoder, mut frame) = (None, Vec::new());
        for content in bytes.chunks(CONTENT_BYTES_MAX) {
            self.encode(&mut encoder, content, &mut frame)?;
            self.sent += frame.len() as u64;
            socket.write_all(&frame)?;
        }
        Ok(())
    }

    /// Replaces `frame` by the next frame, which holds `content`.
    fn encode(
        &mut self,
        encoder: &mut Option<Encoder>,
        content: &[u8],
        frame: &mut Vec<u8>,
    ) -> io::Result<()> {
        frame.resize(FRAME_HEADER_BYTES + content.len(), 0);
        let (header, body) = frame.split_at_mut(FRAME_HEADER_BYTES);
        let compressed = if content.len() < COMPRESSED_BYTES_MIN {
            None
        } else {
            let encoder = match encoder {
                Some(encoder) => encoder,
                none => none.insert(Encoder::new(self.algorithm)?),
            };
            encoder.compress(content, body).filter(|&len| len < content.len())
        };
        if compressed.is_none() {
            body.copy_from_slice(content);
        }
        let len = compressed.unwrap_or(content.len());
        let decompressed = compressed.map_or(0, |_| content.len() as u32);
        let head = FrameHeader { body: len as u32, sequence: self.next, decompressed };
        header.copy_from_slice(&head.encode());
        frame.truncate(FRAME_HEADER_BYTES + len);
        self.next = self.next.wrapping_add(1);
        Ok(())
    }
}

impl OpenFrame {
    /// Moves content out of `here`, a part of the body, to `out`. Returns the bytes used and the bytes made.
    fn step(&mut self, here: &[u8], out: &mut [u8]) -> io::Result<(usize, usize)> {
        let is_rest = here.len() == self.body;
        // The last byte waits for the end of the body, so that no caller acts on a corrupt frame.
        let most = if is_rest || self.decoder.is_none() { self.content } else { self.content - 1 };
        let room = out.len().min(most);
        let out = out.get_mut(..room).unwrap_or_default();
        if out.is_empty() {
            return Ok((0, 0));
        }
        let Some((decoder, _)) = &mut self.decoder else {
            let moved = here.len().min(out.len());
            out[..moved].copy_from_slice(&here[..moved]);
            (self.body, self.content) = (self.body - moved, self.content - moved);
            return Ok((moved, moved));
        };
        let mut progress = decoder.step(here, out).map_err(|_| corrupt())?;
        (self.body, self.content) = (self.body - progress.used, self.content - progress.made);
        if self.content == 0 && !progress.ended {
            let rest = here.get(progress.used..).unwrap_or_default();
            let end = decoder.step(rest, &mut []).map_err(|_| corrupt())?;
            self.body -= end.used;
            progress.used += end.used;
            progress.ended = end.ended;
        }
        let is_stuck = is_rest && progress.made == 0;
        if progress.ended != (self.content == 0) || progress.ended && self.body > 0 || is_stuck {
            return Err(corrupt());
        }
        Ok((progress.used, progress.made))
    }
}

#[cold]
fn corrupt() -> io::Error {
    io::Error::other(Error::CorruptFrame)
}

#[cfg(test)]
mod tests;
