//! Column definitions of result sets.

use types::{LobSize, SqlType, TypeKind};

use crate::OutBuffer;

/// Type byte of columns and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ColumnType {
    /// DECIMAL of before MySQL 5.0; clients may bind parameters as this.
    Decimal = 0,
    /// TINYINT.
    Tiny = 1,
    /// SMALLINT.
    Short = 2,
    /// INT.
    Long = 3,
    /// FLOAT.
    Float = 4,
    /// DOUBLE.
    Double = 5,
    /// NULL.
    Null = 6,
    /// TIMESTAMP.
    Timestamp = 7,
    /// BIGINT.
    LongLong = 8,
    /// MEDIUMINT.
    Int24 = 9,
    /// DATE.
    Date = 10,
    /// TIME.
    Time = 11,
    /// DATETIME.
    DateTime = 12,
    /// YEAR.
    Year = 13,
    /// DATE as stored internally; clients may bind parameters as this.
    NewDate = 14,
    /// VARCHAR as stored internally; clients may bind parameters as this.
    VarChar = 15,
    /// BIT.
    Bit = 16,
    /// BOOL parameter.
    Bool = 244,
    /// JSON.
    Json = 245,
    /// DECIMAL.
    NewDecimal = 246,
    /// ENUM parameter.
    Enum = 247,
    /// SET parameter.
    Set = 248,
    /// TINYBLOB parameter.
    TinyBlob = 249,
    /// MEDIUMBLOB parameter.
    MediumBlob = 250,
    /// LONGBLOB parameter.
    LongBlob = 251,
    /// TEXT and BLOB of any size.
    Blob = 252,
    /// VARCHAR and VARBINARY.
    VarString = 253,
    /// CHAR, BINARY, ENUM and SET.
    String = 254,
    /// GEOMETRY.
    Geometry = 255,
}

impl ColumnType {
    /// The type with this code.
    pub(crate) fn from_code(code: u8) -> Option<ColumnType> {
        use ColumnType::{
            Bit, Blob, Bool, Date, DateTime, Decimal, Double, Enum, Float, Geometry, Int24, Json, Long,
            LongBlob, LongLong, MediumBlob, NewDate, NewDecimal, Null, Set, Short, String, Time, Timestamp,
            Tiny, TinyBlob, VarChar, VarString, Year,
        };
        Some(match code {
            0 => Decimal,
            1 => Tiny,
            2 => Short,
            3 => Long,
            4 => Float,
            5 => Double,
            6 => Null,
            7 => Timestamp,
            8 => LongLong,
            9 => Int24,
            10 => Date,
            11 => Time,
            12 => DateTime,
            13 => Year,
            14 => NewDate,
            15 => VarChar,
            16 => Bit,
            244 => Bool,
            245 => Json,
            246 => NewDecimal,
            247 => Enum,
            248 => Set,
            249 => TinyBlob,
            250 => MediumBlob,
            251 => LongBlob,
            252 => Blob,
            253 => VarString,
            254 => String,
            255 => Geometry,
            _ => return None,
        })
    }

    /// The type that a column of kind `kind` has in result sets.
    pub fn of(kind: TypeKind) -> ColumnType {
        match kind {
            TypeKind::Null => ColumnType::Null,
            TypeKind::TinyInt => ColumnType::Tiny,
            TypeKind::SmallInt => ColumnType::Short,
            TypeKind::MediumInt => ColumnType::Int24,
            TypeKind::Int => ColumnType::Long,
            TypeKind::BigInt => ColumnType::LongLong,
            TypeKind::Decimal => ColumnType::NewDecimal,
            TypeKind::Float => ColumnType::Float,
            TypeKind::Double => ColumnType::Double,
            TypeKind::Bit => ColumnType::Bit,
            TypeKind::Char | TypeKind::Binary | TypeKind::Enum | TypeKind::Set => ColumnType::String,
            TypeKind::VarChar | TypeKind::VarBinary => ColumnType::VarString,
            TypeKind::Text(_) | TypeKind::Blob(_) => ColumnType::Blob,
            TypeKind::Date => ColumnType::Date,
            TypeKind::Time => ColumnType::Time,
            TypeKind::DateTime => ColumnType::DateTime,
            TypeKind::Timestamp => ColumnType::Timestamp,
            TypeKind::Year => ColumnType::Year,
        }
    }
}

