//! The collations there are.

use std::cmp::Ordering;

use super::eight_bit::{ASCII_GENERAL_CI, LATIN1_SWEDISH_CI};
use super::{Charset, CollationId, byte_key, eight_bit, general_ci, uca_pad, uca900};

/// What trailing spaces mean to a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadAttribute {
    /// The shorter string is compared as if spaces followed it.
    PadSpace,
    /// Spaces are characters as any other.
    NoPad,
}

impl PadAttribute {
    /// As in INFORMATION_SCHEMA.COLLATIONS.
    pub fn name(self) -> &'static str {
        match self {
            Self::PadSpace => "PAD SPACE",
            Self::NoPad => "NO PAD",
        }
    }
}

/// How weights come about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Weights {
    /// Bytes weigh what they are.
    Bytes,
    /// Each byte has a weight.
    EightBit(&'static [u8; 256]),
    /// Each character has one weight.
    GeneralCi,
    /// Primary weights of UCA 9.0.0.
    Uca900,
    /// Primary weights of an older version.
    UcaPad(&'static uca_pad::Table),
}

/// An order of the strings of one character set. Get one by [`CollationId::collation`] or
/// [`Collation::find`].
#[derive(Debug)]
pub struct Collation {
    /// MySQL's number.
    pub id: CollationId,
    /// MySQL's name.
    pub name: &'static str,
    /// Character set.
    pub charset: Charset,
    /// Whether it is the character set's default.
    pub is_default: bool,
    /// Meaning of trailing spaces.
    pub pad: PadAttribute,
    pub(super) weights: Weights,
}

impl Collation {
    /// All collations, by id.
    pub fn all() -> &'static [Self] {
        &COLLATIONS
    }

    /// The collation of this name, without regard to case. `utf8_` begins old names of those of utf8mb3.
    pub fn find(name: &str) -> Option<&'static Self> {
        let is_named = |c: &&Self| c.name.eq_ignore_ascii_case(name);
        COLLATIONS.iter().find(is_named).or_else(|| {
            let (alias, rest) = name.split_at_checked("utf8_".len())?;
            let is_named = |c: &&Self| {
                c.name.strip_prefix("utf8mb3_").is_some_and(|tail| tail.eq_ignore_ascii_case(rest))
            };
            COLLATIONS.iter().find(|c| alias.eq_ignore_ascii_case("utf8_") && is_named(c))
        })
    }

    /// Number of this version of the weights, which an index keeps: keys of another version are not
    /// comparable.
    pub fn version(&self) -> u16 {
        1
    }

    /// SORTLEN of INFORMATION_SCHEMA.COLLATIONS.
    pub fn sort_length(&self) -> u32 {
        match (self.weights, self.pad) {
            (Weights::Uca900, _) => 0,
            (Weights::UcaPad(_), _) => 8,
            _ => 1,
        }
    }

    /// Order of `a` and `b`, valid strings of the character set. No allocation. Once the thread's statement
    /// is to end ([`base::sync::interrupt`]), the answer for long strings means nothing.
    #[inline]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match (self.weights, self.pad) {
            (Weights::Bytes, PadAttribute::NoPad) => a.cmp(b),
            (Weights::Bytes, PadAttribute::PadSpace) => eight_bit::compare_bytes(a, b),
            (Weights::EightBit(map), _) => eight_bit::compare(map, a, b),
            (Weights::GeneralCi, _) => general_ci::compare(a, b),
            (Weights::Uca900, _) => uca900::compare(a, b),
            (Weights::UcaPad(table), _) => table.compare(a, b),
        }
    }

    /// Whether `a` and `b` compare equal.
    #[inline]
    pub fn equals(&self, a: &[u8], b: &[u8]) -> bool {
        a == b || (!self.is_exact() && self.compare(a, b) == Ordering::Equal)
    }

    /// Whether some beginning of `text` compares equal to `start`; an end of `text` is no blank. Once the
    /// thread's statement is to end ([`base::sync::interrupt`]), the answer for long strings means nothing.
    pub fn starts_with(&self, text: &[u8], start: &[u8]) -> bool {
        match self.weights {
            Weights::Bytes => text.starts_with(start),
            Weights::EightBit(_) => text.get(..start.len()).is_some_and(|text| self.equals(text, start)),
            Weights::GeneralCi => general_ci::starts_with(text, start),
            Weights::Uca900 => uca900::starts_with(text, start),
            Weights::UcaPad(table) => table.starts_with(text, start),
        }
    }

    /// Appends bytes whose `memcmp` order is this collation's order and whose equality is its equality. No
    /// such key is a prefix of another, and each ends in [`Collation::key_end`], which is nowhere else in it.
    /// So keys can be concatenated, skipped by `memchr`, and hashed for grouping and joining. Once the
    /// thread's statement is to end ([`base::sync::interrupt`]), the key of a long string means nothing.
    ///
    /// Cost: ASCII text takes one key byte per character plus one (see docs of [`super`]); no allocation but
    /// `out`'s.
    #[inline]
    pub fn sort_key(&self, bytes: &[u8], out: &mut Vec<u8>) {
        match (self.weights, self.pad) {
            (Weights::Bytes, PadAttribute::NoPad) => byte_key::append_no_pad(bytes, out),
            (Weights::Bytes, PadAttribute::PadSpace) => byte_key::append_pad_space(bytes, out),
            (Weights::EightBit(map), _) => eight_bit::append_key(map, bytes, out),
            (Weights::GeneralCi, _) => general_ci::append_key(bytes, out),
            (Weights::Uca900, _) => uca900::append_key(bytes, out),
            (Weights::UcaPad(table), _) => table.append_key(bytes, out),
        }
    }

    /// The last byte of every sort key, found nowhere else in it.
    #[inline]
    pub(crate) fn key_end(&self) -> u8 {
        match self.pad {
            PadAttribute::NoPad => byte_key::NO_PAD_END,
            PadAttribute::PadSpace => byte_key::PAD_SPACE_END,
        }
    }

    /// Most bytes of a sort key per character of the string.
    pub(crate) fn max_key_bytes_per_char(&self) -> usize {
        match (self.weights, self.charset) {
            (Weights::Uca900, _) => uca900::KEY_BYTES_PER_CHAR_MAX,
            (Weights::UcaPad(_), _) => uca_pad::KEY_BYTES_PER_CHAR_MAX,
            (Weights::GeneralCi, _) | (_, Charset::Utf8mb3) => 3,
            (_, Charset::Utf8mb4) => 4,
            _ => 2,
        }
    }

    /// Whether strings are equal only when they have the same bytes.
    #[inline]
    pub fn is_exact(&self) -> bool {
        matches!((self.weights, self.pad), (Weights::Bytes, PadAttribute::NoPad))
    }

    /// Whether the key of printable ASCII text and its case (`letter_case`) give the text back.
    #[inline]
    pub(crate) fn keeps_letters(&self) -> bool {
        matches!(self.weights, Weights::Uca900)
    }

    /// Whether bytes weigh what they are, so that substrings can be searched for as bytes.
    #[inline]
    pub fn is_binary(&self) -> bool {
        matches!(self.weights, Weights::Bytes)
    }

    /// Appends one byte for each byte of `bytes`, such that strings of single-byte characters are equal
    /// exactly if these bytes are. False if `bytes` holds something else, a character without a weight, or
    /// characters of several weights.
    pub fn append_folded(&self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        match self.weights {
            Weights::Bytes => out.extend_from_slice(bytes),
            Weights::EightBit(map) => out.extend(bytes.iter().map(|&b| map[b as usize])),
            Weights::GeneralCi if bytes.is_ascii() => out.extend(bytes.iter().map(u8::to_ascii_uppercase)),
            Weights::Uca900 => return uca900::append_folded(bytes, out),
            Weights::UcaPad(table) => return table.append_folded(bytes, out),
            Weights::GeneralCi => return false,
        }
        true
    }

    /// Appends the weights as MySQL's WEIGHT_STRING shows them (trailing spaces are not stripped).
    pub fn weight_string(&self, bytes: &[u8], out: &mut Vec<u8>) {
        match self.weights {
            Weights::Bytes if self.charset.is_utf8() && self.pad == PadAttribute::PadSpace => {
                general_ci::append_points(bytes, out);
            }
            Weights::Bytes => out.extend_from_slice(bytes),
            Weights::EightBit(map) => out.extend(bytes.iter().map(|&b| map[b as usize])),
            Weights::GeneralCi => general_ci::append_weights(bytes, out),
            Weights::Uca900 => uca900::append_weights(bytes, out),
            Weights::UcaPad(table) => table.append_weights(bytes, out),
        }
    }
}

