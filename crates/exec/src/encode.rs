//! Values on the wire: from storage bytes and from computed values, in both protocols.

use types::text::padded;
use types::value::{Value, write_double, write_double_fixed};
use types::{Charset, Date, DateTime, SqlType, TextEncoder, Time, TimeZone, TypeKind, collation, storage};
use wire::row_binary::BinaryRow;
use wire::{BinaryDateTime, BinaryTime, OutBuffer, ResultCharset};

/// How the binary protocol shows a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BinaryForm {
    Int1,
    Int2,
    /// INT, and MEDIUMINT widened.
    Int4,
    Int8,
    Float,
    Double,
    Year,
    DateTime,
    Time,
    Text,
}

/// Writes the values of one output column.
#[derive(Debug)]
pub(crate) struct WireEncoder {
    pub(crate) ty: SqlType,
    text: TextEncoder,
    binary: BinaryForm,
    /// Character set of the column's text; `None` if it is not text.
    pub(crate) charset: Option<Charset>,
}

impl WireEncoder {
    pub(crate) fn new(ty: &SqlType) -> Self {
        let is_text = matches!(
            ty.kind,
            TypeKind::Char | TypeKind::VarChar | TypeKind::Text(_) | TypeKind::Enum | TypeKind::Set
        );
        WireEncoder {
            ty: ty.clone(),
            text: TextEncoder::new(ty),
            binary: binary_form(ty.kind),
            charset: Some(ty.charset()).filter(|charset| is_text && *charset != Charset::Binary),
        }
    }

    /// Whether text must be converted for the client.
    #[inline]
    fn conversion(&self, results: ResultCharset) -> Option<(Charset, Charset)> {
        conversion(self.charset?, results)
    }

    /// Whether the text of a value is its storage bytes, up to a conversion.
    pub(crate) fn is_text_as_stored(&self) -> bool {
        self.text.is_identity()
    }

    /// Whether a value looks the same to all clients of a protocol, whatever their time zones and character
    /// sets.
    pub(crate) fn is_same_for_all(&self) -> bool {
        self.charset.is_none() && self.ty.kind != TypeKind::Timestamp
    }

    /// Bytes of an integer in the binary protocol.
    pub(crate) fn integer_bytes(&self) -> u16 {
        match self.binary {
            BinaryForm::Int1 => 1,
            BinaryForm::Int2 => 2,
            BinaryForm::Int4 => 4,
            _ => 8,
        }
    }

    /// Appends storage bytes in the text protocol.
    #[inline]
    pub(crate) fn put_text(
        &self,
        bytes: &[u8],
        zone: &TimeZone,
        results: ResultCharset,
        out: &mut OutBuffer,
    ) {
        if self.charset.is_some() && self.conversion(results).is_some() {
            return self.put_converted(&self.text_of(bytes, zone), results, out);
        }
        if self.text.is_identity() {
            out.put_lenenc_bytes(bytes);
        } else {
            out.put_text_with(|out| self.text.write(bytes, zone, out));
        }
    }

    fn text_of(&self, bytes: &[u8], zone: &TimeZone) -> Vec<u8> {
        let mut text = Vec::new();
        self.text.write(bytes, zone, &mut text);
        text
    }

    #[cold]
    fn put_converted(&self, text: &[u8], results: ResultCharset, out: &mut OutBuffer) {
        match self.conversion(results) {
            Some((from, to)) => {
                let mut converted = Vec::new();
                collation::convert(from, to, text, &mut converted);
                out.put_lenenc_bytes(&converted);
            }
            None => out.put_lenenc_bytes(text),
        }
    }

    /// Appends storage bytes in the binary protocol.
    #[inline]
    pub(crate) fn put_binary(
        &self,
        bytes: &[u8],
        zone: &TimeZone,
        results: ResultCharset,
        out: &mut OutBuffer,
    ) {
        match self.binary {
            BinaryForm::Int4 if bytes.len() == 3 => {
                out.put_value_as_int(&storage::read(&self.ty, bytes, zone), 4);
            }
            BinaryForm::Int1
            | BinaryForm::Int2
            | BinaryForm::Int4
            | BinaryForm::Int8
            | BinaryForm::Float
            | BinaryForm::Double => out.put_bytes(bytes),
            BinaryForm::Text => self.put_text(bytes, zone, results, out),
            BinaryForm::Year | BinaryForm::DateTime | BinaryForm::Time => {
                self.put_binary_value(&storage::read(&self.ty, bytes, zone), results, out);
            }
        }
    }