/// Column flags; add them up with `|`.
pub mod flags {
    /// NOT NULL.
    pub const NOT_NULL: u16 = 1;
    /// Part of the primary key.
    pub const PRIMARY_KEY: u16 = 2;
    /// The whole of a unique index.
    pub const UNIQUE_KEY: u16 = 4;
    /// First column of an index that is not this column alone and unique.
    pub const MULTIPLE_KEY: u16 = 8;
    /// TEXT or BLOB.
    pub const BLOB: u16 = 16;
    /// UNSIGNED.
    pub const UNSIGNED: u16 = 32;
    /// ZEROFILL.
    pub const ZEROFILL: u16 = 64;
    /// Binary collation.
    pub const BINARY: u16 = 128;
    /// ENUM.
    pub const ENUM: u16 = 256;
    /// AUTO_INCREMENT.
    pub const AUTO_INCREMENT: u16 = 512;
    /// TIMESTAMP that the clock sets.
    pub const TIMESTAMP: u16 = 1024;
    /// SET.
    pub const SET: u16 = 2048;
    /// NOT NULL without a default.
    pub const NO_DEFAULT: u16 = 4096;
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub const ON_UPDATE_NOW: u16 = 8192;
    /// Part of an index.
    pub const PART_KEY: u16 = 16384;
}

/// The character set that text is sent in (`character_set_results`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultCharset {
    /// Default collation of the character set; `None`: text is sent in its own character set.
    pub collation: Option<u16>,
    /// Bytes of the longest character.
    pub max_bytes: u8,
}

impl ResultCharset {
    /// utf8mb4, the default.
    pub const UTF8MB4: Self = ResultCharset { collation: Some(255), max_bytes: 4 };
}

/// One column of a result set.
#[derive(Clone, Copy, Debug)]
pub struct ColumnDefinition<'a> {
    /// Schema; empty for expressions.
    pub schema: &'a str,
    /// Table or its alias.
    pub table: &'a str,
    /// Table.
    pub org_table: &'a str,
    /// Column or its alias.
    pub name: &'a str,
    /// Column.
    pub org_name: &'a str,
    /// Collation id; 63 (binary) for everything that is not text.
    pub collation: u16,
    /// Display width in bytes.
    pub length: u32,
    /// Type.
    pub column_type: ColumnType,
    /// Sum of [`flags`].
    pub flags: u16,
    /// Digits after the decimal point; 31: as many as needed.
    pub decimals: u8,
}

impl<'a> ColumnDefinition<'a> {
    /// A column called `name` of type `ty`, as a table holds it, sent in `charset`. Callers add table names,
    /// NOT NULL and the flags of keys and defaults.
    pub fn of_column(name: &'a str, ty: &SqlType, charset: ResultCharset) -> Self {
        let decimals = if is_text_kind(ty.kind) { 0 } else { ty.decimals };
        // A column of NULLs, which only temporary tables have, is an empty text.
        let is_null = ty.kind == TypeKind::Null;
        let column_type = if is_null { ColumnType::VarString } else { ColumnType::of(ty.kind) };
        Self::new(name, ty, charset, column_flags(ty), column_type, decimals)
    }

    /// A calculated value called `name` of type `ty`, sent in `charset`. Callers add NOT NULL.
    pub fn of_value(name: &'a str, ty: &SqlType, charset: ResultCharset) -> Self {
        let decimals = if is_text_kind(ty.kind) { NOT_FIXED_DECIMALS } else { ty.decimals };
        Self::new(name, ty, charset, value_flags(ty), value_type(ty.kind), decimals)
    }

    fn new(
        name: &'a str,
        ty: &SqlType,
        charset: ResultCharset,
        flags: u16,
        column_type: ColumnType,
        decimals: u8,
    ) -> Self {
        let collation = if carries_text(ty) { charset.collation.unwrap_or(ty.collation.0) } else { BINARY };
        let char_bytes = charset.collation.map_or(ty.max_char_bytes(), |_| u32::from(charset.max_bytes));
        ColumnDefinition {
            schema: "",
            table: "",
            org_table: "",
            name,
            org_name: "",
            collation,
            length: display_bytes(ty, char_bytes),
            column_type,
            flags,
            decimals,
        }
    }

