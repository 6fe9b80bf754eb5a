//! `utf8mb4_0900_ai_ci`: primary weights of UCA 9.0.0, NO PAD.
//!
//! A weight is in keys as a *code*: a string of one to three bytes, none of them zero, no code being a
//! prefix of another, in the order of the weights. Weights of ASCII characters have one byte. So ASCII text,
//! and Latin text with accents, has a key as long as the text has characters. The key of a string is the
//! codes of its weights, then a zero.
//!
//! Table (`uca900.bin`, made by `cargo xtask uca` from Unicode's data; see `LICENSE-UNICODE`), little-endian:
//!
//! | bytes | field |
//! |---|---|
//! | 8 | `UCA9.0.0` |
//! | 2, 2, 2, 2 | entries of the index (I), pages (P), bytes of the pool (B), leading bytes (L) |
//! | 2 L | by leading byte of a code: weight of its first code |
//! | L | by leading byte: bytes per code |
//! | 2 I | page number of each 128 code points |
//! | 256 P | page: 128 entries |
//! | B | pool: at even offsets, one byte of length and the codes of several weights |
//!
//! Entry: 0 = ignorable; FFFF = no explicit weight; high byte below L = a code of that leading byte and the
//! low byte, absent if zero; else L00 + half the pool offset.

use std::cmp::Ordering;

use super::eight_bit::common_prefix;
use super::utf8;
use super::work::Work;

static TABLE: &[u8; include_bytes!("uca900.bin").len()] = include_bytes!("uca900.bin");

const fn u16_at(at: usize) -> u16 {
    u16::from_le_bytes([TABLE[at], TABLE[at + 1]])
}

const HEADER: usize = 16;
const INDEX_LEN: usize = u16_at(8) as usize;
const PAGES: usize = u16_at(10) as usize;
const POOL_LEN: usize = u16_at(12) as usize;
const LEADS: usize = u16_at(14) as usize;
const FIRST_WEIGHTS_AT: usize = HEADER;
const CODE_LENGTHS_AT: usize = FIRST_WEIGHTS_AT + 2 * LEADS;
const INDEX_AT: usize = CODE_LENGTHS_AT + LEADS;
const PAGES_AT: usize = INDEX_AT + 2 * INDEX_LEN;
const POOL_AT: usize = PAGES_AT + 256 * PAGES;
const _: () = assert!(POOL_AT + POOL_LEN == TABLE.len());

/// Eight weights of three bytes.
pub(super) const KEY_BYTES_PER_CHAR_MAX: usize = 24;
const IMPLICIT: u16 = 0xFFFF;
/// Values of a code's second and third byte: 1..=255.
const TAILS: u16 = 255;

/// Codes of ASCII characters, zero for ignorable ones.
static ASCII: [u8; 128] = {
    let mut codes = [0; 128];
    let mut point = 0;
    while point < 128 {
        let entry = entry(point as u32);
        assert!(entry.to_le_bytes()[0] == 0 && (entry >> 8) < LEADS as u16);
        codes[point] = (entry >> 8) as u8;
        point += 1;
    }
    codes
};

#[inline]
const fn entry(point: u32) -> u16 {
    let index = point as usize >> 7;
    if index >= INDEX_LEN {
        return IMPLICIT;
    }
    let page = u16_at(INDEX_AT + 2 * index) as usize;
    u16_at(PAGES_AT + 256 * page + 2 * (point as usize & 0x7F))
}

/// The codes of one character: those in `queue`, from its highest byte to the last that is not zero, or else
/// `pool`.
#[derive(Clone, Copy)]
struct Codes {
    queue: u64,
    pool: &'static [u8],
}

impl Codes {
    fn queued(queue: u64) -> Self {
        Codes { queue, pool: &[] }
    }

    #[inline]
    fn next(&mut self) -> Option<u8> {
        if self.queue != 0 {
            let byte = (self.queue >> 56) as u8;
            self.queue <<= 8;
            return Some(byte);
        }
        let (&byte, rest) = self.pool.split_first()?;
        self.pool = rest;
        Some(byte)
    }
}

/// Codes of the character at `point`.
#[inline]
fn codes_of(point: u32) -> Codes {
    let entry = entry(point);
    if entry == IMPLICIT {
        return Codes::queued(implicit_codes(point));
    }
    if (entry >> 8) < LEADS as u16 {
        return Codes::queued(u64::from(entry) << 48);
    }
    let at = POOL_AT + 2 * (entry - ((LEADS as u16) << 8)) as usize;
    Codes { queue: 0, pool: &TABLE[at + 1..at + 1 + TABLE[at] as usize] }
}

