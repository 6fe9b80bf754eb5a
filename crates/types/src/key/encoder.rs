//! Making, skipping and reading back one part of a key.

use super::{KeyColumn, integer};
use crate::collation::{Collation, PadAttribute, byte_key, letter_case};
use crate::{SqlType, TypeKind, storage};

/// Most bytes of a part that is not reversible, the byte for NULL and the end not counted.
pub(crate) const KEY_PART_BYTES_MAX: usize = 4000;

/// Whether a part of a key stands for all of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Equal parts mean equal values.
    Whole,
    /// The part was cut at [`KEY_PART_BYTES_MAX`]: equal parts need a comparison of the values.
    Cut,
}

/// How a part is made. Widths are bytes.
#[derive(Clone, Copy, Debug)]
enum Codec {
    /// A little-endian integer.
    Integer { width: u8, signed: bool },
    /// Little-endian seconds, then a little-endian fraction, both unsigned.
    Seconds { width: u8, fraction: u8 },
    /// An IEEE number.
    Float { width: u8 },
    /// Bytes, followed by zeros up to the width.
    Padded { width: u16, reversible: bool },
    /// A string.
    Text(Text),
}

#[derive(Clone, Copy, Debug)]
struct Text {
    collation: &'static Collation,
    /// Characters that count, if fewer than the column has.
    prefix: Option<u16>,
    reversible: bool,
    max_len: usize,
}

/// The code for one part of a key; made once per index by [`KeyColumn::encoder`].
#[derive(Clone, Copy, Debug)]
pub struct KeyEncoder {
    codec: Codec,
    nullable: bool,
    /// XORed to every byte: FF for a descending part.
    mask: u8,
}

impl KeyEncoder {
    pub(super) fn new(column: &KeyColumn) -> Option<Self> {
        let codec = codec_of(&column.ty, column.prefix_len)?;
        Some(KeyEncoder { codec, nullable: column.nullable, mask: if column.desc { 0xFF } else { 0 } })
    }

    /// Appends the part for a value in storage form; `None` is NULL, which only a nullable column has.
    /// Cost: no allocation but `out`'s.
    #[inline]
    pub fn append(&self, storage: Option<&[u8]>, out: &mut Vec<u8>) -> Extent {
        let Some(storage) = storage else {
            self.append_null(out);
            return Extent::Whole;
        };
        if self.nullable {
            out.push(1 ^ self.mask);
        }
        if let Codec::Integer { width, signed } = self.codec {
            debug_assert_eq!(storage.len(), usize::from(width), "width of a key column");
            integer::append(storage, signed, self.mask, out);
            return Extent::Whole;
        }
        let start = out.len();
        let extent = self.append_ascending(storage, out);
        self.turn(&mut out[start..]);
        extent
    }

    fn append_null(&self, out: &mut Vec<u8>) {
        debug_assert!(self.nullable, "NULL in a NOT NULL key column");
        out.resize(out.len() + self.fixed_len().unwrap_or(1), self.mask);
    }

    /// Inverts bytes of a descending part.
    #[inline]
    fn turn(&self, bytes: &mut [u8]) {
        if self.mask != 0 {
            for byte in bytes {
                *byte = !*byte;
            }
        }
    }

    #[inline]
    fn append_ascending(&self, storage: &[u8], out: &mut Vec<u8>) -> Extent {
        match &self.codec {
            &Codec::Integer { signed, .. } => integer::append(storage, signed, 0, out),
            &Codec::Seconds { width, .. } => {
                let (seconds, fraction) = storage.split_at(usize::from(width));
                integer::append(seconds, false, 0, out);
                integer::append(fraction, false, 0, out);
            }
            &Codec::Float { width } => {
                debug_assert_eq!(storage.len(), usize::from(width), "width of a key column");
                integer::append_float(storage, out);
            }
            &Codec::Padded { width, .. } => {
                let end = out.len() + usize::from(width);
                out.extend_from_slice(&storage[..storage.len().min(usize::from(width))]);
                out.resize(end, 0);
            }
            Codec::Text(text) => return text.append(storage, out),
        }
        Extent::Whole
    }

    /// Appends bytes that the parts of all values starting with `prefix` (storage bytes of a string) start
    /// with: with [`super::successor`] this bounds the range of `LIKE 'prefix%'`, which may hold other values
    /// as well.
    pub fn append_prefix(&self, prefix: &[u8], out: &mut Vec<u8>) {
        if self.nullable {
            out.push(1 ^ self.mask);
        }
        let start = out.len();
        if let Codec::Padded { width, .. } = self.codec {
            out.extend_from_slice(&prefix[..prefix.len().min(usize::from(width))]);
        }
        if let Codec::Text(text) = &self.codec {
            // The end, and a space run that the prefix does not show the end of, depend on what follows.
            text.append(byte_key::trim_spaces(prefix), out);
            out.pop();
        }
        self.turn(&mut out[start..]);
    }

