//! `cargo xtask uca`: builds weight tables of collations from Unicode's collation element tables.
//!
//! `--version 4.0.0` and `5.2.0`: see [`crate::uca_pad`]. Else the table of `utf8mb4_0900_ai_ci`. Input:
//! `allkeys.txt` of UCA 9.0.0 (plain text). Output: `crates/types/src/collation/uca900.bin`, laid out as
//! `collation/uca900.rs` documents. Only primary weights are kept, variable elements weigh as any other,
//! contractions are left out and a character has at most eight weights: this is what MySQL's collation does.
//!
//! Weights are stored as *codes*: prefix-free, order-preserving byte strings without zero bytes. Weights of
//! ASCII characters and the leading weights of Han blocks get one byte, other assigned weights two, the rest
//! three.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Code points per page of the table.
const PAGE: usize = 128;
/// Table entry of a code point without an explicit weight.
const IMPLICIT: u16 = 0xFFFF;
/// Most weights MySQL keeps of one character (U+FDFA has eighteen in the source).
const WEIGHTS_MAX: usize = 8;
/// Leading implicit weights of the Han blocks, worth a code of one byte.
const HAN_LEADS: [u16; 5] = [0xFB40, 0xFB41, 0xFB80, 0xFB84, 0xFB85];
/// First code point after the last explicit primary weight of UCA 9.0.0, and the last before the implicit
/// ones.
const UNUSED_WEIGHTS: (u32, u32) = (0x54A4, 0xFB3F);
/// Values of a code's second and third byte: 1..=255.
const TAILS: u32 = 255;

pub(crate) type Failure = Box<dyn std::error::Error>;
/// Primary weights by code point.
pub(crate) type Weights = BTreeMap<u32, Vec<u16>>;

/// Runs the subcommand: `--allkeys PATH`, `--out PATH`, optionally `--version V`, `--conformance PATH`.
pub(crate) fn run(args: &[&str]) -> Result<(), Failure> {
    let option = |name: &str| args.iter().position(|a| *a == name).and_then(|i| args.get(i + 1)).copied();
    let allkeys = option("--allkeys").ok_or("uca: --allkeys PATH is required")?;
    let (weights, contractions) = parse_allkeys(&fs::read_to_string(allkeys)?)?;
    if let Some(version) = option("--version").filter(|version| *version != "9.0.0") {
        return crate::uca_pad::write(version, weights, option("--out"));
    }
    let out = option("--out").unwrap_or("crates/types/src/collation/uca900.bin");
    let codes = Codes::assign(&weights)?;
    let table = build_table(&weights, &codes)?;
    fs::write(out, &table)?;
    println!("{out}: {} bytes, {} characters, {} leads", table.len(), weights.len(), codes.leads.len());
    if let Some(path) = option("--conformance") {
        let (pairs, skipped, wrong) = check_conformance(&fs::read_to_string(path)?, &contractions, &weights)?;
        println!("{path}: {pairs} pairs in order, {skipped} skipped, {wrong} out of order");
        if wrong > 0 {
            return Err("uca: the conformance test fails".into());
        }
    }
    Ok(())
}

/// Primary weights by code point, an ignorable character having none, and the sequences listed as
/// contractions.
fn parse_allkeys(text: &str) -> Result<(Weights, Vec<Vec<u32>>), Failure> {
    let mut weights = BTreeMap::new();
    let mut contractions = Vec::new();
    for line in text.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_hexdigit())) {
        let (points, elements) = line.split_once(';').ok_or("uca: a line without a semicolon")?;
        let points = parse_points(points)?;
        if points.len() > 1 {
            contractions.push(points);
            continue;
        }
        let elements = elements.split('#').next().unwrap_or_default();
        let mut primaries = Vec::new();
        for element in elements.split('[').skip(1) {
            let primary = u16::from_str_radix(element.get(1..5).ok_or("uca: short element")?, 16)?;
            if primary != 0 && primaries.len() < WEIGHTS_MAX {
                primaries.push(primary);
            }
        }
        weights.insert(points[0], primaries);
    }
    Ok((weights, contractions))
}

fn parse_points(text: &str) -> Result<Vec<u32>, Failure> {
    Ok(text.split_whitespace().map(|p| u32::from_str_radix(p, 16)).collect::<Result<_, _>>()?)
}

/// One leading byte of a code.
struct Lead {
    /// Weight of the first code with this leading byte.
    first_weight: u16,
    /// Bytes of a code with this leading byte: 1, 2 or 3.
    len: u8,
}

/// The code of every weight. `leads[i]` describes leading byte `i`; byte 0 is the end of a key and leads no
/// code.
struct Codes {
    leads: Vec<Lead>,
}