/// Codes of a character without explicit weights: a Hangul syllable has those of its letters, another
/// character two weights made of its number. MySQL takes the twelve code points after the last syllable for
/// syllables as well.
fn implicit_codes(point: u32) -> u64 {
    if let 0xAC00..=0xD7AF = point {
        let syllable = point - 0xAC00;
        let tail = if syllable.is_multiple_of(28) { 0 } else { entry(0x11A7 + syllable % 28) };
        let letters = [entry(0x1100 + syllable / 588), entry(0x1161 + syllable % 588 / 28), tail];
        return letters.into_iter().zip([48, 32, 16]).map(|(entry, shift)| u64::from(entry) << shift).sum();
    }
    let block = (point >> 15) as u16;
    let (base, rest) = match point {
        0x17000..=0x18AFF => (0xFB00, (point - 0x17000) as u16),
        _ if is_unified_han(point) => (0xFB40 + block, point as u16),
        _ if is_extended_han(point) => (0xFB80 + block, point as u16),
        _ => (0xFBC0 + block, point as u16),
    };
    let mut queue = 0;
    let mut shift = 64;
    for (code, len) in
        [IMPLICIT_LEADS[(base - FIRST_IMPLICIT_LEAD) as usize], encode_implicit_rest(rest | 0x8000)]
    {
        shift -= 8 * len;
        queue |= u64::from(code) << shift;
    }
    queue
}

/// Leading weights of implicit pairs: Tangut's, those of the Han blocks, those of the last plane's
/// unassigned.
const FIRST_IMPLICIT_LEAD: u16 = 0xFB00;
const LAST_IMPLICIT_LEAD: u16 = 0xFBC0 + (0x0010_FFFF_u32 >> 15) as u16;

/// Codes of leading implicit weights, as [`encode`] gives them.
static IMPLICIT_LEADS: [(u32, u32); (LAST_IMPLICIT_LEAD - FIRST_IMPLICIT_LEAD) as usize + 1] = {
    let mut codes = [(0, 0); (LAST_IMPLICIT_LEAD - FIRST_IMPLICIT_LEAD) as usize + 1];
    let mut at = 0;
    while at < codes.len() {
        codes[at] = encode(FIRST_IMPLICIT_LEAD + at as u16);
        at += 1;
    }
    codes
};

/// The leading byte that most of the second implicit weights share.
const IMPLICIT_REST_LEAD: u32 = encode(0x8000).0 >> 16;
const IMPLICIT_REST_FIRST: u16 = first_weight(IMPLICIT_REST_LEAD as usize);
const IMPLICIT_REST_END: u16 = first_weight(IMPLICIT_REST_LEAD as usize + 1);

#[inline]
fn encode_implicit_rest(weight: u16) -> (u32, u32) {
    if weight >= IMPLICIT_REST_END {
        return encode(weight);
    }
    let rest = weight - IMPLICIT_REST_FIRST;
    (IMPLICIT_REST_LEAD << 16 | u32::from(rest / TAILS + 1) << 8 | u32::from(rest % TAILS + 1), 3)
}

fn is_unified_han(point: u32) -> bool {
    matches!(point, 0x4E00..=0x9FD5 | 0xFA0E..=0xFA0F | 0xFA11 | 0xFA13..=0xFA14 | 0xFA1F | 0xFA21 | 0xFA23..=0xFA24
        | 0xFA27..=0xFA29)
}

fn is_extended_han(point: u32) -> bool {
    matches!(point, 0x3400..=0x4DB5 | 0x20000..=0x2A6D6 | 0x2A700..=0x2B734 | 0x2B740..=0x2B81D | 0x2B820..=0x2CEA1)
}

const fn first_weight(lead: usize) -> u16 {
    u16_at(FIRST_WEIGHTS_AT + 2 * lead)
}

/// The code of `weight`, in the low bytes, and its length in bytes.
const fn encode(weight: u16) -> (u32, u32) {
    let (mut low, mut high) = (0, LEADS);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if first_weight(middle) <= weight { low = middle } else { high = middle }
    }
    let rest = weight - first_weight(low);
    match TABLE[CODE_LENGTHS_AT + low] {
        1 => (low as u32, 1),
        2 => ((low as u32) << 8 | (rest + 1) as u32, 2),
        _ => ((low as u32) << 16 | ((rest / TAILS + 1) as u32) << 8 | (rest % TAILS + 1) as u32, 3),
    }
}

