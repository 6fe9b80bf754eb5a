//! zlib and zstd behind one interface: frames' bodies are compressed whole and decompressed piece by piece.

use std::io;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use zstd::bulk::Compressor;
use zstd::stream::raw::{Decoder as ZstdDecoder, InBuffer, Operation as _, OutBuffer};
use zstd::zstd_safe::{CParameter, DParameter};

use super::Algorithm;

/// zstd's window for what the server sends, as a power of two: its tables follow the window.
const ENCODER_WINDOW_LOG: u32 = 17;

/// Compresses bodies one after the other.
pub(super) enum Encoder {
    Zlib(Compress),
    Zstd(Compressor<'static>),
}

impl Encoder {
    /// Most bytes that an encoder takes: measured, and rounded up.
    pub(super) fn bytes_max(algorithm: Algorithm) -> u64 {
        match algorithm {
            Algorithm::Zlib => 512 << 10,
            Algorithm::Zstd(..=2) => 1 << 20,
            Algorithm::Zstd(3) => 2 << 20,
            Algorithm::Zstd(_) => 4 << 20,
        }
    }

    /// # Errors
    /// Memory is short.
    pub(super) fn new(algorithm: Algorithm) -> io::Result<Self> {
        let level = algorithm.level();
        Ok(match algorithm {
            Algorithm::Zlib => Encoder::Zlib(Compress::new(Compression::new(u32::from(level)), true)),
            Algorithm::Zstd(_) => {
                let mut encoder = Compressor::new(i32::from(level))?;
                encoder.set_parameter(CParameter::WindowLog(ENCODER_WINDOW_LOG))?;
                Encoder::Zstd(encoder)
            }
        })
    }

    /// Compresses `body` into `out`. Returns the number of bytes written; `None`: `out` is too short.
    pub(super) fn compress(&mut self, body: &[u8], out: &mut [u8]) -> Option<usize> {
        match self {
            Encoder::Zlib(zlib) => {
                zlib.reset();
                match zlib.compress(body, out, FlushCompress::Finish) {
                    Ok(Status::StreamEnd) => Some(zlib.total_out() as usize),
                    Ok(_) | Err(_) => None,
                }
            }
            Encoder::Zstd(zstd) => zstd.compress_to_buffer(body, out).ok(),
        }
    }
}

/// Result of one step of a [`Decoder`].
pub(super) struct Progress {
    /// Bytes of the input that were used up.
    pub(super) used: usize,
    /// Bytes that were written.
    pub(super) made: usize,
    /// The compressed body has ended.
    pub(super) ended: bool,
}

/// Decompresses one body.
pub(super) enum Decoder {
    Zlib(Box<Decompress>),
    Zstd(Box<ZstdDecoder<'static>>),
}

impl Decoder {
    /// Most bytes that a decoder takes.
    pub(super) fn bytes_max(algorithm: Algorithm) -> u64 {
        match algorithm {
            Algorithm::Zlib => 64 << 10,
            Algorithm::Zstd(level) => (512 << 10) + (1 << window_log_max(level)),
        }
    }

    /// # Errors
    /// Memory is short.
    pub(super) fn new(algorithm: Algorithm) -> io::Result<Self> {
        Ok(match algorithm {
            Algorithm::Zlib => Decoder::Zlib(Box::new(Decompress::new(true))),
            Algorithm::Zstd(level) => {
                let mut decoder = ZstdDecoder::new()?;
                decoder.set_parameter(DParameter::WindowLogMax(window_log_max(level)))?;
                Decoder::Zstd(Box::new(decoder))
            }
        })
    }

    /// Decompresses `input` into `out` until one of them is used up or the body ends.
    ///
    /// # Errors
    /// The input is corrupt, or needs a larger window than the level.
    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> io::Result<Progress> {
        match self {
            Decoder::Zlib(zlib) => {
                let before = (zlib.total_in(), zlib.total_out());
                let status = zlib.decompress(input, out, FlushDecompress::None)?;
                let used = (zlib.total_in() - before.0) as usize;
                let made = (zlib.total_out() - before.1) as usize;
                Ok(Progress { used, made, ended: status == Status::StreamEnd })
            }
            Decoder::Zstd(zstd) => {
                let (mut input, mut out) = (InBuffer::around(input), OutBuffer::around(out));
                let left = zstd.run(&mut input, &mut out)?;
                Ok(Progress { used: input.pos(), made: out.pos(), ended: left == 0 })
            }
        }
    }
}

/// The largest window, as a power of two, that a client of this level may ask the server to keep. It is twice
/// zstd 1.5.7's window for the level, since other versions differ, and no longer than a frame.
fn window_log_max(level: u8) -> u32 {
    match level {
        ..=8 => 22,
        9..=16 => 23,
        17.. => 24,
    }
}