    /// Writes the packet.
    pub fn write(&self, out: &mut OutBuffer) {
        out.begin_packet();
        self.put_body(out);
        out.end_packet();
    }

    /// Writes the packet as COM_FIELD_LIST wants it: with the column's default value (`None`: NULL).
    pub fn write_with_default(&self, out: &mut OutBuffer, default: Option<&[u8]>) {
        out.begin_packet();
        self.put_body(out);
        match default {
            Some(value) => out.put_lenenc_bytes(value),
            None => out.put_u8(0xfb),
        }
        out.end_packet();
    }

    fn put_body(&self, out: &mut OutBuffer) {
        out.store(*b"\x03def");
        out.put_lenenc_texts([self.schema, self.table, self.org_table, self.name, self.org_name]);
        let ([c0, c1], [l0, l1, l2, l3]) = (self.collation.to_le_bytes(), self.length.to_le_bytes());
        let ([f0, f1], kind) = (self.flags.to_le_bytes(), self.column_type as u8);
        out.store([0x0c, c0, c1, l0, l1, l2, l3, kind, f0, f1, self.decimals, 0, 0]);
    }
}

const BINARY: u16 = 63;
/// Decimals of calculated text.
const NOT_FIXED_DECIMALS: u8 = 31;

fn is_text_kind(kind: TypeKind) -> bool {
    use TypeKind::{Binary, Blob, Char, Enum, Set, Text, VarBinary, VarChar};
    matches!(kind, Char | VarChar | Text(_) | Binary | VarBinary | Blob(_) | Enum | Set)
}

/// Whether values are sent in the character set of results.
fn carries_text(ty: &SqlType) -> bool {
    let kind_has_text = matches!(
        ty.kind,
        TypeKind::Char | TypeKind::VarChar | TypeKind::Text(_) | TypeKind::Enum | TypeKind::Set
    );
    kind_has_text && ty.collation.0 != BINARY
}

/// BINARY for everything but text that is compared by weights.
fn binary_flag(ty: &SqlType) -> u16 {
    let has_weights = carries_text(ty) && ty.collation.collation().is_some_and(|found| !found.is_binary());
    if has_weights { 0 } else { flags::BINARY }
}

/// The type of a calculated value: that of long text shows its length class.
fn value_type(kind: TypeKind) -> ColumnType {
    let (TypeKind::Text(size) | TypeKind::Blob(size)) = kind else { return ColumnType::of(kind) };
    match size {
        LobSize::Tiny => ColumnType::TinyBlob,
        LobSize::Normal => ColumnType::Blob,
        LobSize::Medium => ColumnType::MediumBlob,
        LobSize::Long => ColumnType::LongBlob,
    }
}

fn column_flags(ty: &SqlType) -> u16 {
    let kind = match ty.kind {
        TypeKind::Text(_) | TypeKind::Blob(_) => flags::BLOB,
        TypeKind::Enum => flags::ENUM,
        TypeKind::Set => flags::SET,
        TypeKind::Year => flags::UNSIGNED | flags::ZEROFILL,
        _ => 0,
    };
    let fill = if ty.zerofill { flags::ZEROFILL | flags::UNSIGNED } else { 0 };
    // Numbers of tables carry no BINARY flag, calculated ones do.
    let binary = if is_number(ty.kind) { 0 } else { binary_flag(ty) };
    let sign = if is_number(ty.kind) { sign_flag(ty) } else { 0 };
    kind | sign | fill | binary
}

fn value_flags(ty: &SqlType) -> u16 {
    let binary = if ty.kind == TypeKind::Bit { 0 } else { binary_flag(ty) };
    sign_flag(ty) | binary
}

fn sign_flag(ty: &SqlType) -> u16 {
    let is_unsigned = ty.unsigned || matches!(ty.kind, TypeKind::Bit | TypeKind::Year);
    if is_unsigned { flags::UNSIGNED } else { 0 }
}

