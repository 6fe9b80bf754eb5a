//! Compression of the client protocol: what client and server agree on, and the layer that applies it.

mod algorithm;
mod codec;
mod frames;
mod held;

pub(crate) use algorithm::{ALGORITHMS, Algorithm, agree, is_algorithm_list, offered};
pub(crate) use frames::CompressedStream;
