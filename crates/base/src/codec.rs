//! Little-endian loads and stores at byte offsets, and variable-length integers.
//!
//! Everything on disk and in the log is little-endian; normalised keys alone are big-endian and have their
//! own codec in `types::key`. A load out of range panics: callers slice once inside a proven range.

macro_rules! fixed {
    ($get:ident, $put:ident, $int:ty, $n:literal) => {
        #[doc = concat!("Loads the little-endian `", stringify!($int), "` at `off`.")]
        #[inline]
        pub fn $get(bytes: &[u8], off: usize) -> $int {
            match bytes.get(off..).and_then(|rest| rest.first_chunk::<$n>()) {
                Some(raw) => <$int>::from_le_bytes(*raw),
                None => out_of_range(off, bytes.len()),
            }
        }
        #[doc = concat!("Stores `value` as little-endian `", stringify!($int), "` at `off`.")]
        #[inline]
        pub fn $put(bytes: &mut [u8], off: usize, value: $int) {
            let len = bytes.len();
            match bytes.get_mut(off..).and_then(|rest| rest.first_chunk_mut::<$n>()) {
                Some(raw) => *raw = value.to_le_bytes(),
                None => out_of_range(off, len),
            }
        }
    };
}

#[cold]
#[inline(never)]
fn out_of_range(off: usize, len: usize) -> ! {
    panic!("access at {off} in {len} bytes");
}

fixed!(get_u16, put_u16, u16, 2);
fixed!(get_u32, put_u32, u32, 4);
fixed!(get_u64, put_u64, u64, 8);

/// Loads a 6-byte little-endian integer at `off`.
#[inline]
pub fn get_u48(bytes: &[u8], off: usize) -> u64 {
    u64::from(get_u32(bytes, off)) | u64::from(get_u16(bytes, off + 4)) << 32
}

/// Stores the low 48 bits of `value` in 6 little-endian bytes at `off`.
#[inline]
pub fn put_u48(bytes: &mut [u8], off: usize, value: u64) {
    debug_assert!(value < 1 << 48, "48-bit overflow");
    put_u32(bytes, off, value as u32);
    put_u16(bytes, off + 4, (value >> 32) as u16);
}

/// Appends `value` as LEB128: 7 bits a byte, least significant first, at most 10 bytes.
#[inline]
pub fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Stores `value` as LEB128 at `off`; returns where it ends.
#[inline]
pub fn put_varint(bytes: &mut [u8], mut off: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        put_u8(bytes, off, value as u8 | 0x80);
        value >>= 7;
        off += 1;
    }
    put_u8(bytes, off, value as u8);
    off + 1
}

#[inline]
fn put_u8(bytes: &mut [u8], off: usize, value: u8) {
    let len = bytes.len();
    match bytes.get_mut(off) {
        Some(byte) => *byte = value,
        None => out_of_range(off, len),
    }
}

/// Appends the first `len` bytes of `bytes`. Cost: as all of them are copied and the rest is taken back,
/// moves of a length that is known beforehand.
#[inline]
pub fn push_start<const N: usize>(out: &mut Vec<u8>, bytes: &[u8; N], len: usize) {
    let end = out.len() + len;
    out.extend_from_slice(bytes);
    out.truncate(end);
}

/// Appends `bytes`. Cost: no call for 4 and 8 of them, as integers have.
#[inline]
pub fn push_short(out: &mut Vec<u8>, bytes: &[u8]) {
    if let Ok(four) = <&[u8; 4]>::try_from(bytes) {
        out.extend_from_slice(four);
    } else if let Ok(eight) = <&[u8; 8]>::try_from(bytes) {
        out.extend_from_slice(eight);
    } else {
        out.extend_from_slice(bytes);
    }
}

/// Copies `from` to `to`, of the same length. Cost: no call for 4 to 16 bytes, which two loads and two stores
/// cover.
#[inline]
pub fn copy_short(to: &mut [u8], from: &[u8]) {
    assert!(to.len() == from.len(), "{} bytes for {}", to.len(), from.len());
    match from.len() {
        4..8 => copy_ends::<4>(to, from),
        8..=16 => copy_ends::<8>(to, from),
        _ => to.copy_from_slice(from),
    }
}

/// As [`copy_short`], without a call for 2 and 3 bytes either.
#[inline]
pub fn copy_shorter(to: &mut [u8], from: &[u8]) {
    assert!(to.len() == from.len(), "{} bytes for {}", to.len(), from.len());
    match from.len() {
        2..4 => copy_ends::<2>(to, from),
        _ => copy_short(to, from),
    }
}

/// Copies the first and the last `N` bytes.
#[inline(always)]
fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) {
    let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) else { return };
    if let Some(to) = to.first_chunk_mut::<N>() {
        *to = *first;
    }
    if let Some(to) = to.last_chunk_mut::<N>() {
        *to = *last;
    }
}

/// Reads a LEB128 integer from the front of `bytes` and advances past it; `None` if it is cut short or too
/// long.
#[inline]
pub fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    // Most integers are small.
    if let Some((&byte, rest)) = bytes.split_first()
        && byte < 0x80
    {
        *bytes = rest;
        return Some(u64::from(byte));
    }
    take_long_varint(bytes)
}

fn take_long_varint(bytes: &mut &[u8]) -> Option<u64> {
    // Most of the others have two bytes.
    if let [low, high @ ..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(u64::from(low & 0x7f) | u64::from(*high) << 7);
    }
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Splits `n` bytes off the front of `bytes`; `None` if there are fewer.
#[inline]
pub fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (head, rest) = bytes.split_at_checked(n)?;
    *bytes = rest;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_round_trip_at_their_length_boundaries() {
        for value in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::from(u32::MAX), u64::MAX] {
            let mut out = Vec::new();
            push_varint(&mut out, value);
            let mut stored = [0; 12];
            let end = put_varint(&mut stored, 1, value);
            assert_eq!(stored[1..end], out);
            let mut pushed = vec![7];
            push_start(&mut pushed, &stored, end);
            assert_eq!(pushed, [&[7, 0], &out[..]].concat());
            let mut rest = &out[..];
            assert_eq!(take_varint(&mut rest), Some(value));
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn short_copies_are_copies() {
        let from: Vec<u8> = (1..=40).collect();
        for len in 0..from.len() {
            let (mut to, mut out) = (vec![0; len + 2], vec![7]);
            copy_short(&mut to[1..=len], &from[..len]);
            push_short(&mut out, &from[..len]);
            assert_eq!(to, [&[0], &from[..len], &[0]].concat());
            assert_eq!(out, [&[7], &from[..len]].concat());
        }
    }

    #[test]
    fn a_cut_varint_is_refused() {
        assert_eq!(take_varint(&mut &[0x80u8][..]), None);
        assert_eq!(take_varint(&mut &[0xffu8; 11][..]), None);
    }

    #[test]
    fn six_byte_integers_keep_their_neighbours() {
        let mut bytes = [0xaau8; 10];
        put_u48(&mut bytes, 2, 0x0102_0304_0506);
        assert_eq!(get_u48(&bytes, 2), 0x0102_0304_0506);
        assert_eq!((bytes[1], bytes[8]), (0xaa, 0xaa));
    }
}
