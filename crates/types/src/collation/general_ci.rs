//! `utf8mb4_general_ci`: one weight per character, mostly its capital letter without marks.
//!
//! Weights are code points of the basic plane; characters beyond it all weigh [`SUPPLEMENTARY`]. A sort key
//! is that of `utf8mb4_bin` for the string of the weights.

use std::cmp::Ordering;

use super::eight_bit::common_prefix;
use super::work::Work;
use super::{byte_key, general_ci_runs::RUNS, utf8};

/// Weight of a character beyond the basic plane.
const SUPPLEMENTARY: u16 = 0xFFFD;
const SPACE: u16 = 0x20;
/// Code points per page of the table, and pages with a character that does not weigh its own number.
const PAGE: usize = 256;
const PAGES: usize = 11;

/// Page number by high byte of the code point, 0xFF where every character weighs its own number.
const PAGE_OF: [u8; 256] = {
    let mut page_of = [0xFF; 256];
    let mut used = 0;
    let mut run = 0;
    while run < RUNS.len() {
        let (first, count, step, _, _) = RUNS[run];
        let last = first as usize + (count as usize - 1) * step as usize;
        let mut high = first as usize / PAGE;
        while high <= last / PAGE {
            if page_of[high] == 0xFF {
                page_of[high] = used;
                used += 1;
            }
            high += 1;
        }
        run += 1;
    }
    assert!(used as usize == PAGES);
    page_of
};

static WEIGHTS: [[u16; PAGE]; PAGES] = {
    let mut weights = [[0; PAGE]; PAGES];
    let mut point = 0;
    while point < 0x10000 {
        if PAGE_OF[point / PAGE] != 0xFF {
            weights[PAGE_OF[point / PAGE] as usize][point % PAGE] = point as u16;
        }
        point += 1;
    }
    let mut run = 0;
    while run < RUNS.len() {
        let (first, count, step, same, weight) = RUNS[run];
        let mut i = 0;
        while i < count as usize {
            let at = first as usize + i * step as usize;
            let growth = if same == 1 { 0 } else { i * step as usize };
            weights[PAGE_OF[at / PAGE] as usize][at % PAGE] = weight + growth as u16;
            i += 1;
        }
        run += 1;
    }
    weights
};
static PAGE_OF_HIGH_BYTE: [u8; 256] = PAGE_OF;

/// Weight of the character at `point`.
#[inline]
pub(super) fn weight(point: u32) -> u16 {
    if point < 0x80 {
        return u16::from((point as u8).to_ascii_uppercase());
    }
    let Some(&page) = PAGE_OF_HIGH_BYTE.get(point as usize / PAGE) else { return SUPPLEMENTARY };
    match WEIGHTS.get(page as usize) {
        Some(weights) => weights[point as usize % PAGE],
        None => point as u16,
    }
}

/// Order by weights, the shorter string being followed by spaces.
pub(super) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let mut at = common_prefix(a, b);
    let mut work = Work::default();
    while let (Some(&x), Some(&y)) = (a.get(at), b.get(at)) {
        if (x | y) >= 0x80 {
            return compare_characters(a, b, at);
        }
        let (x, y) = (x.to_ascii_uppercase(), y.to_ascii_uppercase());
        if x != y {
            return x.cmp(&y);
        }
        at += 1;
        if work.ends(1) {
            return Ordering::Equal;
        }
    }
    compare_characters(a, b, at)
}

/// Order of strings equal up to byte `at`, which may be inside a character.
fn compare_characters(a: &[u8], b: &[u8], mut at: usize) -> Ordering {
    let is_tail = |s: &[u8], at: usize| s.get(at).is_some_and(|b| b & 0xC0 == 0x80);
    while at > 0 && (is_tail(a, at) || is_tail(b, at)) {
        at -= 1;
    }
    let (mut a, mut b) = (&a[at..], &b[at..]);
    let mut work = Work::default();
    loop {
        if (a.is_empty() && b.is_empty()) || work.ends(1) {
            return Ordering::Equal;
        }
        let (x, y) = (next_weight(&mut a), next_weight(&mut b));
        if x != y {
            return x.cmp(&y);
        }
    }
}

/// Whether the characters at the beginning of `text` have the weights of `start`.
pub(super) fn starts_with(mut text: &[u8], mut start: &[u8]) -> bool {
    let mut work = Work::default();
    while !start.is_empty() && !work.ends(1) {
        if text.is_empty() || next_weight(&mut text) != next_weight(&mut start) {
            return false;
        }
    }
    true
}

/// Weight of the first character, which is taken off; that of a space at the end.
#[inline]
fn next_weight(rest: &mut &[u8]) -> u16 {
    if rest.is_empty() {
        return SPACE;
    }
    let (point, len) = utf8::decode(rest);
    *rest = &rest[len..];
    weight(point)
}

/// Appends the PAD SPACE key of the weights.
pub(super) fn append_key(bytes: &[u8], out: &mut Vec<u8>) {
    let bytes = byte_key::trim_spaces(bytes);
    out.reserve(bytes.len() + 1);
    if bytes.iter().fold(false, |found, &b| found | !(0x20..0x80).contains(&b)) {
        append_characters_key(bytes, out);
    } else {
        out.extend(bytes.iter().map(u8::to_ascii_uppercase));
    }
    out.push(byte_key::PAD_SPACE_END);
}

fn append_characters_key(bytes: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    let mut work = Work::default();
    while at < bytes.len() && !work.ends(1) {
        let ascii = bytes[at..].iter().position(|&b| b >= 0x80).map_or(bytes.len(), |n| at + n);
        // A run of spaces is weighed by what follows it: it goes with the next character.
        let part = byte_key::trim_spaces(&bytes[at..ascii]);
        byte_key::append_pad_space_escaped(part, |b| b.to_ascii_uppercase(), out);
        out.resize(out.len() + ascii - at - part.len(), byte_key::HIGH_SPACE);
        at = ascii;
        while at < bytes.len() && bytes[at] >= 0x80 && !work.ends(1) {
            let (point, len) = utf8::decode(&bytes[at..]);
            utf8::encode(u32::from(weight(point)), out);
            at += len;
        }
    }
}

/// Appends each weight as two big-endian bytes.
pub(super) fn append_weights(mut bytes: &[u8], out: &mut Vec<u8>) {
    while !bytes.is_empty() {
        out.extend(next_weight(&mut bytes).to_be_bytes());
    }
}

/// Appends each code point as three big-endian bytes.
pub(super) fn append_points(mut bytes: &[u8], out: &mut Vec<u8>) {
    while !bytes.is_empty() {
        let (point, len) = utf8::decode(bytes);
        out.extend(&point.to_be_bytes()[1..]);
        bytes = &bytes[len..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ascii_weighs_as_ascii_controls_and_the_space() {
        for point in 0..0x10000 {
            assert!(point < 0x80 || weight(point) > SPACE);
            assert!(point > 0x20 || u32::from(weight(point)) == point);
        }
    }

    #[test]
    fn letters_weigh_as_their_bare_capitals() {
        for (text, bare) in [
            ("\u{e9}", 'E'),
            ("\u{df}", 'S'),
            ("\u{17d}", 'Z'),
            ("\u{3b1}", '\u{391}'),
            ("\u{1f600}", '\u{fffd}'),
        ] {
            let (point, _) = utf8::decode(text.as_bytes());
            assert_eq!(u32::from(weight(point)), u32::from(bare), "{text}");
        }
    }
}
