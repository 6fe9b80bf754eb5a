//! `utf8mb4_unicode_ci` and `utf8mb4_unicode_520_ci`, and those of utf8mb3: primary weights of UCA 4.0.0 and
//! 5.2.0, PAD SPACE.
//!
//! A key holds weights as *codes*. The end of a string sorts as an endless run of spaces would, as in
//! `byte_key`:
//!
//! | code | weight |
//! |---|---|
//! | `01` .. `09` | below the space |
//! | `1E` | that of the space, in a run before a weight below the space |
//! | `1F` | the end; a run of that weight at the end is left out |
//! | `20` | that of the space, in a run before a weight above the space |
//! | `21 00` .. `FF FF` | above the space; the second byte is never `1F` |
//!
//! Table (`uca400.bin`, `uca520.bin`, made by `cargo xtask uca` from Unicode's data; see `LICENSE-UNICODE`),
//! little-endian:
//!
//! | bytes | field |
//! |---|---|
//! | 8 | `UCA4.0.0` or `UCA5.2.0` |
//! | 2, 2, 2, 2 | entries of the index (I), pages (P), words of the pool (W), the greatest weight of one word |
//! | 2 I | page number of each 256 code points |
//! | 512 P | page: 256 entries |
//! | 2 W | pool: a length, then that number of weights |
//!
//! Entry: 0 = ignorable; FFFF = no explicit weight; below 8000 = the weight; else 8000 + offset in the pool.

use std::cmp::Ordering;

use super::eight_bit::common_prefix;
use super::work::Work;
use super::{byte_key, utf8};

/// Weights of one version of the algorithm.
#[derive(Debug)]
pub(super) struct Table {
    bytes: &'static [u8],
    index_len: usize,
    pages_at: usize,
    pool_at: usize,
    /// Weight of the space.
    space: u16,
    /// The greatest weight below the implicit ones.
    last_explicit: u16,
    /// Characters after this one all weigh [`BEYOND`].
    last_point: u32,
    /// Weights of ASCII characters, zero for ignorable ones.
    ascii: [u16; 128],
}

/// UCA 4.0.0.
pub(super) static UCA_400: Table = Table::new(include_bytes!("uca400.bin"), 0xFFFF);
/// UCA 5.2.0.
pub(super) static UCA_520: Table = Table::new(include_bytes!("uca520.bin"), 0x0010_FFFF);

const HEADER: usize = 16;
const PAGE: usize = 256;
const IMPLICIT: u16 = 0xFFFF;
const POOLED: u16 = 0x8000;
/// Weight of what a version does not list at all.
const BEYOND: u16 = 0xFFFD;
/// Weights below the space stand for themselves in a byte, less this.
const BELOW_SPACE: u16 = 0x0200;
/// The least leading byte of a code of two bytes, and values of its second byte.
const FIRST_LEAD: u16 = 0x21;
const TAILS: u16 = 255;
/// The least weight of the second half: leading implicit weights, and the weights after them.
const IMPLICIT_FIRST: u16 = 0x8000;

/// Eight weights of two bytes.
pub(super) const KEY_BYTES_PER_CHAR_MAX: usize = 16;

const fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

impl Table {
    const fn new(bytes: &'static [u8], last_point: u32) -> Self {
        let (index_len, pages) = (u16_at(bytes, 8) as usize, u16_at(bytes, 10) as usize);
        let pages_at = HEADER + 2 * index_len;
        let pool_at = pages_at + 2 * PAGE * pages;
        let last_explicit = u16_at(bytes, 14);
        assert!(pool_at + 2 * u16_at(bytes, 12) as usize == bytes.len(), "the table is whole");
        let mut table = Table {
            bytes,
            index_len,
            pages_at,
            pool_at,
            space: 0,
            last_explicit,
            last_point,
            ascii: [0; 128],
        };
        let mut point = 0;
        while point < 128 {
            let entry = table.entry(point as u32);
            assert!(entry < POOLED, "an ASCII character has one weight");
            table.ascii[point] = entry;
            point += 1;
        }
        table.space = table.ascii[b' ' as usize];
        assert!(table.space > BELOW_SPACE && table.space - BELOW_SPACE < byte_key::LOW_SPACE as u16);
        let codes = (last_explicit - table.space) as u32 + (u16::MAX - IMPLICIT_FIRST) as u32 + 1;
        assert!(codes <= (0x100 - FIRST_LEAD as u32) * TAILS as u32, "every weight has a code");
        table
    }

