//! Integers between storage (little-endian) and key (big-endian, sign bit flipped) form.

/// Appends the key form of `storage`, a little-endian integer of 1..=32 bytes.
#[inline]
pub(super) fn append(storage: &[u8], signed: bool, out: &mut Vec<u8>) {
    let sign = |top: u8| if signed { top ^ 0x80 } else { top };
    match *storage {
        [a, b, c, d] => out.extend_from_slice(&[sign(d), c, b, a]),
        [a, b, c, d, e, f, g, h] => out.extend_from_slice(&[sign(h), g, f, e, d, c, b, a]),
        _ => {
            let start = out.len();
            out.extend(storage.iter().rev());
            if let Some(top) = out.get_mut(start) {
                *top = sign(*top);
            }
        }
    }
}

/// Appends the storage form of `key`; `mask` is XORed to each byte, FF for a descending part.
#[inline]
pub(super) fn read(key: &[u8], signed: bool, mask: u8, out: &mut Vec<u8>) {
    let sign = if signed { mask ^ 0x80 } else { mask };
    match *key {
        [a, b, c, d] => out.extend_from_slice(&[d ^ mask, c ^ mask, b ^ mask, a ^ sign]),
        [a, b, c, d, e, f, g, h] => out.extend_from_slice(&[
            h ^ mask,
            g ^ mask,
            f ^ mask,
            e ^ mask,
            d ^ mask,
            c ^ mask,
            b ^ mask,
            a ^ sign,
        ]),
        _ => {
            out.extend(key.iter().rev().map(|b| b ^ mask));
            if let (Some(top), false) = (out.last_mut(), key.is_empty()) {
                *top ^= mask ^ sign;
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
