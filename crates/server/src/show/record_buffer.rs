//! Rows as MySQL has them in its record buffer, of which CHECKSUM TABLE makes a number.
//!
//! | bytes | what |
//! |---|---|
//! | `null_bytes` | a bit for each column that may be NULL, in their order; bits that no column has are set |
//! | ... | the columns in order: a value, or where it is NULL the column's default |
//!
//! Tables whose rows all have the same length have one more bit before the first column's, which is set.
//! Numbers, DATE, YEAR, ENUM, SET, BINARY and what varies in length are as they are stored here.

use types::storage::{fixed_width, fraction_width, read};
use types::{ColumnDef, ColumnDefault, SqlType, StorageHint, TableDef, TimeZone, TypeKind};

/// Digits that four bytes of a DECIMAL hold.
const DIGITS_PER_WORD: usize = 9;
/// Bytes of fewer digits, by their number.
const DIGIT_BYTES: [usize; DIGITS_PER_WORD] = [0, 1, 1, 2, 2, 3, 3, 4, 4];

/// Makes the checksums of the rows of a table.
#[derive(Debug)]
pub(super) struct RecordBuffer<'d> {
    columns: Vec<BufferColumn<'d>>,
    /// The bits of a row without NULL.
    no_nulls: Vec<u8>,
    /// The bits of the current row.
    nulls: Vec<u8>,
    scratch: Vec<u8>,
    zone: TimeZone,
}

#[derive(Debug)]
struct BufferColumn<'d> {
    ty: &'d SqlType,
    /// Place of its bit, if it may be NULL.
    null_bit: Option<usize>,
    /// The bytes in the buffer where it is NULL.
    null: Vec<u8>,
}

impl<'d> RecordBuffer<'d> {
    pub(super) fn new(def: &'d TableDef) -> Self {
        let zone = TimeZone::utc();
        let mut bits = usize::from(!is_packed(def));
        let columns = def.columns.iter().map(|column| {
            let null_bit = column.nullable.then_some(bits);
            bits += usize::from(column.nullable);
            BufferColumn { ty: &column.ty, null_bit, null: null_of(column, &zone) }
        });
        let columns: Vec<_> = columns.collect();
        let mut no_nulls = vec![0; bits.div_ceil(8)];
        if let Some(last) = no_nulls.last_mut() {
            // Where the columns' bits end with the byte, MySQL sets these, too.
            *last |= !0u8 << (bits % 8);
        }
        if let Some(first) = no_nulls.first_mut().filter(|_| !is_packed(def)) {
            *first |= 1;
        }
        RecordBuffer { columns, nulls: no_nulls.clone(), no_nulls, scratch: Vec::new(), zone }
    }

    /// The CRC-32 of a row: storage bytes per column.
    pub(super) fn checksum(&mut self, row: &[Option<&[u8]>]) -> u32 {
        self.nulls.clone_from(&self.no_nulls);
        for (column, _) in self.columns.iter().zip(row).filter(|(_, value)| value.is_none()) {
            if let Some(bit) = column.null_bit {
                self.nulls[bit / 8] |= 1 << (bit % 8);
            }
        }
        let mut sum = crc32fast::Hasher::new();
        sum.update(&self.nulls);
        for (column, value) in self.columns.iter().zip(row) {
            match value {
                None => sum.update(&column.null),
                Some(stored) if is_stored_so(column.ty) => sum.update(stored),
                Some(stored) => {
                    self.scratch.clear();
                    write(column.ty, stored, &self.zone, &mut self.scratch);
                    sum.update(&self.scratch);
                }
            }
        }
        sum.finalize()
    }
}

/// Whether rows may have different lengths, or the table says so.
fn is_packed(def: &TableDef) -> bool {
    let varies = |column: &ColumnDef| {
        matches!(
            column.ty.kind,
            TypeKind::VarChar | TypeKind::VarBinary | TypeKind::Text(_) | TypeKind::Blob(_)
        )
    };
    let is_dynamic = |&(hint, value): &(StorageHint, u64)| {
        hint == StorageHint::RowFormat && hint.word(value) == Some("DYNAMIC")
    };
    def.columns.iter().any(varies) || def.hints.iter().any(is_dynamic)
}

/// The bytes of a NULL column: its default, else zero.
fn null_of(column: &ColumnDef, zone: &TimeZone) -> Vec<u8> {
    let zero = vec![0; fixed_width(&column.ty).unwrap_or(0)];
    let stored = match &column.default {
        ColumnDefault::Constant(bytes) => bytes,
        _ => &zero[..],
    };
    let mut null = Vec::new();
    write(&column.ty, stored, zone, &mut null);
    null
}