impl Codes {
    fn assign(weights: &Weights) -> Result<Self, Failure> {
        let mut short: BTreeSet<u16> = HAN_LEADS.into_iter().collect();
        for point in 0..0x80 {
            short.extend(weights.get(&point).into_iter().flatten());
        }
        let mut codes = Codes { leads: vec![Lead { first_weight: 0, len: 1 }] };
        let mut next = 1_u32;
        for weight in short {
            codes.cover(next, u32::from(weight) - 1);
            codes.leads.push(Lead { first_weight: weight, len: 1 });
            next = u32::from(weight) + 1;
        }
        codes.cover(next, 0xFFFF);
        if codes.leads.len() > 0xF0 {
            return Err("uca: too many leading bytes".into());
        }
        Ok(codes)
    }

    /// Gives leading bytes to the weights `first..=last`.
    fn cover(&mut self, first: u32, last: u32) {
        let (unused, unused_end) = UNUSED_WEIGHTS;
        if first < unused && last >= unused_end {
            self.cover(first, unused - 1);
            self.leads.push(Lead { first_weight: unused as u16, len: 3 });
            return self.cover(unused_end + 1, last);
        }
        let mut next = first;
        while next <= last {
            self.leads.push(Lead { first_weight: next as u16, len: 2 });
            next += TAILS;
        }
    }

    fn encode(&self, weight: u16, out: &mut Vec<u8>) {
        let at = self.leads.partition_point(|l| l.first_weight <= weight) - 1;
        let rest = u32::from(weight - self.leads[at].first_weight);
        out.push(at as u8);
        match self.leads[at].len {
            1 => assert_eq!(rest, 0, "a weight of its own has one code"),
            2 => out.push((rest + 1) as u8),
            _ => out.extend([(rest / TAILS + 1) as u8, (rest % TAILS + 1) as u8]),
        }
    }
}

/// Lays the table out: header, leading bytes, page index, pages, pool of longer codes.
fn build_table(weights: &Weights, codes: &Codes) -> Result<Vec<u8>, Failure> {
    let last = *weights.keys().next_back().ok_or("uca: no entries")? as usize;
    let pool_base = (codes.leads.len() as u16) << 8;
    let mut pool = Pool::default();
    let mut pages: Vec<[u16; PAGE]> = vec![[IMPLICIT; PAGE]];
    let mut index = vec![0_u16; last / PAGE + 1];
    for (&point, primaries) in weights {
        let slot = &mut index[point as usize / PAGE];
        if *slot == 0 {
            *slot = pages.len() as u16;
            pages.push([IMPLICIT; PAGE]);
        }
        let mut code = Vec::new();
        for &weight in primaries {
            codes.encode(weight, &mut code);
        }
        pages[*slot as usize][point as usize % PAGE] = match *code.as_slice() {
            [] => 0,
            [lead] => u16::from(lead) << 8,
            [lead, tail] if codes.leads[lead as usize].len == 2 => u16::from_be_bytes([lead, tail]),
            _ => {
                let offset = pool.intern(code);
                u16::try_from(u32::from(pool_base) + offset)
                    .ok()
                    .filter(|&e| e < IMPLICIT)
                    .ok_or("uca: pool full")?
            }
        };
    }
    let mut table = Vec::new();
    table.extend(b"UCA9.0.0");
    table.extend((index.len() as u16).to_le_bytes());
    table.extend((pages.len() as u16).to_le_bytes());
    table.extend((pool.bytes.len() as u16).to_le_bytes());
    table.extend((codes.leads.len() as u16).to_le_bytes());
    table.extend(codes.leads.iter().flat_map(|l| l.first_weight.to_le_bytes()));
    table.extend(codes.leads.iter().map(|l| l.len));
    table.extend(index.iter().flat_map(|e| e.to_le_bytes()));
    table.extend(pages.iter().flatten().flat_map(|e| e.to_le_bytes()));
    table.extend(pool.bytes);
    Ok(table)
}

/// Codes too long for a table entry, each once, after their length, at even offsets.
#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    offsets: BTreeMap<Vec<u8>, u32>,
}

impl Pool {
    fn intern(&mut self, code: Vec<u8>) -> u32 {
        if let Some(&offset) = self.offsets.get(&code) {
            return offset;
        }
        self.bytes.resize(self.bytes.len().next_multiple_of(2), 0);
        let offset = self.bytes.len() as u32 / 2;
        self.bytes.push(code.len() as u8);
        self.bytes.extend(&code);
        self.offsets.insert(code, offset);
        offset
    }
}

