//! Text rows: every value as a length-encoded string.
//!
//! A row is one packet: [`OutBuffer::begin_packet`], one `put_*` per column, [`OutBuffer::end_packet`].
//! Values that already are text go in with [`OutBuffer::put_lenenc_bytes`].

use crate::OutBuffer;

/// Bytes that [`store_i64`] and [`store_u64`] may store.
pub const INTEGER_TEXT_BYTES: usize = 21;

/// Digits of the parts that a number is taken apart to.
const PART_DIGITS: usize = 8;
const PART: u64 = 100_000_000;

/// Stores a signed integer in decimal after its length at the start of `room`; how many bytes that are.
/// Bytes after them, up to [`INTEGER_TEXT_BYTES`] in all, may be overwritten. Cost: about 30 instructions up
/// to 8 digits.
#[inline]
pub fn store_i64(room: &mut [u8], value: i64) -> usize {
    if value < 0 {
        return store_negative(room, value.unsigned_abs());
    }
    store_u64(room, value as u64)
}

#[inline(never)]
fn store_negative(room: &mut [u8], magnitude: u64) -> usize {
    let Some((len, rest)) = room.split_first_mut() else { return 0 };
    let stored = store_u64(rest, magnitude);
    // The sign takes the place of the length of the digits alone.
    if let Some(sign) = rest.first_mut() {
        *sign = b'-';
    }
    *len = stored as u8;
    1 + stored
}

/// As [`store_i64`], of an unsigned integer.
#[inline]
pub fn store_u64(room: &mut [u8], value: u64) -> usize {
    let Some(place) = room.first_chunk_mut() else { return store_long(room, value) };
    // The number over 100, 10,000 or 1,000,000, its fraction in 32 bits: a little above, so that no digit is
    // lost.
    if value < 10_000 {
        if value < 100 {
            store_pairs::<1>(place, value << 32)
        } else {
            store_pairs::<2>(place, value * 42_949_673)
        }
    } else if value < 1_000_000 {
        store_pairs::<3>(place, value * 429_497)
    } else if value < PART {
        store_pairs::<4>(place, ((value * 281_474_977) >> 16) + 1)
    } else {
        store_long(room, value)
    }
}

/// Stores the pairs of digits in `pairs`, the first one above its low 32 bits, the others a fraction below
/// it.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the index has 7 bits")]
fn store_pairs<const PAIRS: usize>(place: &mut [u8; 1 + PART_DIGITS], mut pairs: u64) -> usize {
    let odd = usize::from(pairs >> 32 < 10);
    let len = 2 * PAIRS - odd;
    // A leading zero goes where the length comes.
    if let Some(text) = place[1 - odd..].first_chunk_mut::<PART_DIGITS>() {
        for text in text.as_chunks_mut().0.iter_mut().take(PAIRS) {
            *text = PAIR_TEXT[(pairs >> 32) as usize & 127];
            pairs = (pairs & u64::from(u32::MAX)) * 100;
        }
    }
    place[0] = len as u8;
    1 + len
}

