//! Text that is read back from its sort key.
//!
//! Under `utf8mb4_0900_ai_ci` printable ASCII characters have a code of one byte each, which the two cases of
//! a letter share. So the key of such text, and one bit per character for its case, stand for the text. The
//! bits are in bytes, the first character's lowest; zero bytes at their end are left out, all of them where
//! no letter is a capital.

use super::uca900::SINGLE;

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGH_BITS: u64 = ONES << 7;
/// The bit that small letters have and capitals lack.
const SMALL: u8 = b'a' - b'A';
const FIRST_PRINTABLE: u8 = b' ';
const LAST_PRINTABLE: u8 = b'~';

/// By code: its character, of letters the small one. Other bytes, which keys of such text have not, stand for
/// some character as well.
static CHARACTERS: [u8; 256] = {
    let mut characters = [b'?'; 256];
    let mut byte = FIRST_PRINTABLE;
    while byte <= LAST_PRINTABLE {
        characters[SINGLE[byte as usize] as usize] = byte.to_ascii_lowercase();
        byte += 1;
    }
    let mut byte = FIRST_PRINTABLE;
    while byte <= LAST_PRINTABLE {
        let code = SINGLE[byte as usize];
        assert!(code != 0 && characters[code as usize] == byte.to_ascii_lowercase());
        byte += 1;
    }
    characters
};

/// [`CHARACTERS`] of inverted codes.
static TURNED: [u8; 256] = {
    let mut characters = [0; 256];
    let mut code = 0;
    while code < 256 {
        characters[255 - code] = CHARACTERS[code];
        code += 1;
    }
    characters
};

/// Appends the case of `text`. False: it is not all printable ASCII, and nothing was appended. Cost: about 12
/// instructions per eight characters, twice that where there are capitals.
#[inline]
pub(crate) fn append(text: &[u8], out: &mut Vec<u8>) -> bool {
    let mut seen = Marks::default();
    for eight in text.as_chunks::<8>().0 {
        seen.add(*eight);
    }
    // The last characters, some of them once more if there are others before.
    seen.add(text.last_chunk().copied().unwrap_or_else(|| eight_of(text)));
    if seen.strange & HIGH_BITS != 0 {
        return false;
    }
    if seen.capitals & HIGH_BITS != 0 {
        append_capitals(text, out);
    }
    true
}

fn append_capitals(text: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend(text.chunks(8).map(|eight| Marks::of(eight_of(eight)).capital_bits()));
    let used = out[start..].iter().rposition(|&bits| bits != 0).map_or(0, |last| last + 1);
    out.truncate(start + used);
}

/// The first eight characters of `text`, spaces after its end.
#[inline]
fn eight_of(text: &[u8]) -> [u8; 8] {
    text.first_chunk().copied().unwrap_or_else(|| {
        let mut eight = [FIRST_PRINTABLE; 8];
        eight[..text.len()].copy_from_slice(text);
        eight
    })
}

/// What eight characters, or each of many eights, hold: in the highest bit of each byte.
#[derive(Clone, Copy, Default)]
struct Marks {
    /// Something else than printable ASCII. The marks of characters beside it mean nothing.
    strange: u64,
    capitals: u64,
}

impl Marks {
    #[inline(always)]
    fn of(eight: [u8; 8]) -> Marks {
        let eight = u64::from_le_bytes(eight);
        // Of ASCII characters, whose highest bits take no carry from below: whether each is at least, or
        // above, one.
        let at_least = |least: u8| (eight | HIGH_BITS).wrapping_sub(ONES * u64::from(least));
        let above = |most: u8| eight.wrapping_add(ONES * u64::from(0x7F - most));
        Marks {
            strange: eight | above(LAST_PRINTABLE) | !at_least(FIRST_PRINTABLE),
            capitals: at_least(b'A') & !above(b'Z'),
        }
    }

    #[inline(always)]
    fn add(&mut self, eight: [u8; 8]) {
        let marks = Marks::of(eight);
        self.strange |= marks.strange;
        self.capitals |= marks.capitals;
    }

