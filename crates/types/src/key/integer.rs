//! Integers between storage (little-endian) and key (big-endian, sign bit flipped) form.

/// Appends the key form of `storage`, a little-endian integer of 1..=32 bytes; `mask` is XORed to each byte,
/// FF for a descending part.
#[inline]
pub(super) fn append(storage: &[u8], signed: bool, mask: u8, out: &mut Vec<u8>) {
    let flip = flip(signed, mask);
    match *storage {
        [a, b, c, d] => {
            let key = u32::from_le_bytes([a, b, c, d]) ^ (flip >> 32) as u32;
            out.extend_from_slice(&key.to_be_bytes());
        }
        [a, b, c, d, e, f, g, h] => {
            let key = u64::from_le_bytes([a, b, c, d, e, f, g, h]) ^ flip;
            out.extend_from_slice(&key.to_be_bytes());
        }
        _ => append_any(storage, (flip >> 56) as u8 ^ mask, mask, out),
    }
}

/// What to XOR to an integer whose highest bit is bit 63.
#[inline]
fn flip(signed: bool, mask: u8) -> u64 {
    // Widening the mask as a signed number repeats its bits.
    i64::from(mask as i8) as u64 ^ u64::from(signed) << 63
}

fn append_any(storage: &[u8], flip_top: u8, mask: u8, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend(storage.iter().rev().map(|b| b ^ mask));
    if let Some(top) = out.get_mut(start) {
        *top ^= flip_top;
    }
}

/// Appends the storage form of `key`; `mask` is XORed to each byte, FF for a descending part.
#[inline]
pub(super) fn read(key: &[u8], signed: bool, mask: u8, out: &mut Vec<u8>) {
    let flip = flip(signed, mask);
    match *key {
        [a, b, c, d] => {
            let storage = u32::from_be_bytes([a, b, c, d]) ^ (flip >> 32) as u32;
            out.extend_from_slice(&storage.to_le_bytes());
        }
        [a, b, c, d, e, f, g, h] => {
            let storage = u64::from_be_bytes([a, b, c, d, e, f, g, h]) ^ flip;
            out.extend_from_slice(&storage.to_le_bytes());
        }
        _ => {
            out.extend(key.iter().rev().map(|b| b ^ mask));
            if let (Some(top), false) = (out.last_mut(), key.is_empty()) {
                *top ^= (flip >> 56) as u8 ^ mask;
            }
        }
    }
}

/// The integer in `key` (1..=8 bytes), sign- or zero-extended.
#[inline]
pub(super) fn value(key: &[u8], signed: bool, mask: u8) -> i64 {
    let bits = match *key {
        [a, b, c, d] => i64::from(u32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => key.iter().fold(0, |bits, &b| bits << 8 | i64::from(b)),
    };
    let unused = 64 - 8 * key.len().min(8) as u32;
    let all = u64::MAX.checked_shr(unused).unwrap_or_default();
    let bits = if mask == 0 { bits as u64 } else { !(bits as u64) & all };
    if !signed {
        return bits as i64;
    }
    // Flipping the top bit and extending it: subtract the middle of the range.
    bits.wrapping_sub(1 << (63 - unused)) as i64
}

/// Appends the key form of an IEEE number in little-endian `storage` of 4 or 8 bytes.
#[inline]
pub(super) fn append_float(storage: &[u8], out: &mut Vec<u8>) {
    let (&top, low) = storage.split_last().unwrap_or((&0, &[]));
    let zero = top << 1 == 0 && low.iter().all(|&b| b == 0);
    let flip = if top < 0x80 || zero { 0 } else { 0xFF };
    out.push(if zero { 0x80 } else { top ^ (flip | 0x80) });
    out.extend(low.iter().rev().map(|b| b ^ flip));
}
