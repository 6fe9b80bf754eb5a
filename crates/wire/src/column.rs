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
    pub fn from_code(code: u8) -> Option<ColumnType> {
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
    /// First column of an index.
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
    /// TIMESTAMP.
    pub const TIMESTAMP: u16 = 1024;
    /// SET.
    pub const SET: u16 = 2048;
    /// NOT NULL without a default.
    pub const NO_DEFAULT: u16 = 4096;
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub const ON_UPDATE_NOW: u16 = 8192;
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
    /// An expression called `name` of type `ty`, sent in `charset`. Callers add table names and key flags.
    pub fn of_type(name: &'a str, ty: &SqlType, charset: ResultCharset) -> Self {
        let text = carries_text(ty);
        let collation = if text { charset.collation.unwrap_or(ty.collation.0) } else { BINARY };
        ColumnDefinition {
            schema: "",
            table: "",
            org_table: "",
            name,
            org_name: "",
            collation,
            length: display_bytes(ty, u32::from(charset.max_bytes)),
            column_type: ColumnType::of(ty.kind),
            flags: type_flags(ty),
            decimals: ty.decimals,
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
        out.put_bytes(b"\x03def");
        for text in [self.schema, self.table, self.org_table, self.name, self.org_name] {
            out.put_lenenc_bytes(text.as_bytes());
        }
        out.put_u8(0x0c);
        out.put_u16(self.collation);
        out.put_u32(self.length);
        out.put_u8(self.column_type as u8);
        out.put_u16(self.flags);
        out.put_u8(self.decimals);
        out.put_u16(0);
    }
}

const BINARY: u16 = 63;

fn carries_text(ty: &SqlType) -> bool {
    let kind_has_text = matches!(
        ty.kind,
        TypeKind::Char | TypeKind::VarChar | TypeKind::Text(_) | TypeKind::Enum | TypeKind::Set
    );
    kind_has_text && ty.collation.0 != BINARY
}

fn type_flags(ty: &SqlType) -> u16 {
    let kind = match ty.kind {
        TypeKind::Text(_) | TypeKind::Blob(_) => flags::BLOB,
        TypeKind::Enum => flags::ENUM,
        TypeKind::Set => flags::SET,
        TypeKind::Timestamp => flags::TIMESTAMP,
        TypeKind::Bit => flags::UNSIGNED,
        TypeKind::Year => flags::UNSIGNED | flags::ZEROFILL,
        _ => 0,
    };
    let sign = if ty.unsigned { flags::UNSIGNED } else { 0 };
    let fill = if ty.zerofill { flags::ZEROFILL | flags::UNSIGNED } else { 0 };
    let binary = if carries_text(ty) { 0 } else { flags::BINARY };
    // Numbers of tables carry no BINARY flag, expressions do; clients look at it for strings and dates alone.
    let binary = if is_number(ty.kind) { 0 } else { binary };
    kind | sign | fill | binary
}

fn is_number(kind: TypeKind) -> bool {
    use TypeKind::{BigInt, Bit, Decimal, Double, Float, Int, MediumInt, SmallInt, TinyInt, Year};
    matches!(kind, TinyInt | SmallInt | MediumInt | Int | BigInt | Decimal | Float | Double | Bit | Year)
}

/// Width in bytes of the longest value's text form, as MySQL reports it.
fn display_bytes(ty: &SqlType, char_bytes: u32) -> u32 {
    let or = |default: u32| if ty.length == 0 { default } else { ty.length };
    let sign = u32::from(!ty.unsigned);
    let fraction = if ty.decimals == 0 { 0 } else { u32::from(ty.decimals) + 1 };
    let text_bytes = if carries_text(ty) { char_bytes } else { 1 };
    match ty.kind {
        TypeKind::Null => 0,
        TypeKind::TinyInt => or(3 + sign),
        TypeKind::SmallInt => or(5 + sign),
        TypeKind::MediumInt => or(8 + sign),
        TypeKind::Int => or(10 + sign),
        TypeKind::BigInt => or(20),
        TypeKind::Decimal => ty.length + sign + u32::from(ty.decimals > 0),
        TypeKind::Float => or(12),
        TypeKind::Double => or(22),
        TypeKind::Bit => or(1),
        TypeKind::Char | TypeKind::VarChar => ty.length.saturating_mul(text_bytes),
        TypeKind::Binary | TypeKind::VarBinary => ty.length,
        TypeKind::Text(size) | TypeKind::Blob(size) => lob_bytes(size).saturating_mul(text_bytes),
        TypeKind::Date => 10,
        TypeKind::Time => 10 + fraction,
        TypeKind::DateTime | TypeKind::Timestamp => 19 + fraction,
        TypeKind::Year => 4,
        TypeKind::Enum => members_length(ty, false).saturating_mul(text_bytes),
        TypeKind::Set => members_length(ty, true).saturating_mul(text_bytes),
    }
}

fn lob_bytes(size: LobSize) -> u32 {
    match size {
        LobSize::Tiny => 0xff,
        LobSize::Normal => 0xffff,
        LobSize::Medium => 0xff_ffff,
        LobSize::Long => 0xffff_ffff,
    }
}

/// Characters of the longest member, or of all members with commas between them.
fn members_length(ty: &SqlType, all: bool) -> u32 {
    let members = ty.members.as_deref().unwrap_or_default();
    let lengths = members.iter().map(|m| String::from_utf8_lossy(m).chars().count() as u32);
    if all {
        lengths.sum::<u32>() + (members.len() as u32).saturating_sub(1)
    } else {
        lengths.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use types::CollationId;

    use super::*;

    #[test]
    fn a_definition_has_its_documented_layout() {
        let ty = SqlType::varchar(10, CollationId::UTF8MB4_BIN);
        let mut column = ColumnDefinition::of_type("n", &ty, ResultCharset::UTF8MB4);
        column.schema = "s";
        column.table = "t";
        column.flags |= flags::NOT_NULL;
        let mut out = OutBuffer::new();
        column.write(&mut out);
        assert_eq!(
            out.pending(),
            b"\x19\0\0\0\x03def\x01s\x01t\0\x01n\0\x0c\xff\0\x28\0\0\0\xfd\x01\0\0\0\0".as_slice()
        );
    }

    #[test]
    fn widths_are_those_of_mysql() {
        let width = |ty: SqlType| ColumnDefinition::of_type("", &ty, ResultCharset::UTF8MB4).length;
        assert_eq!(width(SqlType::new(TypeKind::TinyInt, 1)), 1);
        assert_eq!(width(SqlType::new(TypeKind::Int, 0)), 11);
        assert_eq!(width(SqlType { unsigned: true, ..SqlType::new(TypeKind::Int, 0) }), 10);
        assert_eq!(width(SqlType::decimal(10, 2)), 12);
        assert_eq!(width(SqlType { decimals: 6, ..SqlType::new(TypeKind::DateTime, 0) }), 26);
        let text = SqlType {
            collation: CollationId::UTF8MB4_BIN,
            ..SqlType::new(TypeKind::Text(LobSize::Normal), 0)
        };
        assert_eq!(width(text), 262_140);
        assert_eq!(width(SqlType::new(TypeKind::Blob(LobSize::Normal), 0)), 65_535);
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
