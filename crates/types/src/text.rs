//! Columns as text-protocol text, straight from storage bytes.
//!
//! A [`TextEncoder`] is compiled once per output column; writing a value then is one `match` and no
//! allocation beyond the output's growth. [`crate::Value::write_text`] gives the same text by way of a value,
//! except where the column's own display rules (ZEROFILL, fixed scale of DOUBLE) count.

use crate::storage::{
    fixed_width, read_datetime, read_int, read_time, read_timestamp, read_uint, read_year, write_decimal_text,
};
use crate::value::number_text::write_float;
use crate::value::{Members, enum_text, write_double, write_double_fixed, write_set, write_year};
use crate::{Date, SqlType, TimeZone, TypeKind};

/// How to write one column.
#[derive(Clone, Debug)]
pub struct TextEncoder(Form);

/// Widths are bytes of storage; `zerofill` is the display width, 0 for none.
#[derive(Clone, Debug)]
enum Form {
    Null,
    Tiny,
    Small,
    Int,
    Big,
    /// 3-byte integers, too rare for a case each.
    Medium,
    UnsignedTiny,
    UnsignedSmall,
    UnsignedInt,
    UnsignedBig,
    Unsigned,
    ZeroFilled {
        display: u8,
    },
    Decimal {
        scale: u8,
        zerofill: u8,
    },
    Float {
        scale: Option<u8>,
        zerofill: u16,
    },
    Double {
        scale: Option<u8>,
        zerofill: u16,
    },
    Bit,
    Bytes,
    Date,
    Time {
        fsp: u8,
    },
    DateTime {
        fsp: u8,
    },
    Timestamp {
        fsp: u8,
    },
    Year,
    Enum(Members),
    Set(Members),
}

impl TextEncoder {
    /// The encoder for columns of `ty`.
    pub fn new(ty: &SqlType) -> TextEncoder {
        let fixed = (ty.decimals < SqlType::NOT_FIXED_DECIMALS).then_some(ty.decimals);
        let zerofill = if ty.zerofill { ty.length } else { 0 };
        TextEncoder(match ty.kind {
            TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt => integer_form(ty),
            TypeKind::Decimal => {
                // The digits of a zero-filled DECIMAL, its point included.
                let point = u32::from(ty.decimals > 0);
                let zerofill = if ty.zerofill { zerofill + point } else { 0 };
                Form::Decimal { scale: ty.decimals, zerofill: zerofill as u8 }
            }
            TypeKind::Float => Form::Float { scale: fixed, zerofill: zerofill as u16 },
            TypeKind::Double => Form::Double { scale: fixed, zerofill: zerofill as u16 },
            TypeKind::Bit => Form::Bit,
            TypeKind::Date => Form::Date,
            TypeKind::Time => Form::Time { fsp: ty.decimals },
            TypeKind::DateTime => Form::DateTime { fsp: ty.decimals },
            TypeKind::Timestamp => Form::Timestamp { fsp: ty.decimals },
            TypeKind::Year => Form::Year,
            TypeKind::Enum => Form::Enum(ty.members.clone().unwrap_or_default()),
            TypeKind::Set => Form::Set(ty.members.clone().unwrap_or_default()),
            TypeKind::Null => Form::Null,
            TypeKind::Char
            | TypeKind::VarChar
            | TypeKind::Binary
            | TypeKind::VarBinary
            | TypeKind::Text(_)
            | TypeKind::Blob(_) => Form::Bytes,
        })
    }

    /// Characters that a text has at least, filled with zeros on the left (ZEROFILL); 0: it is not filled.
    pub fn filled_width(&self) -> usize {
        match self.0 {
            Form::ZeroFilled { display } => display.into(),
            Form::Decimal { zerofill, .. } => zerofill.into(),
            Form::Double { zerofill, .. } | Form::Float { zerofill, .. } => zerofill.into(),
            _ => 0,
        }
    }

    /// Whether the text is the storage bytes themselves.
    #[inline]
    pub fn is_identity(&self) -> bool {
        matches!(self.0, Form::Bytes)
    }