/// The bytes of the codes of a string, then zeros; zeros as well once the statement is to end.
struct KeyBytes<'a> {
    rest: &'a [u8],
    codes: Codes,
    work: Work,
}

impl KeyBytes<'_> {
    #[inline]
    fn next(&mut self) -> u8 {
        loop {
            if let Some(byte) = self.codes.next() {
                return byte;
            }
            if self.work.ends(1) {
                return 0;
            }
            match *self.rest {
                [] => return 0,
                [byte @ 0..0x80, ref rest @ ..] => {
                    self.rest = rest;
                    if ASCII[byte as usize] != 0 {
                        return ASCII[byte as usize];
                    }
                }
                _ => {
                    let (point, len) = utf8::decode(self.rest);
                    self.rest = &self.rest[len..];
                    self.codes = codes_of(point);
                }
            }
        }
    }
}

/// Order by primary weights.
pub(super) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let mut at = common_prefix(a, b);
    let mut work = Work::default();
    while let (Some(&x), Some(&y)) = (a.get(at), b.get(at)) {
        if (x | y) >= 0x80 {
            break;
        }
        let (x, y) = (ASCII[x as usize], ASCII[y as usize]);
        if x != y {
            if x == 0 || y == 0 {
                break;
            }
            return x.cmp(&y);
        }
        at += 1;
        if work.ends(1) {
            return Ordering::Equal;
        }
    }
    if at == a.len() && at == b.len() {
        return Ordering::Equal;
    }
    compare_characters(a, b, at)
}

/// Appends the codes of ASCII characters. False at another character, or at one without a weight.
pub(super) fn append_folded(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.extend(bytes.iter().map(|&b| ASCII.get(b as usize).copied().unwrap_or(0)));
    !out[start..].contains(&0)
}

/// Order of strings whose weights are equal up to byte `at`, which may be inside a character that they share.
fn compare_characters(a: &[u8], b: &[u8], mut at: usize) -> Ordering {
    let is_tail = |s: &[u8], at: usize| s.get(at).is_some_and(|b| b & 0xC0 == 0x80);
    while at > 0 && (is_tail(a, at) || is_tail(b, at)) {
        at -= 1;
    }
    let mut a = KeyBytes { rest: &a[at..], codes: Codes::queued(0), work: Work::default() };
    let mut b = KeyBytes { rest: &b[at..], codes: Codes::queued(0), work: Work::default() };
    loop {
        let (x, y) = (a.next(), b.next());
        if x != y {
            return x.cmp(&y);
        }
        if x == 0 {
            return Ordering::Equal;
        }
    }
}

/// Whether the weights of `text` begin with those of `start`.
pub(super) fn starts_with(text: &[u8], start: &[u8]) -> bool {
    let mut text = KeyBytes { rest: text, codes: Codes::queued(0), work: Work::default() };
    let mut start = KeyBytes { rest: start, codes: Codes::queued(0), work: Work::default() };
    loop {
        match start.next() {
            0 => return true,
            wanted if wanted != text.next() => return false,
            _ => {}
        }
    }
}

/// Appends the sort key: codes, then a zero.
pub(super) fn append_key(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len() + 1, 0);
    let mut end = append_eights(bytes, &mut out[start..]);
    let mut read = end;
    end += start;
    for (&byte, at) in bytes[read..].iter().zip(read..) {
        let Some(&code) = ASCII.get(byte as usize) else { break };
        out[end] = code;
        end += usize::from(code != 0);
        read = at + 1;
    }
    if read == bytes.len() {
        out[end] = 0;
        out.truncate(end + 1);
    } else {
        out.truncate(end);
        append_characters_key(&bytes[read..], out);
    }
}

/// [`ASCII`] for any byte: zero where that has no code.
pub(super) const SINGLE: [u8; 256] = {
    let mut codes = [0; 256];
    let mut byte = 0;
    while byte < ASCII.len() {
        codes[byte] = ASCII[byte];
        byte += 1;
    }
    codes
};

