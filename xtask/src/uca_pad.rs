//! The weight tables of `utf8mb4_unicode_ci` (UCA 4.0.0) and `utf8mb4_unicode_520_ci` (UCA 5.2.0), laid out
//! as `collation/uca_pad.rs` documents.
//!
//! What is kept is what MySQL's collations weigh: primary weights alone, variable elements as any other, no
//! contractions, at most eight weights a character, and of version 4.0.0 the basic plane.

use std::collections::BTreeMap;
use std::fs;

use crate::uca::{Failure, Weights};

/// Code points per page of the table.
const PAGE: usize = 256;
/// Entry of a code point without an explicit weight.
const IMPLICIT: u16 = 0xFFFF;
/// Entries from here on are offsets in the pool; single weights are below.
const POOLED: u16 = 0x8000;

/// The character with the most weights, which MySQL's collations of version 4.0.0 take for one that is not
/// listed.
const WEIGHTIEST: u32 = 0xFDFA;

/// Writes the table of `version`.
pub(crate) fn write(version: &str, mut weights: Weights, out: Option<&str>) -> Result<(), Failure> {
    let (magic, file) = match version {
        "4.0.0" => (b"UCA4.0.0", "crates/types/src/collation/uca400.bin"),
        "5.2.0" => (b"UCA5.2.0", "crates/types/src/collation/uca520.bin"),
        _ => return Err("uca: versions are 4.0.0, 5.2.0 and 9.0.0".into()),
    };
    if version == "4.0.0" {
        weights.retain(|point, _| *point <= 0xFFFF && *point != WEIGHTIEST);
    }
    let table = build(magic, &weights)?;
    let out = out.unwrap_or(file);
    fs::write(out, &table)?;
    println!("{out}: {} bytes, {} characters", table.len(), weights.len());
    Ok(())
}

/// Lays the table out: header, page index, pages, pool.
fn build(magic: &[u8; 8], weights: &Weights) -> Result<Vec<u8>, Failure> {
    let last = *weights.keys().next_back().ok_or("uca: no entries")? as usize;
    let mut index = vec![0_u16; last / PAGE + 1];
    let mut pages: Vec<[u16; PAGE]> = vec![[IMPLICIT; PAGE]];
    let (mut pool, mut places) = (Vec::new(), BTreeMap::new());
    for (&point, primaries) in weights {
        let slot = &mut index[point as usize / PAGE];
        if *slot == 0 {
            *slot = u16::try_from(pages.len())?;
            pages.push([IMPLICIT; PAGE]);
        }
        pages[usize::from(*slot)][point as usize % PAGE] = match primaries[..] {
            [] => 0,
            [weight] if weight < POOLED => weight,
            _ => {
                let place = *places.entry(primaries).or_insert_with(|| {
                    let place = pool.len();
                    pool.push(primaries.len() as u16);
                    pool.extend(primaries);
                    place
                });
                let place = u16::try_from(place).ok().filter(|place| *place < IMPLICIT - POOLED);
                POOLED + place.ok_or("uca: pool full")?
            }
        };
    }
    let last_explicit = weights.values().flatten().copied().filter(|weight| *weight < POOLED).max();
    let numbers = [index.len(), pages.len(), pool.len(), usize::from(last_explicit.unwrap_or(0))];
    let mut table = magic.to_vec();
    for number in numbers {
        table.extend(u16::try_from(number)?.to_le_bytes());
    }
    table.extend(index.iter().flat_map(|entry| entry.to_le_bytes()));
    table.extend(pages.iter().flatten().flat_map(|entry| entry.to_le_bytes()));
    table.extend(pool.iter().flat_map(|word| word.to_le_bytes()));
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_weights_stand_in_pages_and_others_in_the_pool_once() {
        let weights = Weights::from([
            (0x61, vec![0x0E33]),
            (0xE6, vec![0x0E33, 0x0E8B]),
            (0x1E6, vec![0x0E33, 0x0E8B]),
            (0x300, vec![]),
        ]);
        let table = build(b"UCA4.0.0", &weights).unwrap();
        let word = |at: usize| u16::from_le_bytes([table[at], table[at + 1]]);
        assert_eq!([8, 10, 12, 14].map(word), [4, 4, 3, 0x0E8B]);
        assert_eq!([16, 18, 20, 22].map(word), [1, 2, 0, 3]);
        let entry =
            |point: usize| word(24 + 2 * (usize::from(word(16 + 2 * (point >> 8))) * PAGE + (point & 0xFF)));
        assert_eq!([0x61, 0xE6, 0x1E6, 0x300, 0x62].map(entry), [0x0E33, POOLED, POOLED, 0, IMPLICIT]);
        let pool = table.len() - 6;
        assert_eq!([pool, pool + 2, pool + 4].map(word), [2, 0x0E33, 0x0E8B]);
    }
}