/// Reads a conformance test, strings in ascending order, and counts (neighbours in order, lines skipped
/// because they hold a contraction or more weights than are kept, neighbours out of order), by primary
/// weights alone.
fn check_conformance(
    text: &str,
    contractions: &[Vec<u32>],
    weights: &Weights,
) -> Result<(usize, usize, usize), Failure> {
    let mut by_first: BTreeMap<u32, Vec<&[u32]>> = BTreeMap::new();
    for contraction in contractions {
        by_first.entry(contraction[0]).or_default().push(&contraction[1..]);
    }
    let (mut in_order, mut skipped, mut wrong) = (0, 0, 0);
    let mut previous = Vec::new();
    for line in text.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_hexdigit())) {
        let points = parse_points(line.split([';', '#']).next().unwrap_or_default())?;
        if has_contraction(&points, &by_first) {
            skipped += 1;
            continue;
        }
        let key: Vec<u16> = points.iter().flat_map(|&p| character_weights(p, weights)).collect();
        if key < previous {
            wrong += 1;
        } else {
            in_order += 1;
        }
        previous = key;
    }
    Ok((in_order, skipped, wrong))
}

/// Whether all characters of some contraction occur, in an order that normalisation may change.
fn has_contraction(points: &[u32], by_first: &BTreeMap<u32, Vec<&[u32]>>) -> bool {
    points.iter().any(|point| {
        by_first
            .get(point)
            .is_some_and(|tails| tails.iter().any(|tail| tail.iter().all(|p| points.contains(p))))
    })
}

/// Explicit weights, those of a Hangul syllable's letters, or implicit ones.
fn character_weights(point: u32, weights: &Weights) -> Vec<u16> {
    if let Some(explicit) = weights.get(&point) {
        return explicit.clone();
    }
    let rest = (point & 0x7FFF) as u16 | 0x8000;
    match point {
        0xAC00..=0xD7A3 => {
            let syllable = point - 0xAC00;
            let tail = (!syllable.is_multiple_of(28)).then_some(0x11A7 + syllable % 28);
            let letters = [Some(0x1100 + syllable / 588), Some(0x1161 + syllable % 588 / 28), tail];
            letters.into_iter().flatten().flat_map(|letter| weights[&letter].clone()).collect()
        }
        0x17000..=0x18AFF => vec![0xFB00, (point - 0x17000) as u16 | 0x8000],
        0x4E00..=0x9FD5
        | 0xFA0E..=0xFA0F
        | 0xFA11
        | 0xFA13..=0xFA14
        | 0xFA1F
        | 0xFA21
        | 0xFA23..=0xFA24
        | 0xFA27..=0xFA29 => vec![0xFB40 + (point >> 15) as u16, rest],
        0x3400..=0x4DB5 | 0x20000..=0x2A6D6 | 0x2A700..=0x2B734 | 0x2B740..=0x2B81D | 0x2B820..=0x2CEA1 => {
            vec![0xFB80 + (point >> 15) as u16, rest]
        }
        _ => vec![0xFBC0 + (point >> 15) as u16, rest],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "@version 9.0.0\n\
        0300  ; [.0000.0025.0002] # COMBINING GRAVE ACCENT\n\
        0061  ; [.1C47.0020.0002] # LATIN SMALL LETTER A\n\
        0062  ; [.1C60.0020.0002] # LATIN SMALL LETTER B\n\
        00E6  ; [.1CAA.0020.0004][.0000.0110.0004][.1C60.0020.0004] # two weights\n\
        004C 00B7 ; [.1D77.0020.0008] # a contraction\n";

    #[test]
    fn primary_weights_are_read_without_contractions() {
        let (weights, contractions) = parse_allkeys(SAMPLE).unwrap();
        let expected =
            [(0x61, vec![0x1C47]), (0x62, vec![0x1C60]), (0xE6, vec![0x1CAA, 0x1C60]), (0x300, vec![])];
        assert_eq!(weights, Weights::from(expected));
        assert_eq!(contractions, [[0x4C, 0xB7]]);
    }

    #[test]
    fn ascii_weights_have_codes_of_one_byte_and_codes_keep_the_order() {
        let (weights, _) = parse_allkeys(SAMPLE).unwrap();
        let codes = Codes::assign(&weights).unwrap();
        let code = |weight| {
            let mut code = Vec::new();
            codes.encode(weight, &mut code);
            code
        };
        assert_eq!((code(0x1C47).len(), code(0x1C60).len(), code(0x1C48).len()), (1, 1, 2));
        let all: Vec<_> = (0x201..=0xFFFF).map(code).collect();
        assert!(all.is_sorted() && all.iter().flatten().all(|&b| b != 0));
    }
}
