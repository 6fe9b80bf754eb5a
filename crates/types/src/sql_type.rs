//! The type of a column, expression or parameter.

mod display;
mod width;

use std::sync::Arc;

use crate::{Charset, CollationId};

/// Length class of TEXT and BLOB types: the largest byte length is `2^(8 * class) - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LobSize {
    /// 255 bytes.
    Tiny = 1,
    /// 65,535 bytes.
    Normal = 2,
    /// 16,777,215 bytes.
    Medium = 3,
    /// 4,294,967,295 bytes.
    Long = 4,
}

impl LobSize {
    /// Most bytes of a value.
    pub const fn max_bytes(self) -> u64 {
        (1 << (8 * self as u64)) - 1
    }

    /// The smallest size that holds `bytes`, or the largest.
    pub fn holding(bytes: u64) -> LobSize {
        let sizes = [LobSize::Tiny, LobSize::Normal, LobSize::Medium];
        sizes.into_iter().find(|size| bytes <= size.max_bytes()).unwrap_or(LobSize::Long)
    }
}

/// What kind of value a type holds. Sizes, sign and collation are beside it in [`SqlType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// The type of a bare NULL.
    Null,
    /// 1 byte.
    TinyInt,
    /// 2 bytes.
    SmallInt,
    /// 3 bytes.
    MediumInt,
    /// 4 bytes.
    Int,
    /// 8 bytes.
    BigInt,
    /// `length` = precision (1..=65), `decimals` = scale (0..=30).
    Decimal,
    /// IEEE single.
    Float,
    /// IEEE double.
    Double,
    /// `length` = bits (1..=64).
    Bit,
    /// `length` = characters (0..=255); stored without trailing spaces.
    Char,
    /// `length` = characters.
    VarChar,
    /// `length` = bytes, padded with zero bytes on reading.
    Binary,
    /// `length` = bytes.
    VarBinary,
    /// TEXT family.
    Text(LobSize),
    /// BLOB family.
    Blob(LobSize),
    /// 1000-01-01 ..= 9999-12-31, and zero dates.
    Date,
    /// -838:59:59 ..= 838:59:59; `decimals` = fractional digits (0..=6).
    Time,
    /// Date and time of day, no zone; `decimals` = fractional digits.
    DateTime,
    /// Seconds since 1970 UTC, shown in the session's zone; `decimals` = fractional digits.
    Timestamp,
    /// 1901..=2155 and 0.
    Year,
    /// One of `members`.
    Enum,
    /// Any of `members`, at most 64.
    Set,
}

/// A complete SQL type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SqlType {
    /// Kind of value.
    pub kind: TypeKind,
    /// UNSIGNED (integers, DECIMAL, FLOAT, DOUBLE).
    pub unsigned: bool,
    /// ZEROFILL: display only.
    pub zerofill: bool,
    /// Characters, bytes, bits, precision or display width, as the kind says. 0: the kind's own, or for TEXT
    /// and BLOB its class's; calculated ones have the characters of their longest value.
    pub length: u32,
    /// Scale or fractional-second digits; 31 ("not fixed") for FLOAT and DOUBLE without a scale.
    pub decimals: u8,
    /// Collation of character types; [`CollationId::BINARY`] otherwise.
    pub collation: CollationId,
    /// Members of ENUM and SET in definition order, in the column's character set.
    pub members: Option<Arc<[Box<[u8]>]>>,
    /// Of a DOUBLE or FLOAT with a fixed scale: the digits are those of a calculation, to which no column has
    /// rounded its values.
    pub is_calculated: bool,
}

impl SqlType {
    /// `decimals` of a FLOAT or DOUBLE that shows as many digits as it needs.
    pub const NOT_FIXED_DECIMALS: u8 = 31;

    /// A type of this kind with the given length, no decimals, binary collation.
    pub fn new(kind: TypeKind, length: u32) -> Self {
        SqlType {
            kind,
            unsigned: false,
            zerofill: false,
            length,
            decimals: 0,
            collation: CollationId::BINARY,
            members: None,
            is_calculated: false,
        }
    }

    /// Signed BIGINT, the type of most integer expressions.
    pub fn bigint() -> Self {
        SqlType::new(TypeKind::BigInt, 21)
    }

    /// Unsigned BIGINT.
    pub fn bigint_unsigned() -> Self {
        SqlType { unsigned: true, ..SqlType::new(TypeKind::BigInt, 21) }
    }

    /// DOUBLE without a fixed scale.
    pub fn double() -> Self {
        SqlType { decimals: Self::NOT_FIXED_DECIMALS, ..SqlType::new(TypeKind::Double, 23) }
    }

    /// DECIMAL(`precision`, `scale`).
    pub fn decimal(precision: u32, scale: u8) -> Self {
        SqlType { decimals: scale, ..SqlType::new(TypeKind::Decimal, precision) }
    }

    /// VARCHAR of `chars` characters.
    pub fn varchar(chars: u32, collation: CollationId) -> Self {
        SqlType { collation, ..SqlType::new(TypeKind::VarChar, chars) }
    }

    /// The type of a bare NULL.
    pub fn null() -> Self {
        SqlType::new(TypeKind::Null, 0)
    }

    /// Number of members of an ENUM or SET.
    pub fn member_count(&self) -> usize {
        self.members.as_ref().map_or(0, |members| members.len())
    }

    /// Character set of the collation.
    pub fn charset(&self) -> Charset {
        self.collation.collation().map_or(Charset::Utf8mb4, |collation| collation.charset)
    }

    /// Most bytes of one character: 1 for bytes.
    pub fn max_char_bytes(&self) -> u32 {
        self.charset().max_char_bytes() as u32
    }

    /// Integer kinds (BIT and YEAR are not among them).
    pub fn is_integer(&self) -> bool {
        use TypeKind::{BigInt, Int, MediumInt, SmallInt, TinyInt};
        matches!(self.kind, TinyInt | SmallInt | MediumInt | Int | BigInt)
    }

    /// Kinds whose value is a string of characters or bytes (ENUM and SET are not among them).
    pub fn is_string(&self) -> bool {
        use TypeKind::{Binary, Blob, Char, Text, VarBinary, VarChar};
        matches!(self.kind, Char | VarChar | Binary | VarBinary | Text(_) | Blob(_))
    }

    /// Whether values are texts in a character set: strings that are not binary, members of ENUM and SET.
    pub fn has_charset(&self) -> bool {
        self.members.is_some() || self.is_string() && self.collation != CollationId::BINARY
    }

    /// DATE, TIME, DATETIME, TIMESTAMP.
    pub fn is_temporal(&self) -> bool {
        matches!(self.kind, TypeKind::Date | TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp)
    }
}