    /// Appends a FLOAT or DOUBLE with the fraction digits of the type.
    #[cold]
    fn put_fixed(&self, value: f64, out: &mut OutBuffer) {
        let mut text = Vec::new();
        write_double_fixed(value, self.ty.decimals, &mut text);
        out.put_lenenc_bytes(&text);
    }

    /// Appends a value of a ZEROFILL column, or NULL, as [`WireEncoder::put_value`] does.
    #[cold]
    pub(crate) fn put_filled(
        &self,
        value: &Value<'_>,
        place: Option<(BinaryRow, usize)>,
        results: ResultCharset,
        out: &mut OutBuffer,
    ) {
        let is_text = place.is_none() || self.binary == BinaryForm::Text;
        if value.is_null() || !is_text {
            return self.put_value(value, place, results, out);
        }
        let is_fixed = self.ty.decimals < SqlType::NOT_FIXED_DECIMALS;
        let mut text = Vec::new();
        padded(self.text.filled_width(), &mut text, |text| match *value {
            Value::Double(v) if is_fixed => write_double_fixed(v, self.ty.decimals, text),
            Value::Float(v) if is_fixed => write_double_fixed(f64::from(v), self.ty.decimals, text),
            _ => value.write_text(text),
        });
        out.put_lenenc_bytes(&text);
    }

    /// Appends a computed value, not NULL, in the text protocol.
    pub(crate) fn put_text_value(&self, value: &Value<'_>, results: ResultCharset, out: &mut OutBuffer) {
        match *value {
            Value::Int(v) => out.put_text_i64(v),
            Value::UInt(v) => out.put_text_u64(v),
            Value::Double(v) if self.ty.decimals < SqlType::NOT_FIXED_DECIMALS => self.put_fixed(v, out),
            Value::Float(v) if self.ty.decimals < SqlType::NOT_FIXED_DECIMALS => {
                self.put_fixed(f64::from(v), out);
            }
            Value::Double(v) => {
                let mut text = Vec::new();
                write_double(v, &mut text);
                out.put_lenenc_bytes(&text);
            }
            Value::Bytes { data, .. } => {
                if self.charset.is_some() && self.conversion(results).is_some() {
                    self.put_converted(data, results, out);
                } else {
                    out.put_lenenc_bytes(data);
                }
            }
            _ if self.charset.is_none() => out.put_text_with(|text| value.write_text(text)),
            _ => self.put_converted(value.as_text(&mut Vec::new()), results, out),
        }
    }

    /// Appends a computed value, not NULL, in the binary protocol.
    pub(crate) fn put_binary_value(&self, value: &Value<'_>, results: ResultCharset, out: &mut OutBuffer) {
        match self.binary {
            BinaryForm::Int1 => out.put_value_as_int(value, 1),
            BinaryForm::Int2 => out.put_value_as_int(value, 2),
            BinaryForm::Int4 => out.put_value_as_int(value, 4),
            BinaryForm::Int8 => out.put_value_as_int(value, 8),
            BinaryForm::Float => out.put_u32((value.to_f64().value as f32).to_bits()),
            BinaryForm::Double => out.put_u64(value.to_f64().value.to_bits()),
            BinaryForm::Year => out.put_value_as_int(value, 2),
            BinaryForm::DateTime => match *value {
                Value::Date(v) => binary_date(v).put(out),
                Value::DateTime(v, _) => binary_datetime(v).put(out),
                _ => BinaryDateTime::default().put(out),
            },
            BinaryForm::Time => match *value {
                Value::Time(v, _) => binary_time(v).put(out),
                _ => BinaryTime::default().put(out),
            },
            BinaryForm::Text => self.put_text_value(value, results, out),
        }
    }