/// Writes the codes of as many bytes, in eights, as all have one; how many.
#[inline]
fn append_eights(bytes: &[u8], out: &mut [u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let mut done = 0;
    while let (Some(eight), Some(out)) =
        (bytes[done..].first_chunk::<8>(), out[done..].first_chunk_mut::<8>())
    {
        let code = |at: usize| SINGLE[usize::from(eight[at])];
        *out = [code(0), code(1), code(2), code(3), code(4), code(5), code(6), code(7)];
        let codes = u64::from_le_bytes(*out);
        if codes.wrapping_sub(ONES) & !codes & (ONES << 7) != 0 {
            // One of them has none.
            break;
        }
        done += 8;
    }
    done
}

fn append_characters_key(mut rest: &[u8], out: &mut Vec<u8>) {
    // Enough for all but characters of several weights.
    out.reserve(2 * rest.len() + 1);
    let mut work = Work::default();
    while let Some(&byte) = rest.first() {
        if work.ends(1) {
            break;
        }
        if let Some(&code) = ASCII.get(byte as usize) {
            if code != 0 {
                out.push(code);
            }
            rest = &rest[1..];
            continue;
        }
        let (point, len) = utf8::decode(rest);
        rest = &rest[len..];
        let codes = codes_of(point);
        if codes.pool.is_empty() {
            let mut queue = codes.queue;
            while queue != 0 {
                out.push((queue >> 56) as u8);
                queue <<= 8;
            }
        } else {
            out.extend_from_slice(codes.pool);
        }
    }
    out.push(0);
}

/// Appends each weight as two big-endian bytes.
pub(super) fn append_weights(mut bytes: &[u8], out: &mut Vec<u8>) {
    while !bytes.is_empty() {
        let (point, len) = utf8::decode(bytes);
        bytes = &bytes[len..];
        let mut codes = codes_of(point);
        while let Some(lead) = codes.next() {
            let mut tail = || u16::from(codes.next().unwrap_or(1)) - 1;
            let rest = match TABLE[CODE_LENGTHS_AT + lead as usize] {
                1 => 0,
                2 => tail(),
                _ => tail() * TAILS + tail(),
            };
            out.extend((first_weight(lead as usize) + rest).to_be_bytes());
        }
    }
}

/// A number that two characters share when they have the same weights: what LIKE compares.
#[inline]
pub(super) fn weight_class(point: u32) -> u64 {
    if let Some(&code) = ASCII.get(point as usize) {
        return u64::from(code) << 56;
    }
    let codes = codes_of(point);
    match codes.pool {
        [] => codes.queue,
        // Codes that would fit the queue have the number they would have there.
        pool if pool.len() <= 8 => {
            pool.iter().rev().fold(0, |queue, &byte| queue >> 8 | u64::from(byte) << 56)
        }
        // Longer ones are in the pool once: entry and an unused leading byte.
        _ => u64::MAX << 56 | u64::from(entry(point)),
    }
}

/// Whether the table lists the character, which it does for all of Unicode 9 but Han and Hangul.
pub(super) fn has_explicit_weights(point: u32) -> bool {
    entry(point) != IMPLICIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_ordered_and_prefix_free() {
        let bytes = |weight: u16| {
            let (code, len) = encode(weight);
            code.to_be_bytes()[4 - len as usize..].to_vec()
        };
        for weight in 2..=0xFFFF {
            let (code, before) = (bytes(weight), bytes(weight - 1));
            assert!(before < code && !code.starts_with(&before), "weight {weight:x}");
            assert!(!code.contains(&0));
        }
    }

    #[test]
    fn eight_characters_at_a_time_have_the_codes_of_single_ones() {
        let mut prng = base::prng::Prng::new(29);
        let (mut eights, mut rest) = (0, 0);
        for _ in 0..4000 {
            let strange = ["\u{1}", "é", "\u{200b}", "世"];
            let text: String = (0..prng.below(40))
                .map(|_| match prng.below(24) {
                    0 => strange[prng.below(4) as usize].to_owned(),
                    _ => char::from(32 + prng.below(95) as u8).to_string(),
                })
                .collect();
            let (mut at_once, mut singly, mut out) = (Vec::new(), Vec::new(), vec![0; text.len() + 1]);
            append_key(text.as_bytes(), &mut at_once);
            append_characters_key(text.as_bytes(), &mut singly);
            assert_eq!(at_once, singly, "{text:?}");
            let done = append_eights(text.as_bytes(), &mut out);
            (eights, rest) = (eights + done, rest + text.len() - done);
        }
        assert!(eights > 10_000 && rest > 10_000, "{eights} characters in eights, {rest} others");
    }
}
