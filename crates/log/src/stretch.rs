//! Stretches: frames that follow each other in the log and check, in one piece of memory.

use base::Lsn;
use base::codec::get_u32;

use crate::error::Result;
use crate::frame::{FRAME_HEADER_BYTES, FrameHeader, is_whole, stated_len};
use crate::part::{Part, Parts, as_synced_up_to};
use crate::position::FrameRange;

/// A frame that checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where it lies.
    pub range: FrameRange,
    /// Its parts, encoded.
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The parts in order.
    ///
    /// # Errors
    /// [`crate::Error::UnknownPart`], after which nothing follows.
    pub fn parts(&self) -> impl Iterator<Item = Result<Part<'a>>> + use<'a> {
        let start = self.range.start;
        Parts::of(self.payload)
            .map(move |part| part.map_err(|unknown| crate::Error::UnknownPart(start, unknown.kind)))
    }
}

/// Frames that follow each other and check.
#[derive(Debug, Default)]
pub struct Stretch {
    start: Lsn,
    /// The frames are the first `len` bytes.
    bytes: Vec<u8>,
    len: usize,
}

impl Stretch {
    /// The frames in the first `len` bytes, which have been checked.
    pub(crate) fn new(start: Lsn, bytes: Vec<u8>, len: usize) -> Self {
        Stretch { start, bytes, len }
    }

    /// Where the first frame begins.
    pub fn start(&self) -> Lsn {
        self.start
    }

    /// Where the last frame ends.
    pub fn end(&self) -> Lsn {
        Lsn(self.start.0 + self.len as u64)
    }

    /// The frames' bytes, headers included.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The frames in order. Nothing is checked again.
    pub fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let frame = self.frame_at(at)?;
            at += (frame.range.end.0 - frame.range.start.0) as usize;
            Some(frame)
        })
    }

    /// The frame that begins this number of bytes after the stretch's start; `None` at the end.
    pub(crate) fn frame_at(&self, at: usize) -> Option<Frame<'_>> {
        let rest = self.bytes().get(at..).filter(|rest| !rest.is_empty())?;
        let header = FRAME_HEADER_BYTES as usize;
        let payload = rest.get(header..header + get_u32(rest, 0) as usize)?;
        let start = Lsn(self.start.0 + at as u64);
        let end = Lsn(start.0 + (header + payload.len()) as u64);
        Some(Frame { range: FrameRange { start, end }, payload })
    }

    /// The memory, to be used for another stretch.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// What the bytes at some position of the log begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramePrefix {
    /// A frame that checks, and its length in bytes.
    Whole(usize),
    /// More bytes are needed: this number in all.
    Cut(usize),
    /// No frame.
    Nothing,
}

impl FramePrefix {
    /// Looks at `bytes`, which lie at `lsn`. `durable` is raised to what the frame proves.
    pub(crate) fn of(bytes: &[u8], lsn: Lsn, durable: &mut Lsn) -> FramePrefix {
        const HEADER: usize = FRAME_HEADER_BYTES as usize;
        let Some(header) = bytes.first_chunk::<HEADER>() else { return FramePrefix::Cut(HEADER) };
        let header: &FrameHeader = header;
        let Some(len) = stated_len(header) else { return FramePrefix::Nothing };
        let frame = HEADER + len as usize;
        let Some(payload) = bytes.get(HEADER..frame) else { return FramePrefix::Cut(frame) };
        if !is_whole(header, lsn, payload) {
            return FramePrefix::Nothing;
        }
        if let Some(synced) = as_synced_up_to(payload) {
            *durable = (*durable).max(synced);
        }
        FramePrefix::Whole(frame)
    }
}