impl CollationId {
    /// The collation of this number, if it is supported. Cost: two loads.
    #[inline]
    pub fn collation(self) -> Option<&'static Collation> {
        let position = *POSITIONS.get(usize::from(self.0))?;
        COLLATIONS.get(usize::from(position))
    }
}

/// Position in [`COLLATIONS`] by id, 0xFF for numbers that are not there.
static POSITIONS: [u8; 310] = {
    let mut positions = [0xFF; 310];
    let mut at = 0;
    while at < COLLATIONS.len() {
        positions[COLLATIONS[at].id.0 as usize] = at as u8;
        at += 1;
    }
    positions
};

const fn entry(
    id: CollationId,
    name: &'static str,
    charset: Charset,
    is_default: bool,
    pad: PadAttribute,
    weights: Weights,
) -> Collation {
    Collation { id, name, charset, is_default, pad, weights }
}

static COLLATIONS: [Collation; 15] = {
    use Charset::{Ascii, Binary, Latin1, Utf8mb3, Utf8mb4};
    use PadAttribute::{NoPad, PadSpace};
    use Weights::{Bytes, EightBit, GeneralCi, Uca900, UcaPad};
    use uca_pad::{UCA_400, UCA_520};
    [
        entry(
            CollationId::LATIN1_SWEDISH_CI,
            "latin1_swedish_ci",
            Latin1,
            true,
            PadSpace,
            EightBit(&LATIN1_SWEDISH_CI),
        ),
        entry(
            CollationId::ASCII_GENERAL_CI,
            "ascii_general_ci",
            Ascii,
            true,
            PadSpace,
            EightBit(&ASCII_GENERAL_CI),
        ),
        entry(CollationId::UTF8MB3_GENERAL_CI, "utf8mb3_general_ci", Utf8mb3, true, PadSpace, GeneralCi),
        entry(CollationId::UTF8MB4_GENERAL_CI, "utf8mb4_general_ci", Utf8mb4, false, PadSpace, GeneralCi),
        entry(CollationId::UTF8MB4_BIN, "utf8mb4_bin", Utf8mb4, false, PadSpace, Bytes),
        entry(CollationId::LATIN1_BIN, "latin1_bin", Latin1, false, PadSpace, Bytes),
        entry(CollationId::BINARY, "binary", Binary, true, NoPad, Bytes),
        entry(CollationId::ASCII_BIN, "ascii_bin", Ascii, false, PadSpace, Bytes),
        entry(CollationId::UTF8MB3_BIN, "utf8mb3_bin", Utf8mb3, false, PadSpace, Bytes),
        entry(
            CollationId::UTF8MB3_UNICODE_CI,
            "utf8mb3_unicode_ci",
            Utf8mb3,
            false,
            PadSpace,
            UcaPad(&UCA_400),
        ),
        entry(
            CollationId::UTF8MB3_UNICODE_520_CI,
            "utf8mb3_unicode_520_ci",
            Utf8mb3,
            false,
            PadSpace,
            UcaPad(&UCA_520),
        ),
        entry(
            CollationId::UTF8MB4_UNICODE_CI,
            "utf8mb4_unicode_ci",
            Utf8mb4,
            false,
            PadSpace,
            UcaPad(&UCA_400),
        ),
        entry(
            CollationId::UTF8MB4_UNICODE_520_CI,
            "utf8mb4_unicode_520_ci",
            Utf8mb4,
            false,
            PadSpace,
            UcaPad(&UCA_520),
        ),
        entry(CollationId::UTF8MB4_0900_AI_CI, "utf8mb4_0900_ai_ci", Utf8mb4, true, NoPad, Uca900),
        entry(CollationId::UTF8MB4_0900_BIN, "utf8mb4_0900_bin", Utf8mb4, false, NoPad, Bytes),
    ]
};