fn is_stored_so(ty: &SqlType) -> bool {
    !matches!(
        ty.kind,
        TypeKind::Char
            | TypeKind::Bit
            | TypeKind::Decimal
            | TypeKind::Time
            | TypeKind::DateTime
            | TypeKind::Timestamp
    )
}

/// Appends a value.
fn write(ty: &SqlType, stored: &[u8], zone: &TimeZone, out: &mut Vec<u8>) {
    match ty.kind {
        TypeKind::Char => {
            let width = ty.length as usize * ty.max_char_bytes() as usize;
            out.extend_from_slice(stored);
            out.resize(out.len() + width.saturating_sub(stored.len()), b' ');
        }
        TypeKind::Bit => out.extend(stored.iter().rev()),
        TypeKind::Decimal => write_decimal(ty, stored, zone, out),
        TypeKind::Time => write_time(ty.decimals, number(stored, true), out),
        TypeKind::DateTime => write_moment(ty.decimals, 5, 1 << 39, stored, out),
        TypeKind::Timestamp => write_moment(ty.decimals, 4, 0, stored, out),
        _ => out.extend_from_slice(stored),
    }
}

/// A little-endian number of at most eight bytes.
fn number(bytes: &[u8], signed: bool) -> i64 {
    let is_negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let high = if is_negative { -1 } else { 0 };
    bytes.iter().rev().fold(high, |value, &byte| value << 8 | i64::from(byte))
}

/// Appends the last `width` bytes of a number, the highest first.
fn put(value: i64, width: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_be_bytes()[8 - width..]);
}

/// Date and time: `whole` bytes, then the fraction. `offset` is added, so that bytes compare as moments do.
fn write_moment(fsp: u8, whole: usize, offset: i64, stored: &[u8], out: &mut Vec<u8>) {
    let (moment, fraction) = stored.split_at(whole.min(stored.len()));
    put(number(moment, false) + offset, whole, out);
    put(number(fraction, false), fraction_width(fsp), out);
}

/// `ticks`: units of the column's last digit.
fn write_time(fsp: u8, ticks: i64, out: &mut Vec<u8>) {
    let unit = 10i64.pow(u32::from(fsp));
    let (seconds, micros) = (ticks.abs() / unit, ticks.abs() % unit * (1_000_000 / unit));
    let clock = ((seconds / 3600) << 12) | ((seconds / 60 % 60) << 6) | (seconds % 60);
    let packed = (clock << 24 | micros) * ticks.signum();
    if fsp > 4 {
        return put(packed + (1 << 47), 6, out);
    }
    put((packed >> 24) + (1 << 23), 3, out);
    let width = fraction_width(fsp);
    let unit = if width == 1 { 10_000 } else { 100 };
    put(micros * ticks.signum() / unit, width, out);
}

/// Groups of nine decimal digits from the point on, each a big-endian number; all bits of a negative one
/// inverted, the first bit inverted once more.
fn write_decimal(ty: &SqlType, stored: &[u8], zone: &TimeZone, out: &mut Vec<u8>) {
    let (precision, scale) = (ty.length as usize, usize::from(ty.decimals));
    let mut text = Vec::new();
    read(ty, stored, zone).write_text(&mut text);
    let is_negative = text.first() == Some(&b'-');
    let digits: Vec<u8> = text.into_iter().filter(u8::is_ascii_digit).collect();
    // The text leaves out zeros before the point.
    let digits = digits.split_at(digits.len().saturating_sub(precision)).1;
    let padded: Vec<u8> =
        std::iter::repeat_n(b'0', precision - digits.len()).chain(digits.iter().copied()).collect();
    let (whole, fraction) = padded.split_at(precision - scale);
    let from = out.len();
    let (first, words) = whole.split_at(whole.len() % DIGITS_PER_WORD);
    put_digits(first, out);
    words
        .chunks(DIGITS_PER_WORD)
        .chain(fraction.chunks(DIGITS_PER_WORD))
        .for_each(|word| put_digits(word, out));
    if is_negative {
        out[from..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    if let Some(sign) = out.get_mut(from) {
        *sign ^= 0x80;
    }
}

fn put_digits(digits: &[u8], out: &mut Vec<u8>) {
    let value = digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    put(value, DIGIT_BYTES.get(digits.len()).copied().unwrap_or(4), out);
}