    /// Bytes of every part, if all have the same number.
    #[inline]
    pub fn fixed_len(&self) -> Option<usize> {
        Some(usize::from(self.nullable) + self.width()?)
    }

    /// Bytes of a value of fixed width, in storage as in a key.
    #[inline]
    fn width(&self) -> Option<usize> {
        match self.codec {
            Codec::Integer { width, .. } | Codec::Float { width } => Some(usize::from(width)),
            Codec::Seconds { width, fraction } => Some(usize::from(width + fraction)),
            Codec::Padded { width, .. } => Some(usize::from(width)),
            Codec::Text(_) => None,
        }
    }

    /// Most bytes of a part.
    pub fn max_len(&self) -> usize {
        match self.codec {
            Codec::Text(text) => usize::from(self.nullable) + text.max_len,
            _ => usize::from(self.nullable) + self.width().unwrap_or_default(),
        }
    }

    /// Length of the part at the front of `key`, which must hold one.
    #[inline]
    pub fn skip(&self, key: &[u8]) -> usize {
        if let Some(len) = self.fixed_len() {
            return len;
        }
        if self.is_null(key) {
            return 1;
        }
        let Codec::Text(text) = &self.codec else { return 0 };
        let end = text.collation.key_end() ^ self.mask;
        let start = usize::from(self.nullable);
        start + memchr::memchr(end, &key[start..]).map_or(key.len() - start, |at| at + 1)
    }

    /// Whether the column may be NULL.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// Whether the part at the front of `key` is NULL.
    #[inline]
    pub fn is_null(&self, key: &[u8]) -> bool {
        self.nullable && key[0] == self.mask
    }

    /// Whether [`KeyEncoder::decode`] gives the storage bytes back.
    #[inline]
    pub fn is_reversible(&self) -> bool {
        match self.codec {
            Codec::Integer { .. } | Codec::Seconds { .. } => true,
            // -0 and 0 have one key.
            Codec::Float { .. } => false,
            Codec::Padded { reversible, .. } => reversible,
            Codec::Text(text) => text.reversible,
        }
    }

    /// Appends the storage bytes of the part at the front of `key`, which is reversible; returns the part's
    /// length and whether it is NULL, for which nothing is appended.
    #[inline]
    pub fn decode(&self, key: &[u8], out: &mut Vec<u8>) -> (usize, bool) {
        debug_assert!(self.is_reversible(), "a key part that cannot be read back");
        if self.is_null(key) {
            return (self.fixed_len().unwrap_or(1), true);
        }
        let start = usize::from(self.nullable);
        let body = &key[start..];
        let len = match &self.codec {
            &Codec::Integer { width, signed } => {
                integer::read(&body[..usize::from(width)], signed, self.mask, out);
                usize::from(width)
            }
            &Codec::Seconds { width, fraction } => {
                let (width, len) = (usize::from(width), usize::from(width + fraction));
                integer::read(&body[..width], false, self.mask, out);
                integer::read(&body[width..len], false, self.mask, out);
                len
            }
            &Codec::Float { width } => usize::from(width),
            &Codec::Padded { width, .. } => {
                out.extend(body[..usize::from(width)].iter().map(|b| b ^ self.mask));
                usize::from(width)
            }
            Codec::Text(text) => text.read(body, self.mask, out),
        };
        (start + len, false)
    }

    /// Whether texts of the column can be kept as the case of their letters beside their keys:
    /// [`KeyEncoder::append_case`].
    pub fn keeps_letters(&self) -> bool {
        let Codec::Text(text) = self.codec else { return false };
        !text.reversible && text.prefix.is_none() && text.collation.keeps_letters()
    }

    /// Appends what [`super::capitalise`] needs to make `text` of what [`KeyEncoder::read_small`] gives: a
    /// bit for each capital, of text in small letters nothing. False: the text is not all printable ASCII,
    /// or its part is cut; nothing was appended. Only with [`KeyEncoder::keeps_letters`].
    #[inline]
    pub fn append_case(&self, text: &[u8], out: &mut Vec<u8>) -> bool {
        text.len() <= KEY_PART_BYTES_MAX && letter_case::append(text, out)
    }

    /// Bytes of a part before its text: the mark that it is not NULL.
    #[inline]
    pub fn text_from(&self) -> usize {
        self.nullable.into()
    }