    const fn entry(&self, point: u32) -> u16 {
        let index = point as usize / PAGE;
        if index >= self.index_len {
            return IMPLICIT;
        }
        let page = u16_at(self.bytes, HEADER + 2 * index) as usize;
        u16_at(self.bytes, self.pages_at + 2 * (page * PAGE + point as usize % PAGE))
    }

    /// The weights of one character.
    #[inline]
    fn weights_of(&self, point: u32) -> Pending {
        if point > self.last_point {
            return Pending::one(BEYOND);
        }
        match self.entry(point) {
            IMPLICIT => {
                let (lead, rest) = implicit(point);
                Pending { next: lead, after: rest, pool: &[] }
            }
            weight if weight < POOLED => Pending::one(weight),
            pooled => {
                let at = self.pool_at + 2 * usize::from(pooled - POOLED);
                let len = usize::from(u16_at(self.bytes, at));
                Pending { next: 0, after: 0, pool: &self.bytes[at + 2..at + 2 + 2 * len] }
            }
        }
    }

    /// Appends the code of a weight above the space.
    #[inline]
    fn push_code(&self, weight: u16, out: &mut Vec<u8>) {
        let rank = if weight < IMPLICIT_FIRST {
            weight - self.space - 1
        } else {
            weight - IMPLICIT_FIRST + self.last_explicit - self.space
        };
        let tail = (rank % TAILS) as u8;
        out.push((FIRST_LEAD + rank / TAILS) as u8);
        out.push(tail + u8::from(tail >= byte_key::PAD_SPACE_END));
    }

    /// Order of `a` and `b`, the shorter one being followed by spaces.
    pub(super) fn compare(&'static self, a: &[u8], b: &[u8]) -> Ordering {
        let is_tail = |s: &[u8], at: usize| s.get(at).is_some_and(|b| b & 0xC0 == 0x80);
        let mut at = common_prefix(a, b);
        while at > 0 && (is_tail(a, at) || is_tail(b, at)) {
            at -= 1;
        }
        let mut a = WeightsOf { table: self, rest: &a[at..], pending: Pending::NONE };
        let mut b = WeightsOf { table: self, rest: &b[at..], pending: Pending::NONE };
        let mut work = Work::default();
        loop {
            let (x, y) = (a.next(), b.next());
            if (x.is_none() && y.is_none()) || work.ends(1) {
                return Ordering::Equal;
            }
            let (x, y) = (x.unwrap_or(self.space), y.unwrap_or(self.space));
            if x != y {
                return x.cmp(&y);
            }
        }
    }

    /// Whether the weights of `text` begin with those of `start`.
    pub(super) fn starts_with(&'static self, text: &[u8], start: &[u8]) -> bool {
        let mut text = WeightsOf { table: self, rest: text, pending: Pending::NONE };
        let mut start = WeightsOf { table: self, rest: start, pending: Pending::NONE };
        let mut work = Work::default();
        while let Some(wanted) = start.next()
            && !work.ends(1)
        {
            if text.next() != Some(wanted) {
                return false;
            }
        }
        true
    }

    /// Appends the sort key: codes, then the end.
    pub(super) fn append_key(&'static self, bytes: &[u8], out: &mut Vec<u8>) {
        let bytes = byte_key::trim_spaces(bytes);
        out.reserve(2 * bytes.len() + 1);
        let mut weights = WeightsOf { table: self, rest: bytes, pending: Pending::NONE };
        let (mut spaces, mut work) = (0, Work::default());
        while let Some(weight) = weights.next() {
            if work.ends(1) {
                break;
            }
            if weight == self.space {
                spaces += 1;
                continue;
            }
            let space = if weight < self.space { byte_key::LOW_SPACE } else { byte_key::HIGH_SPACE };
            out.resize(out.len() + spaces, space);
            spaces = 0;
            if weight < self.space {
                out.push((weight - BELOW_SPACE) as u8);
            } else {
                self.push_code(weight, out);
            }
        }
        out.push(byte_key::PAD_SPACE_END);
    }