    /// Appends a value or NULL, in the binary protocol as column `column` of `row`.
    #[inline]
    pub(crate) fn put_value(
        &self,
        value: &Value<'_>,
        place: Option<(BinaryRow, usize)>,
        results: ResultCharset,
        out: &mut OutBuffer,
    ) {
        match (place, value.is_null()) {
            (None, true) => out.put_text_null(),
            (None, false) => self.put_text_value(value, results, out),
            (Some((row, column)), true) => row.put_null(out, column),
            (Some(_), false) => self.put_binary_value(value, results, out),
        }
    }

    /// Appends storage bytes or NULL, in the binary protocol as column `column` of `row`.
    #[inline]
    pub(crate) fn put_storage(
        &self,
        bytes: Option<&[u8]>,
        place: Option<(BinaryRow, usize)>,
        zone: &TimeZone,
        results: ResultCharset,
        out: &mut OutBuffer,
    ) {
        match (place, bytes) {
            (None, None) => out.put_text_null(),
            (None, Some(bytes)) => self.put_text(bytes, zone, results, out),
            (Some((row, column)), None) => row.put_null(out, column),
            (Some(_), Some(bytes)) => self.put_binary(bytes, zone, results, out),
        }
    }
}

/// The conversion of text in character set `from` for a client, if there is one.
#[inline]
pub(crate) fn conversion(from: Charset, results: ResultCharset) -> Option<(Charset, Charset)> {
    if from == Charset::Utf8mb4 && results.collation == ResultCharset::UTF8MB4.collation {
        return None;
    }
    let to = types::CollationId(results.collation?).collation()?.charset;
    let is_subset = matches!(
        (from, to),
        (Charset::Ascii | Charset::Utf8mb3, Charset::Utf8mb4) | (Charset::Ascii, Charset::Utf8mb3)
    );
    let same = from == to || to == Charset::Binary || is_subset;
    (!same).then_some((from, to))
}

/// Whether text in each of `charsets` goes to a client as it is.
#[cold]
#[inline(never)]
pub(crate) fn are_unconverted(charsets: &[Charset], results: ResultCharset) -> bool {
    charsets.iter().all(|&from| conversion(from, results).is_none())
}

/// Integers of the binary protocol.
trait PutInt {
    /// Appends the value's low bytes.
    fn put_value_as_int(&mut self, value: &Value<'_>, bytes: usize);
}

impl PutInt for OutBuffer {
    fn put_value_as_int(&mut self, value: &Value<'_>, bytes: usize) {
        let bits = match *value {
            Value::Int(v) => v as u64,
            Value::UInt(v) => v,
            Value::Year(v) => u64::from(v),
            _ if value.is_unsigned_integer() => value.to_u64().value,
            _ => value.to_i64().value as u64,
        };
        self.put_bytes(&bits.to_le_bytes()[..bytes]);
    }
}

fn binary_form(kind: TypeKind) -> BinaryForm {
    match kind {
        TypeKind::TinyInt => BinaryForm::Int1,
        TypeKind::SmallInt => BinaryForm::Int2,
        TypeKind::MediumInt | TypeKind::Int => BinaryForm::Int4,
        TypeKind::BigInt => BinaryForm::Int8,
        TypeKind::Float => BinaryForm::Float,
        TypeKind::Double => BinaryForm::Double,
        TypeKind::Year => BinaryForm::Year,
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => BinaryForm::DateTime,
        TypeKind::Time => BinaryForm::Time,
        _ => BinaryForm::Text,
    }
}

fn binary_date(v: Date) -> BinaryDateTime {
    BinaryDateTime { year: v.year(), month: v.month(), day: v.day(), ..BinaryDateTime::default() }
}

fn binary_datetime(v: DateTime) -> BinaryDateTime {
    BinaryDateTime {
        hour: v.hour(),
        minute: v.minute(),
        second: v.second(),
        micros: v.micro(),
        ..binary_date(v.date())
    }
}

fn binary_time(v: Time) -> BinaryTime {
    BinaryTime {
        negative: v.is_negative(),
        days: v.hour() / 24,
        hour: (v.hour() % 24) as u8,
        minute: v.minute() as u8,
        second: v.second() as u8,
        micros: v.micro(),
    }
}
