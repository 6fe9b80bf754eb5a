//! Sort keys of strings whose weights are bytes: nearly the bytes themselves.
//!
//! NO PAD: end = `00`; bytes `00` and `01` become `01 01` and `01 02`; all others stand for themselves.
//!
//! PAD SPACE: the end sorts as an endless run of spaces would, so what a space run sorts as depends on the
//! byte after it:
//!
//! | key | stands for |
//! |---|---|
//! | `00 00` .. `00 02` | bytes 00 to 02 |
//! | `01` .. `1D` | bytes 03 to 1F |
//! | `1E` | a space of a run followed by a byte below the space |
//! | `1F` | the end; trailing spaces are left out |
//! | `20` | a space of a run followed by a byte above the space |
//! | `21` .. `FF` | themselves |

use base::memory::append_in_pieces;

/// Ends a key under NO PAD.
pub(super) const NO_PAD_END: u8 = 0;
/// Ends a key under PAD SPACE.
pub(super) const PAD_SPACE_END: u8 = 0x1F;

/// A space before a byte below the space.
pub(super) const LOW_SPACE: u8 = 0x1E;
/// A space before a byte above the space.
pub(super) const HIGH_SPACE: u8 = SPACE;
const SPACE: u8 = 0x20;
/// Bytes below it take two key bytes under PAD SPACE.
const PAD_SPACE_ESCAPED: u8 = 3;

/// The least byte, FF if there is none. Cost: a vector instruction per 16 bytes.
#[inline]
fn least(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xFF, |least, &b| least.min(b))
}

/// Appends the NO PAD key of `bytes`.
#[inline]
pub(super) fn append_no_pad(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() + 1);
    if least(bytes) <= 1 {
        append_no_pad_escaped(bytes, out);
    } else {
        // A key that the interrupt cut short is noticed where long keys are.
        let _ = append_in_pieces(bytes, out);
    }
    out.push(NO_PAD_END);
}

#[cold]
fn append_no_pad_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        if byte <= 1 {
            out.push(1);
            out.push(byte + 1);
        } else {
            out.push(byte);
        }
    }
}

/// Appends what the front of `key` stands for, and returns the length of the key, its end included. `mask`
/// has been XORed to every byte of the key.
#[inline]
pub(crate) fn read_no_pad(key: &[u8], mask: u8, out: &mut Vec<u8>) -> usize {
    let end = memchr::memchr(NO_PAD_END ^ mask, key).unwrap_or(key.len());
    let mut rest = &key[..end];
    while let Some(escape) = memchr::memchr(1 ^ mask, rest) {
        out.extend(rest[..escape].iter().map(|b| b ^ mask));
        out.push(rest.get(escape + 1).map_or(0, |b| (b ^ mask).wrapping_sub(1)));
        rest = rest.get(escape + 2..).unwrap_or_default();
    }
    out.extend(rest.iter().map(|b| b ^ mask));
    (end + 1).min(key.len())
}

/// `bytes` without the spaces at its end.
#[inline]
pub(crate) fn trim_spaces(bytes: &[u8]) -> &[u8] {
    let mut end = bytes.len();
    while end > 0 && bytes[end - 1] == SPACE {
        end -= 1;
        if end.is_multiple_of(SPACES.len()) {
            end = without_blocks_of_spaces(&bytes[..end]);
        }
    }
    &bytes[..end]
}

/// A block that is compared at once.
const SPACES: [u8; 64] = [SPACE; 64];

/// Bytes that are left without the whole blocks of spaces at the end.
fn without_blocks_of_spaces(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((before, &SPACES)) = rest.split_last_chunk() {
        rest = before;
    }
    rest.len()
}

/// Spaces at the front of `bytes`.
#[inline]
pub(super) fn count_spaces(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((&SPACES, after)) = rest.split_first_chunk() {
        rest = after;
    }
    bytes.len() - rest.len() + rest.iter().take_while(|b| **b == SPACE).count()
}

/// Whether a byte below the space occurs: without one, PAD SPACE keys are the bytes themselves.
#[inline]
pub(super) fn has_control(bytes: &[u8]) -> bool {
    least(bytes) < SPACE
}

/// Appends the PAD SPACE key of `bytes`.
#[inline]
pub(super) fn append_pad_space(bytes: &[u8], out: &mut Vec<u8>) {
    let bytes = trim_spaces(bytes);
    out.reserve(bytes.len() + 1);
    if has_control(bytes) {
        append_pad_space_escaped(bytes, |b| b, out);
    } else {
        // A key that the interrupt cut short is noticed where long keys are.
        let _ = append_in_pieces(bytes, out);
    }
    out.push(PAD_SPACE_END);
}

/// Appends the key, except for its end, of `bytes`, which does not end in a space. `weigh` keeps bytes up to
/// the space.
pub(super) fn append_pad_space_escaped(bytes: &[u8], weigh: impl Fn(u8) -> u8, out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            0..PAD_SPACE_ESCAPED => out.extend([0, byte]),
            PAD_SPACE_ESCAPED..SPACE => out.push(byte - 2),
            SPACE => {
                let run = count_spaces(&bytes[at..]);
                let below = bytes.get(at + run).is_some_and(|&next| next < SPACE);
                out.resize(out.len() + run, if below { LOW_SPACE } else { HIGH_SPACE });
                at += run;
                continue;
            }
            _ => out.push(weigh(byte)),
        }
        at += 1;
    }
}

/// Appends what the front of `key` stands for, and returns the length of the key, its end included. `mask`
/// has been XORed to every byte of the key.
#[inline]
pub(crate) fn read_pad_space(key: &[u8], mask: u8, out: &mut Vec<u8>) -> usize {
    let end = memchr::memchr(PAD_SPACE_END ^ mask, key).unwrap_or(key.len());
    let start = out.len();
    out.extend(key[..end].iter().map(|b| b ^ mask));
    if has_control(&out[start..]) {
        unescape_pad_space(out, start);
    }
    (end + 1).min(key.len())
}

/// Turns the key bytes from `start` on into what they stand for.
#[cold]
fn unescape_pad_space(out: &mut Vec<u8>, start: usize) {
    let mut read = start;
    let mut end = start;
    while let Some(&byte) = out.get(read) {
        read += 1;
        out[end] = match byte {
            0 => {
                read += 1;
                out.get(read - 1).copied().unwrap_or_default()
            }
            1..LOW_SPACE => byte + 2,
            LOW_SPACE => SPACE,
            _ => byte,
        };
        end += 1;
    }
    out.truncate(end);
}