    /// A bit for each character, the first's lowest.
    #[inline(always)]
    fn capital_bits(self) -> u8 {
        // Brings the bit of the byte at `i` to bit 56 + i.
        (((self.capitals & HIGH_BITS) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
    }
}

/// Makes the characters of codes, letters small. `mask`: what the key's bytes are XORed with. Other bytes
/// become some ASCII characters as well. Cost: two loads and a store per character.
#[inline]
pub(crate) fn read_small(codes: &mut [u8], mask: u8) {
    let characters = if mask == 0 { &CHARACTERS } else { &TURNED };
    let (eights, rest) = codes.as_chunks_mut::<8>();
    for eight in eights {
        for code in eight {
            *code = characters[usize::from(*code)];
        }
    }
    for code in rest {
        *code = characters[usize::from(*code)];
    }
}

/// Makes capitals of the letters that `case` says, which [`append`] made; of other characters, some ASCII
/// ones. Cost: a few instructions per byte of `case`.
#[inline]
pub fn capitalise(text: &mut [u8], case: &[u8]) {
    if case.is_empty() {
        return;
    }
    let (eights, rest) = text.as_chunks_mut::<8>();
    for (eight, &bits) in eights.iter_mut().zip(case) {
        *eight = (u64::from_le_bytes(*eight) & !small_bits(bits)).to_le_bytes();
    }
    if let Some(&bits) = case.get(eights.len()) {
        for (letter, bits) in rest.iter_mut().zip(small_bits(bits).to_le_bytes()) {
            *letter &= !bits;
        }
    }
}

/// [`SMALL`] in the bytes whose bit is set.
#[inline]
fn small_bits(bits: u8) -> u64 {
    // Bit i alone is left in byte i, then moved to the byte's highest.
    let one_each = u64::from(bits).wrapping_mul(ONES) & 0x8040_2010_0804_0201;
    let high = ((one_each + (HIGH_BITS - ONES)) | one_each) & HIGH_BITS;
    high >> (7 - SMALL.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CollationId;
    use base::prng::Prng;

    /// One character after the other.
    fn plain_case(text: &[u8]) -> Option<Vec<u8>> {
        if !text.iter().all(|byte| (b' '..=b'~').contains(byte)) {
            return None;
        }
        let mut case = vec![0; text.len().div_ceil(8)];
        for (at, _) in text.iter().enumerate().filter(|(_, byte)| byte.is_ascii_uppercase()) {
            case[at / 8] |= 1 << (at % 8);
        }
        while case.last() == Some(&0) {
            case.pop();
        }
        Some(case)
    }

    #[test]
    fn key_and_case_give_the_text_back() {
        let collation = CollationId::UTF8MB4_0900_AI_CI.collation().unwrap();
        let mut prng = Prng::new(7);
        let (mut read_back, mut refused) = (0, 0);
        for round in 0..20_000_u64 {
            let text: Vec<u8> = (0..prng.below(40))
                .map(|_| match round % 4 {
                    0 => b'a' + prng.below(26) as u8,
                    1 => b' ' + prng.below(95) as u8,
                    2 => b'A' + prng.below(58) as u8,
                    _ => prng.below(if round % 8 == 3 { 129 } else { 256 }) as u8,
                })
                .collect();
            let mut case = vec![1, 2, 3];
            let is_kept = append(&text, &mut case);
            assert_eq!(is_kept.then(|| case[3..].to_vec()), plain_case(&text), "{text:?}");
            assert_eq!(case[..3], [1, 2, 3]);
            if !is_kept {
                refused += 1;
                continue;
            }
            for mask in [0, 0xFF] {
                let mut key = Vec::new();
                collation.sort_key(&text, &mut key);
                assert_eq!(key.pop(), Some(0));
                for byte in &mut key {
                    *byte ^= mask;
                }
                let mut out = key.clone();
                read_small(&mut out, mask);
                capitalise(&mut out, &case[3..]);
                assert_eq!(out, text);
            }
            read_back += 1;
        }
        assert!(read_back > 10_000 && refused > 4000, "{read_back} read back, {refused} refused");
    }

    #[test]
    fn damaged_codes_and_cases_give_ascii() {
        let mut prng = Prng::new(11);
        for _ in 0..2000 {
            let mut random = |len: u64| (0..prng.below(len)).map(|_| 0).collect::<Vec<u8>>();
            let (mut codes, mut case) = (random(20), random(6));
            for byte in codes.iter_mut().chain(&mut case) {
                *byte = prng.below(256) as u8;
            }
            read_small(&mut codes, if prng.below(2) == 0 { 0 } else { 0xFF });
            capitalise(&mut codes, &case);
            assert!(codes.is_ascii());
        }
    }
}