    /// Bytes of the text at the start of `key` before its end: one a character, if
    /// [`KeyEncoder::append_case`] has accepted it.
    #[inline]
    pub fn codes_len(&self, key: &[u8]) -> usize {
        let Codec::Text(text) = &self.codec else { return 0 };
        memchr::memchr(text.collation.key_end() ^ self.mask, key).unwrap_or(key.len())
    }

    /// Makes the characters of codes, letters small. Cost: two loads and a store per character.
    #[inline]
    pub fn read_small(&self, codes: &mut [u8]) {
        letter_case::read_small(codes, self.mask);
    }

    /// The integer in the part at the front of `key`, sign- or zero-extended to 64 bits; `None` is NULL. Only
    /// for parts with [`KeyEncoder::is_integer`]. Cost: a load and a byte swap.
    #[inline(always)]
    pub fn decode_int(&self, key: &[u8]) -> Option<i64> {
        let Codec::Integer { width, signed } = self.codec else { return None };
        if self.is_null(key) {
            return None;
        }
        let start = usize::from(self.nullable);
        Some(integer::value(&key[start..start + usize::from(width)], signed, self.mask))
    }

    /// Whether the part holds an integer of up to 8 bytes (integers, YEAR, BIT, ENUM, SET, packed DATE, short
    /// DECIMAL).
    #[inline]
    pub fn is_integer(&self) -> bool {
        matches!(self.codec, Codec::Integer { width: ..=8, .. })
    }
}

impl Text {
    #[inline]
    fn append(&self, storage: &[u8], out: &mut Vec<u8>) -> Extent {
        let mut bytes = storage;
        if let Some(chars) = self.prefix {
            bytes = &bytes[..self.collation.charset.byte_offset_of_char(bytes, usize::from(chars))];
        }
        let start = out.len();
        self.collation.sort_key(bytes, out);
        if out.len() - start <= KEY_PART_BYTES_MAX + 1 || self.reversible {
            return Extent::Whole;
        }
        out.truncate(start + KEY_PART_BYTES_MAX);
        out.push(self.collation.key_end());
        Extent::Cut
    }

    #[inline]
    fn read(&self, body: &[u8], mask: u8, out: &mut Vec<u8>) -> usize {
        match self.collation.pad {
            PadAttribute::NoPad => byte_key::read_no_pad(body, mask, out),
            PadAttribute::PadSpace => byte_key::read_pad_space(body, mask, out),
        }
    }
}

fn codec_of(ty: &SqlType, prefix_len: Option<u16>) -> Option<Codec> {
    let width = storage::fixed_width(ty).unwrap_or_default() as u8;
    Some(match ty.kind {
        TypeKind::Null => return None,
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => {
            Codec::Integer { width, signed: !ty.unsigned }
        }
        TypeKind::Decimal | TypeKind::Time => Codec::Integer { width, signed: true },
        TypeKind::Bit | TypeKind::Date | TypeKind::Year | TypeKind::Enum | TypeKind::Set => {
            Codec::Integer { width, signed: false }
        }
        TypeKind::Float | TypeKind::Double => Codec::Float { width },
        TypeKind::DateTime | TypeKind::Timestamp => {
            let fraction = storage::fraction_width(ty.decimals) as u8;
            Codec::Seconds { width: width - fraction, fraction }
        }
        TypeKind::Binary => {
            let width = prefix_len.map_or(ty.length, u32::from).min(ty.length) as u16;
            Codec::Padded { width, reversible: u32::from(width) == ty.length }
        }
        TypeKind::Char | TypeKind::VarChar | TypeKind::VarBinary | TypeKind::Text(_) | TypeKind::Blob(_) => {
            Codec::Text(text_of(ty, prefix_len)?)
        }
    })
}

fn text_of(ty: &SqlType, prefix_len: Option<u16>) -> Option<Text> {
    let collation = ty.collation.collation()?;
    let is_lob = matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
    let prefix = prefix_len.filter(|&chars| is_lob || u32::from(chars) < ty.length);
    // Trailing spaces are lost under PAD SPACE, but CHAR does not store any.
    let keeps_bytes = collation.is_exact() || (collation.is_binary() && ty.kind == TypeKind::Char);
    let reversible = keeps_bytes && prefix.is_none() && !is_lob;
    let chars = prefix.map_or(ty.length as usize, usize::from);
    let limit = if reversible { usize::MAX } else { KEY_PART_BYTES_MAX };
    let max_len = chars.saturating_mul(collation.max_key_bytes_per_char()).min(limit).saturating_add(1);
    Some(Text { collation, prefix, reversible, max_len })
}