    /// Appends the text of a value in storage form; TIMESTAMP in `zone`.
    /// Cost: 10 to 20 ns for numbers and dates, a copy for strings.
    ///
    /// # Panics
    /// If `bytes` has not the type's fixed width.
    #[inline]
    pub fn write(&self, bytes: &[u8], zone: &TimeZone, out: &mut Vec<u8>) {
        match &self.0 {
            Form::Bytes => out.extend_from_slice(bytes),
            Form::Int => push_int(read_int(&bytes[..4]), out),
            Form::Big => push_int(read_int(&bytes[..8]), out),
            Form::UnsignedInt => push_uint(read_uint(&bytes[..4]), out),
            Form::UnsignedBig => push_uint(read_uint(&bytes[..8]), out),
            Form::Tiny => push_int(read_int(&bytes[..1]), out),
            Form::Small => push_int(read_int(&bytes[..2]), out),
            Form::UnsignedTiny => push_uint(read_uint(&bytes[..1]), out),
            Form::UnsignedSmall => push_uint(read_uint(&bytes[..2]), out),
            _ => self.write_rare(bytes, zone, out),
        }
    }

    fn write_rare(&self, bytes: &[u8], zone: &TimeZone, out: &mut Vec<u8>) {
        match &self.0 {
            Form::Decimal { scale, zerofill } => {
                padded(usize::from(*zerofill), out, |out| write_decimal_text(bytes, *scale, out));
            }
            Form::Date => Date::from_packed(read_uint(bytes) as u32).write_to(out),
            Form::DateTime { fsp } => read_datetime(bytes, *fsp).write_to(*fsp, out),
            Form::Timestamp { fsp } => read_timestamp(bytes, *fsp, zone).write_to(*fsp, out),
            Form::Time { fsp } => read_time(bytes, *fsp).write_to(*fsp, out),
            Form::Double { scale, zerofill } => {
                let value = f64::from_bits(base::codec::get_u64(bytes, 0));
                padded(usize::from(*zerofill), out, |out| match scale {
                    None => write_double(value, out),
                    Some(scale) => write_double_fixed(value, *scale, out),
                });
            }
            Form::Float { scale, zerofill } => {
                let value = f32::from_bits(base::codec::get_u32(bytes, 0));
                padded(usize::from(*zerofill), out, |out| match scale {
                    None => write_float(value, out),
                    Some(scale) => write_double_fixed(f64::from(value), *scale, out),
                });
            }
            Form::Medium => push_int(read_int(bytes), out),
            Form::Unsigned => push_uint(read_uint(bytes), out),
            Form::ZeroFilled { display } => {
                padded(usize::from(*display), out, |out| push_uint(read_uint(bytes), out));
            }
            Form::Bit => out.extend(bytes.iter().rev()),
            Form::Year => write_year(read_year(bytes[0]), out),
            Form::Enum(members) => out.extend_from_slice(enum_text(read_uint(bytes) as u16, members)),
            Form::Set(members) => write_set(read_uint(bytes), members, out),
            _ => {}
        }
    }
}

/// [`TextEncoder::write`] for a single value of a type.
pub fn write_text(ty: &SqlType, bytes: &[u8], zone: &TimeZone, out: &mut Vec<u8>) {
    TextEncoder::new(ty).write(bytes, zone, out);
}

fn integer_form(ty: &SqlType) -> Form {
    if ty.zerofill {
        return Form::ZeroFilled { display: ty.length.min(255) as u8 };
    }
    match (fixed_width(ty), ty.unsigned) {
        (Some(1), false) => Form::Tiny,
        (Some(2), false) => Form::Small,
        (Some(4), false) => Form::Int,
        (Some(8), false) => Form::Big,
        (Some(1), true) => Form::UnsignedTiny,
        (Some(2), true) => Form::UnsignedSmall,
        (Some(4), true) => Form::UnsignedInt,
        (Some(8), true) => Form::UnsignedBig,
        (_, false) => Form::Medium,
        (_, true) => Form::Unsigned,
    }
}

#[inline]
fn push_int(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[inline]
fn push_uint(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Writes, then fills up with zeros in front to `width` characters.
/// Appends what `write` writes, filled with zeros on the left up to `width` characters.
pub fn padded(width: usize, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    let written = out.len() - start;
    if written < width {
        out.splice(start..start, std::iter::repeat_n(b'0', width - written));
    }
}

#[cfg(test)]
mod tests;