    /// Appends a byte for each ASCII character, the same for the same weight. False at another character, or
    /// at one without a weight.
    pub(super) fn append_folded(&self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        for &byte in bytes {
            let Some(&weight) = self.ascii.get(usize::from(byte)) else { return false };
            if weight == 0 {
                return false;
            }
            // Letters of both cases share their weights, and no other characters do.
            out.push(byte.to_ascii_uppercase());
        }
        true
    }

    /// Appends each weight as two big-endian bytes.
    pub(super) fn append_weights(&'static self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut weights = WeightsOf { table: self, rest: bytes, pending: Pending::NONE };
        while let Some(weight) = weights.next() {
            out.extend(weight.to_be_bytes());
        }
    }

    /// A number that two characters share when they have the same weights: what LIKE compares.
    #[inline]
    pub(super) fn weight_class(&self, point: u32) -> u64 {
        if let Some(&weight) = self.ascii.get(point as usize) {
            return u64::from(weight) << 48;
        }
        let pending = self.weights_of(point);
        match pending.pool {
            [] => u64::from(pending.next) << 48 | u64::from(pending.after) << 32,
            pool if pool.len() <= 8 => {
                let weights = pool.chunks_exact(2).map(|w| u64::from(u16_at(w, 0)));
                weights.zip([48, 32, 16, 0]).map(|(weight, shift)| weight << shift).sum()
            }
            // Longer ones are in the pool once, and no character begins with a weight as large as this.
            _ => u64::MAX << 48 | u64::from(self.entry(point)),
        }
    }
}

/// Weights that are still to come.
#[derive(Clone, Copy)]
struct Pending {
    /// Zero: none.
    next: u16,
    after: u16,
    pool: &'static [u8],
}

impl Pending {
    const NONE: Self = Pending { next: 0, after: 0, pool: &[] };

    fn one(weight: u16) -> Self {
        Pending { next: weight, after: 0, pool: &[] }
    }

    #[inline]
    fn take(&mut self) -> Option<u16> {
        if self.next != 0 {
            let weight = self.next;
            (self.next, self.after) = (self.after, 0);
            return Some(weight);
        }
        let (weight, rest) = self.pool.split_first_chunk()?;
        self.pool = rest;
        Some(u16::from_le_bytes(*weight))
    }
}

/// The weights of a string.
struct WeightsOf<'a> {
    table: &'static Table,
    rest: &'a [u8],
    pending: Pending,
}

impl WeightsOf<'_> {
    #[inline]
    fn next(&mut self) -> Option<u16> {
        loop {
            if let Some(weight) = self.pending.take() {
                return Some(weight);
            }
            match *self.rest {
                [] => return None,
                [byte @ 0..0x80, ref rest @ ..] => {
                    self.rest = rest;
                    self.pending.next = self.table.ascii[usize::from(byte)];
                }
                _ => {
                    let (point, len) = utf8::decode(self.rest);
                    self.rest = &self.rest[len..];
                    self.pending = self.table.weights_of(point);
                }
            }
        }
    }
}

/// The two weights of a character that is not listed, made of its number.
fn implicit(point: u32) -> (u16, u16) {
    let base = match point {
        0x3400..=0x4DB5 => 0xFB80,
        0x4E00..=0x9FA5 => 0xFB40,
        _ => 0xFBC0,
    };
    (base + (point >> 15) as u16, (point & 0x7FFF) as u16 | IMPLICIT_FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_ordered_and_have_no_end_inside() {
        for table in [&UCA_400, &UCA_520] {
            let weights = (table.space + 1..=table.last_explicit).chain(IMPLICIT_FIRST..=u16::MAX);
            let mut before = vec![byte_key::HIGH_SPACE];
            for weight in weights {
                let mut code = Vec::new();
                table.push_code(weight, &mut code);
                assert!(before < code && !code.contains(&byte_key::PAD_SPACE_END), "weight {weight:x}");
                before = code;
            }
        }
    }

    #[test]
    fn only_letters_share_weights_among_ascii_characters() {
        for table in [&UCA_400, &UCA_520] {
            for (a, &weight) in (0..128_u8).zip(&table.ascii).filter(|(_, weight)| **weight != 0) {
                let same = (0..128_u8).zip(&table.ascii).filter(|(_, other)| **other == weight);
                assert!(same.clone().all(|(b, _)| b.eq_ignore_ascii_case(&a)), "{a:x}");
                assert_eq!(same.count(), if a.is_ascii_alphabetic() { 2 } else { 1 });
            }
        }
    }
}