fn is_number(kind: TypeKind) -> bool {
    use TypeKind::{BigInt, Bit, Decimal, Double, Float, Int, MediumInt, SmallInt, TinyInt, Year};
    matches!(kind, TinyInt | SmallInt | MediumInt | Int | BigInt | Decimal | Float | Double | Bit | Year)
}

/// Width in bytes of the longest value's text form, as MySQL reports it.
fn display_bytes(ty: &SqlType, char_bytes: u32) -> u32 {
    ty.width().saturating_mul(if carries_text(ty) { char_bytes } else { 1 })
}

#[cfg(test)]
mod tests {
    use types::CollationId;

    use super::*;

    #[test]
    fn a_definition_has_its_documented_layout() {
        let ty = SqlType::varchar(10, CollationId::UTF8MB4_BIN);
        let mut column = ColumnDefinition::of_column("n", &ty, ResultCharset::UTF8MB4);
        column.schema = "s";
        column.table = "t";
        column.flags |= flags::NOT_NULL;
        let mut out = OutBuffer::new();
        column.write(&mut out);
        assert_eq!(
            out.pending(),
            b"\x19\0\0\0\x03def\x01s\x01t\0\x01n\0\x0c\xff\0\x28\0\0\0\xfd\x81\0\0\0\0".as_slice()
        );
    }

    #[test]
    fn names_of_any_length_stand_behind_their_lengths() {
        for len in [0, 1, 250, 251, 70_000] {
            let name = "n".repeat(len);
            let column = ColumnDefinition::of_column(&name, &SqlType::bigint(), ResultCharset::UTF8MB4);
            let (mut out, mut expected) = (OutBuffer::new(), OutBuffer::new());
            column.write(&mut out);
            expected.store(*b"\0\0\0\0\x03def\0\0\0");
            expected.put_lenenc_bytes(name.as_bytes());
            expected.put_u8(0);
            let names = 4..expected.pending().len();
            assert_eq!(out.pending()[names.clone()], expected.pending()[names], "{len} bytes");
        }
    }

    #[test]
    fn lengths_count_bytes_of_the_character_set_that_is_sent() {
        let length = |ty: &SqlType, charset| ColumnDefinition::of_column("", ty, charset).length;
        let latin1 = ResultCharset { collation: Some(8), max_bytes: 1 };
        let as_stored = ResultCharset { collation: None, max_bytes: 4 };
        let text = SqlType {
            collation: CollationId::LATIN1_SWEDISH_CI,
            ..SqlType::new(TypeKind::Text(LobSize::Normal), 0)
        };
        assert_eq!(length(&text, ResultCharset::UTF8MB4), 262_140);
        assert_eq!(length(&text, latin1), 65_535);
        assert_eq!(length(&text, as_stored), 65_535);
        let bytes = SqlType::new(TypeKind::Blob(LobSize::Normal), 0);
        assert_eq!(length(&bytes, ResultCharset::UTF8MB4), 65_535);
    }

    #[test]
    fn calculated_values_say_less_of_their_kind_than_columns() {
        let value = |ty: &SqlType| ColumnDefinition::of_value("", ty, ResultCharset::UTF8MB4);
        let column = |ty: &SqlType| ColumnDefinition::of_column("", ty, ResultCharset::UTF8MB4);
        let (number, text) =
            (SqlType::bigint_unsigned(), SqlType::varchar(3, CollationId::UTF8MB4_0900_AI_CI));
        assert_eq!(
            (value(&number).flags, column(&number).flags),
            (flags::UNSIGNED | flags::BINARY, flags::UNSIGNED)
        );
        assert_eq!((value(&text).decimals, column(&text).decimals), (31, 0));
        let long = SqlType { kind: TypeKind::Text(LobSize::Long), ..text };
        assert_eq!((value(&long).column_type, value(&long).flags), (ColumnType::LongBlob, 0));
        assert_eq!((column(&long).column_type, column(&long).flags), (ColumnType::Blob, flags::BLOB));
    }

    #[test]
    fn codes_round_trip() {
        for code in 0..=255 {
            if let Some(ty) = ColumnType::from_code(code) {
                assert_eq!(ty as u8, code);
            }
        }
    }
}