/// The digits of the numbers below 100.
#[expect(clippy::indexing_slicing, reason = "a constant: an index too high would not compile")]
static PAIR_TEXT: [[u8; 2]; 128] = {
    let mut text = [[0; 2]; 128];
    let mut number = 0;
    while number < 100 {
        text[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    text
};

#[cold]
#[inline(never)]
#[expect(clippy::indexing_slicing, reason = "the room was made for what is stored")]
fn store_long(room: &mut [u8], value: u64) -> usize {
    let (mut rest, mut parts) = (value, [0; 3]);
    for part in parts.iter_mut().rev() {
        *part = rest % PART;
        rest /= PART;
    }
    let mut text = [0; 3 * PART_DIGITS];
    for (place, part) in text.chunks_exact_mut(PART_DIGITS).zip(parts) {
        place.copy_from_slice(&part_text(part_digits(part as u32)));
    }
    let zeros = text.iter().take_while(|&&digit| digit == b'0').count();
    let len = 1 + text.len() - zeros;
    room[1..len].copy_from_slice(&text[zeros..]);
    room[0] = len as u8 - 1;
    len
}

/// Bytes that [`store_date`] stores.
pub const DATE_TEXT_BYTES: usize = 11;

/// Stores a date as `YYYY-MM-DD` after its length at the start of `room`; how many bytes that are.
/// Cost: about 30 instructions.
#[inline]
pub fn store_date(room: &mut [u8], year: u32, month: u32, day: u32) -> usize {
    debug_assert!(year < 10_000 && month < 100 && day < 100, "date {year}-{month}-{day}");
    let digits = part_digits(year * 10_000 + month * 100 + day);
    let [y0, y1, y2, y3, m0, m1, d0, d1] = part_text(digits);
    if let Some(place) = room.first_chunk_mut() {
        *place = [DATE_TEXT_BYTES as u8 - 1, y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1];
    }
    DATE_TEXT_BYTES
}

#[inline]
fn part_text(digits: u64) -> [u8; PART_DIGITS] {
    (digits + u64::from_le_bytes([b'0'; PART_DIGITS])).to_le_bytes()
}

/// The digits of a number below [`PART`], a byte each, the first one lowest. Halves, pairs and digits are
/// divided side by side: a multiplication and a shift divide by 100 what is below 10,000, and by 10 what is
/// below 100.
#[inline]
fn part_digits(value: u32) -> u64 {
    let halves = u64::from(value / 10_000) | u64::from(value % 10_000) << 32;
    let hundreds = ((halves * 10_486) >> 20) & 0x7f_0000_007f;
    let pairs = split(halves, hundreds, 100, 16);
    let tens = ((pairs * 103) >> 10) & 0x0f_000f_000f_000f;
    split(pairs, tens, 10, 8)
}

/// Puts the quotients of the numbers in `all` by `by` in their places, and the remainders `bits` above them.
#[inline(always)]
fn split(all: u64, quotients: u64, by: u64, bits: u32) -> u64 {
    // quotients | (all - by * quotients) << bits
    (all << bits) - quotients * ((by << bits) - 1)
}

impl OutBuffer {
    /// Appends NULL.
    #[inline]
    pub fn put_text_null(&mut self) {
        self.put_u8(0xfb);
    }

    /// Appends a signed integer in decimal.
    #[inline]
    pub fn put_text_i64(&mut self, value: i64) {
        let mut digits = itoa::Buffer::new();
        self.put_short_text(digits.format(value).as_bytes());
    }

    /// Appends an unsigned integer in decimal.
    #[inline]
    pub fn put_text_u64(&mut self, value: u64) {
        let mut digits = itoa::Buffer::new();
        self.put_short_text(digits.format(value).as_bytes());
    }

    /// Appends text of at most 250 bytes, whose length takes one byte.
    #[inline]
    pub(crate) fn put_short_text(&mut self, text: &[u8]) {
        debug_assert!(text.len() <= 250, "length needs more than one byte");
        self.put_u8(text.len() as u8);
        self.put_bytes(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_length_encoded_text() {
        let mut out = OutBuffer::new();
        out.begin_packet();
        out.put_text_null();
        out.put_text_i64(-12);
        out.put_text_u64(u64::MAX);
        out.put_text_with(|bytes| bytes.extend_from_slice(b"xyz"));
        out.put_lenenc_bytes(b"");
        out.end_packet();
        assert_eq!(out.pending(), b"\x1f\0\0\0\xfb\x03-12\x1418446744073709551615\x03xyz\0".as_slice());
    }
    #[test]
    fn stored_dates_are_those_of_the_formatter() {
        for (year, month, day) in [(0, 0, 0), (1, 2, 3), (1999, 12, 31), (2024, 2, 29), (9999, 0, 10)] {
            let mut room = [0xaa; DATE_TEXT_BYTES];
            assert_eq!(store_date(&mut room, year, month, day), DATE_TEXT_BYTES);
            assert_eq!(room[1..], *format!("{year:04}-{month:02}-{day:02}").as_bytes());
            assert_eq!(room[0], 10);
        }
    }

    #[test]
    fn stored_integers_are_those_of_the_formatter() {
        let mut values = vec![0, 9, 10, 99, 100, PART - 1, PART, PART * PART - 1, PART * PART, u64::MAX];
        let mut bits = 1u64;
        values.extend((0..PART).step_by(997).chain(0..1100));
        for n in 0..20_000u32 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            values.push(bits >> (n % 64));
        }
        let mut room = [0xaa; INTEGER_TEXT_BYTES];
        for value in values {
            let len = store_u64(&mut room, value);
            assert_eq!(&room[1..len], value.to_string().as_bytes());
            assert_eq!(usize::from(room[0]), len - 1);
            for signed in [value as i64, (value as i64).wrapping_neg()] {
                let len = store_i64(&mut room, signed);
                assert_eq!(&room[1..len], signed.to_string().as_bytes());
                assert_eq!(usize::from(room[0]), len - 1);
            }
        }
    }
}
