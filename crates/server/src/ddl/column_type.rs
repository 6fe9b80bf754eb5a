//! Data types as written to types of columns, with MySQL's limits.

use std::collections::HashSet;
use std::sync::Arc;

use sql::ast::{TypeBase, TypeName};
use types::collation::{Charset, convert};
use types::{CollationId, LobSize, SqlType, TypeKind};

use super::collation::CollationClauses;
use super::{column, not_yet};
use crate::diagnostics::Severity;
use crate::error_map::{self, ErrorKind, SqlError};
use crate::session::Session;

const DISPLAY_WIDTH_MAX: u32 = 255;
const FLOAT_BITS_MAX: u32 = 24;
const DOUBLE_BITS_MAX: u32 = 53;
const SCALE_MAX: u32 = types::decimal::SCALE_MAX as u32;
const PRECISION_MAX: u32 = types::decimal::PRECISION_MAX;
const FRACTION_DIGITS_MAX: u32 = 6;
const BITS_MAX: u32 = 64;
const CHAR_LENGTH_MAX: u32 = 255;
const ROW_BYTES_MAX: u32 = 65_535;
const SET_MEMBERS_MAX: usize = 64;
const ENUM_MEMBERS_MAX: usize = 65_535;

/// The part of a type that does not depend on its table.
#[derive(Debug)]
pub(super) struct WrittenType<'a> {
    written: &'a TypeName<'a>,
    clauses: CollationClauses,
    /// The type, unless its character set matters.
    ty: Option<SqlType>,
    /// What is wrong with it.
    failure: Option<SqlError>,
}

/// Reads the type of `column`, whose COLLATE is in `clauses`, and warns of what is going away.
///
/// # Errors
/// Unknown character sets. Others are found by [`WrittenType::ensure_sound`].
pub(super) fn read<'a>(
    session: &mut Session,
    column: &str,
    written: &'a TypeName<'a>,
    mut clauses: CollationClauses,
) -> Result<WrittenType<'a>, SqlError> {
    match written.charset {
        Some(charset) if written.national => {
            if written.binary {
                session.warn(Severity::Warning, binary_attribute());
            }
            session.warn(Severity::Warning, error_map::DEPRECATED_NATIONAL.bare());
            clauses.add_charset(charset)?;
        }
        Some(charset) => clauses.take_charset(session, charset)?,
        None => {}
    }
    if let Some(word) = &written.charset_word {
        let warning = error_map::WARN_DEPRECATED_SYNTAX.with(&[word, &"CHARACTER SET charset_name"]);
        session.warn(Severity::Warning, warning);
    }
    if written.binary && !written.national {
        session.warn(Severity::Warning, binary_attribute());
    }
    let spec = Spec { column, written, collation: CollationId::BINARY, kept_in: CollationId::BINARY };
    let read =
        if spec.has_characters() { spec.ensure_length().map(|()| None) } else { spec.sql_type().map(Some) };
    let (ty, failure) = match read {
        Ok(ty) => (ty, None),
        Err(error) => (None, Some(error)),
    };
    let mut deprecated = ty.as_ref().map_or(Vec::new(), |ty| deprecations(ty, ty.unsigned && !ty.zerofill));
    if ty.as_ref().is_some_and(|ty| ty.zerofill) {
        // MySQL warns of it while it reads the type, of the rest when it knows the type.
        deprecated.rotate_right(1);
    }
    for warning in deprecated {
        session.warn(Severity::Warning, warning);
    }
    if let Some(warning) = written_deprecation(written).filter(|_| failure.is_none()) {
        session.warn(Severity::Warning, warning);
    }
    Ok(WrittenType { written, clauses, ty, failure })
}

impl WrittenType<'_> {
    /// Refuses what is wrong with the type whatever the character set is; MySQL checks defaults before.
    ///
    /// # Errors
    /// Lengths, precisions and scales out of range; 1235 for JSON and spatial types.
    pub(super) fn ensure_sound(&self) -> Result<(), SqlError> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// COLLATE was written.
    pub(super) fn names_collation(&self) -> bool {
        self.clauses.is_collation_named()
    }

    /// BINARY was written.
    pub(super) fn is_binary(&self) -> bool {
        self.written.binary
    }

    /// `ty` is a TEXT because the column is too long for a VARCHAR: CONVERT TO ignores its BINARY.
    pub(super) fn forgets_binary(&self, ty: &SqlType) -> bool {
        self.written.base == TypeBase::VarChar && matches!(ty.kind, TypeKind::Text(_))
    }

    /// The type is an integer's.
    pub(super) fn is_integer(&self) -> bool {
        self.ty.as_ref().is_some_and(SqlType::is_integer)
    }

    /// It is a TEXT or BLOB.
    pub(super) fn is_lob(&self) -> bool {
        use TypeBase::{LongText, MediumText, Text, TinyText};
        let is_blob = |ty: &SqlType| matches!(ty.kind, TypeKind::Blob(_));
        matches!(self.written.base, TinyText | Text | MediumText | LongText)
            || self.ty.as_ref().is_some_and(is_blob)
    }

    /// The length that is written for a TEXT or BLOB, 0 if none is; `None`: it is none.
    pub(super) fn lob_length(&self) -> Option<u32> {
        self.is_lob().then(|| self.written.length.unwrap_or(0))
    }

    /// Digits of the CURRENT_TIMESTAMP that the column takes, if it takes one.
    pub(super) fn now_digits(&self) -> Option<u32> {
        self.ty.as_ref().and_then(column::now_digits)
    }

    /// The type of `column` in a table of collation `default`; its length is limited by what CONVERT TO makes
    /// of it, `converted`. Beyond strict modes a VARCHAR without a
    /// default that is too long becomes a TEXT, and members may be repeated; `notes` gets the warnings.
    ///
    /// # Errors
    /// 1074, 1097, 1291, 1367.
    pub(super) fn sql_type(
        &self,
        session: &Session,
        (column, has_default): (&str, bool),
        (default, converted): (CollationId, Option<CollationId>),
        notes: &mut Vec<SqlError>,
    ) -> Result<SqlType, SqlError> {
        if let Some(ty) = &self.ty {
            return Ok(ty.clone());
        }
        let collation = if self.written.binary {
            self.clauses.resolve_binary(default)
        } else {
            self.clauses.resolve(default)
        };
        let kept_in = converted.filter(|_| collation != CollationId::BINARY).unwrap_or(collation);
        let spec = Spec { column, written: self.written, collation, kept_in };
        let is_strict = session.variables.hot.sql_mode.is_strict();
        if let Some(ty) = spec.as_lob().filter(|_| !is_strict && !has_default) {
            notes.push(became_lob(column, &ty));
            return Ok(ty);
        }
        let ty = spec.sql_type()?;
        for error in spec.repeated_members() {
            if is_strict {
                return Err(error);
            }
            notes.push(error);
        }
        Ok(ty)
    }
}

/// The note about a VARCHAR or VARBINARY that becomes the TEXT or BLOB `ty`.
#[cold]
pub(super) fn became_lob(column: &str, ty: &SqlType) -> SqlError {
    let is_text = matches!(ty.kind, TypeKind::Text(_));
    let [from, to] = if is_text { ["VARCHAR", "TEXT"] } else { ["VARBINARY", "BLOB"] };
    error_map::AUTO_CONVERT.with(&[&column, &from, &to])
}

/// Warnings that a column of this type earns each time it is defined, by CREATE TABLE .. LIKE too.
/// `unsigned`: it is so by itself, not for its ZEROFILL.
pub(super) fn deprecations(ty: &SqlType, unsigned: bool) -> Vec<SqlError> {
    let kind = &error_map::WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT;
    let is_float = matches!(ty.kind, TypeKind::Float | TypeKind::Double);
    let mut found = Vec::new();
    if is_float && ty.decimals < SqlType::NOT_FIXED_DECIMALS {
        found.push(
            "Specifying number of digits for floating point data types is deprecated and will be removed in a \
             future release.",
        );
    }
    if unsigned && (is_float || ty.kind == TypeKind::Decimal) {
        found.push(
            "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in \
             a future release.",
        );
    }
    if ty.zerofill {
        found.push(
            "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD function to \
             zero-pad numbers, or store the formatted numbers in a CHAR column.",
        );
    }
    found.into_iter().map(|text| kind.with_message(text.to_owned())).collect()
}

/// The warning about how the type is written, if any.
fn written_deprecation(written: &TypeName<'_>) -> Option<SqlError> {
    written.length?;
    match written.base {
        _ if written.boolean => None,
        TypeBase::TinyInt | TypeBase::SmallInt | TypeBase::MediumInt | TypeBase::Int | TypeBase::BigInt => {
            let text = "Integer display width is deprecated and will be removed in a future release.";
            Some(error_map::WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.with_message(text.to_owned()))
        }
        TypeBase::Year => Some(error_map::WARN_DEPRECATED_SYNTAX.with(&[&"YEAR(4)", &"YEAR"])),
        _ => None,
    }
}

#[cold]
fn binary_attribute() -> SqlError {
    let replacement = "a CHARACTER SET clause with _bin collation";
    error_map::WARN_DEPRECATED_SYNTAX.with(&[&"BINARY as attribute of a type", &replacement])
}

/// A type as written, and what it applies to.
struct Spec<'a> {
    column: &'a str,
    written: &'a TypeName<'a>,
    collation: CollationId,
    /// The collation that the column has in the end, which decides how long it may be.
    kept_in: CollationId,
}

impl Spec<'_> {
    /// Whether the type depends on a character set, or on how long it is at most.
    fn has_characters(&self) -> bool {
        use TypeBase::{Char, Enum, LongText, MediumText, Set, Text, TinyText, VarBinary, VarChar};
        let base = self.written.base;
        let has =
            matches!(base, Char | VarChar | VarBinary | TinyText | Text | MediumText | LongText | Enum | Set);
        has && !self.written.too_long
    }

    /// A CHAR has a length that every character set allows for.
    fn ensure_length(&self) -> Result<(), SqlError> {
        if self.written.base == TypeBase::Char && self.written.length > Some(CHAR_LENGTH_MAX) {
            return self.fail(&error_map::TOO_BIG_FIELDLENGTH, CHAR_LENGTH_MAX);
        }
        Ok(())
    }

    /// The TEXT or BLOB that holds as much as a VARCHAR or VARBINARY that is too long.
    fn as_lob(&self) -> Option<SqlType> {
        let is_varying = matches!(self.written.base, TypeBase::VarChar | TypeBase::VarBinary);
        let is_binary = self.written.base == TypeBase::VarBinary || self.kept_in == CollationId::BINARY;
        let char_bytes = if is_binary { 1 } else { char_bytes(self.kept_in) };
        let too_long = self.written.length > Some(ROW_BYTES_MAX / char_bytes);
        let kind = if is_binary { TypeKind::Blob } else { TypeKind::Text };
        let collation = if is_binary { CollationId::BINARY } else { self.kept_in };
        let lob = || SqlType { collation, ..SqlType::new(kind(self.lob_size(char_bytes)), 0) };
        (is_varying && too_long).then(lob)
    }

    fn sql_type(&self) -> Result<SqlType, SqlError> {
        if self.written.too_long {
            return self.fail(&error_map::TOO_BIG_DISPLAYWIDTH, u32::MAX);
        }
        let exact = |kind, length| Ok(SqlType::new(kind, length));
        match self.written.base {
            TypeBase::TinyInt => self.integer(TypeKind::TinyInt, 4),
            TypeBase::SmallInt => self.integer(TypeKind::SmallInt, 6),
            TypeBase::MediumInt => self.integer(TypeKind::MediumInt, 9),
            TypeBase::Int => self.integer(TypeKind::Int, 11),
            TypeBase::BigInt if self.written.unsigned => self.integer(TypeKind::BigInt, 21),
            TypeBase::BigInt => self.integer(TypeKind::BigInt, 20),
            TypeBase::Decimal => self.decimal(),
            TypeBase::Float => self.float(),
            TypeBase::Double => self.double(TypeKind::Double),
            TypeBase::Bit => self.bit(),
            TypeBase::Date => exact(TypeKind::Date, 10),
            TypeBase::Time => self.temporal(TypeKind::Time, 10),
            TypeBase::DateTime => self.temporal(TypeKind::DateTime, 19),
            TypeBase::Timestamp => self.temporal(TypeKind::Timestamp, 19),
            TypeBase::Year => match self.written.length {
                None | Some(4) => exact(TypeKind::Year, 4),
                Some(_) => Err(error_map::INVALID_YEAR_COLUMN_LENGTH.bare()),
            },
            TypeBase::Char | TypeBase::VarChar => self.characters(),
            TypeBase::Binary => self.bytes(TypeKind::Binary, CHAR_LENGTH_MAX),
            TypeBase::VarBinary => self.bytes(TypeKind::VarBinary, ROW_BYTES_MAX),
            TypeBase::TinyBlob => exact(TypeKind::Blob(LobSize::Tiny), 0),
            TypeBase::Blob => exact(TypeKind::Blob(self.lob_size(1)), 0),
            TypeBase::MediumBlob => exact(TypeKind::Blob(LobSize::Medium), 0),
            TypeBase::LongBlob => exact(TypeKind::Blob(LobSize::Long), 0),
            TypeBase::TinyText => Ok(self.text(LobSize::Tiny)),
            TypeBase::Text => Ok(self.text(self.lob_size(char_bytes(self.collation)))),
            TypeBase::MediumText => Ok(self.text(LobSize::Medium)),
            TypeBase::LongText => Ok(self.text(LobSize::Long)),
            TypeBase::Enum | TypeBase::Set => self.members(),
            TypeBase::Json => Err(not_yet("JSON columns")),
            _ => Err(not_yet("spatial columns")),
        }
    }

    fn fail<T>(&self, kind: &ErrorKind, max: u32) -> Result<T, SqlError> {
        Err(kind.with(&[&self.column, &max]))
    }

    fn integer(&self, kind: TypeKind, signed_width: u32) -> Result<SqlType, SqlError> {
        let width = signed_width - u32::from(self.written.unsigned);
        let length = self.written.length.unwrap_or(width);
        if length > DISPLAY_WIDTH_MAX {
            return self.fail(&error_map::TOO_BIG_DISPLAYWIDTH, DISPLAY_WIDTH_MAX);
        }
        // A width shows only with ZEROFILL, and BOOL's.
        let is_bool = kind == TypeKind::TinyInt && length == 1 && !self.written.unsigned;
        let length = if (self.written.zerofill || is_bool) && length > 0 { length } else { width };
        Ok(self.number(SqlType::new(kind, length)))
    }

    fn number(&self, ty: SqlType) -> SqlType {
        let TypeName { unsigned, zerofill, .. } = *self.written;
        SqlType { unsigned: unsigned || zerofill, zerofill, ..ty }
    }

    fn decimal(&self) -> Result<SqlType, SqlError> {
        let precision = self.written.length.filter(|&length| length > 0).unwrap_or(10);
        let scale = self.written.decimals.unwrap_or(0);
        if scale > SCALE_MAX {
            return Err(error_map::TOO_BIG_SCALE.with(&[&scale, &self.column, &SCALE_MAX]));
        }
        if precision > PRECISION_MAX {
            return Err(error_map::TOO_BIG_PRECISION.with(&[&precision, &self.column, &PRECISION_MAX]));
        }
        if precision < scale {
            return Err(error_map::M_BIGGER_THAN_D.with(&[&self.column]));
        }
        Ok(self.number(SqlType::decimal(precision, scale as u8)))
    }

    /// FLOAT(p) is a precision in bits, FLOAT(m, d) one in digits.
    fn float(&self) -> Result<SqlType, SqlError> {
        match (self.written.length, self.written.decimals) {
            (Some(bits), None) if bits > DOUBLE_BITS_MAX => {
                Err(error_map::WRONG_FIELD_SPEC.with(&[&self.column]))
            }
            (Some(bits), None) if bits > FLOAT_BITS_MAX => Ok(self.number(double_without_scale())),
            (_, None) => Ok(self.number(float_without_scale())),
            _ => self.double(TypeKind::Float),
        }
    }

    fn double(&self, kind: TypeKind) -> Result<SqlType, SqlError> {
        let (Some(length), Some(scale)) = (self.written.length, self.written.decimals) else {
            return Ok(self.number(double_without_scale()));
        };
        if scale > SCALE_MAX {
            return Err(error_map::TOO_BIG_SCALE.with(&[&scale, &self.column, &SCALE_MAX]));
        }
        if length > DISPLAY_WIDTH_MAX {
            return self.fail(&error_map::TOO_BIG_DISPLAYWIDTH, DISPLAY_WIDTH_MAX);
        }
        if length < scale {
            return Err(error_map::M_BIGGER_THAN_D.with(&[&self.column]));
        }
        Ok(self.number(SqlType { decimals: scale as u8, ..SqlType::new(kind, length) }))
    }

    fn bit(&self) -> Result<SqlType, SqlError> {
        match self.written.length.unwrap_or(1) {
            0 => Err(error_map::INVALID_FIELD_SIZE.with(&[&self.column])),
            bits if bits > BITS_MAX => self.fail(&error_map::TOO_BIG_DISPLAYWIDTH, BITS_MAX),
            bits => Ok(SqlType { unsigned: true, ..SqlType::new(TypeKind::Bit, bits) }),
        }
    }

    fn temporal(&self, kind: TypeKind, width: u32) -> Result<SqlType, SqlError> {
        let digits = self.written.length.unwrap_or(0);
        if digits > FRACTION_DIGITS_MAX {
            return Err(error_map::TOO_BIG_PRECISION.with(&[&digits, &self.column, &FRACTION_DIGITS_MAX]));
        }
        let fraction = if digits == 0 { 0 } else { digits + 1 };
        Ok(SqlType { decimals: digits as u8, ..SqlType::new(kind, width + fraction) })
    }

    /// CHAR and VARCHAR, which are BINARY and VARBINARY in the character set `binary`.
    fn characters(&self) -> Result<SqlType, SqlError> {
        let is_varying = self.written.base == TypeBase::VarChar;
        if self.collation == CollationId::BINARY {
            return if is_varying {
                self.bytes(TypeKind::VarBinary, ROW_BYTES_MAX)
            } else {
                self.bytes(TypeKind::Binary, CHAR_LENGTH_MAX)
            };
        }
        let (kind, max) = if is_varying {
            (TypeKind::VarChar, ROW_BYTES_MAX / char_bytes(self.kept_in))
        } else {
            (TypeKind::Char, CHAR_LENGTH_MAX)
        };
        let ty = self.bytes(kind, max)?;
        Ok(SqlType { collation: self.collation, ..ty })
    }

    fn bytes(&self, kind: TypeKind, max: u32) -> Result<SqlType, SqlError> {
        let length = self.written.length.unwrap_or(1);
        if length > max {
            return self.fail(&error_map::TOO_BIG_FIELDLENGTH, max);
        }
        Ok(SqlType::new(kind, length))
    }

    fn text(&self, size: LobSize) -> SqlType {
        if self.collation == CollationId::BINARY {
            return SqlType::new(TypeKind::Blob(size), 0);
        }
        SqlType { collation: self.collation, ..SqlType::new(TypeKind::Text(size), 0) }
    }

    /// The smallest class that holds as many characters as were asked for.
    fn lob_size(&self, char_bytes: u32) -> LobSize {
        let Some(length) = self.written.length.filter(|&length| length > 0) else {
            return LobSize::Normal;
        };
        LobSize::holding(u64::from(length) * u64::from(char_bytes))
    }

    fn members(&self) -> Result<SqlType, SqlError> {
        let is_set = self.written.base == TypeBase::Set;
        let max = if is_set { SET_MEMBERS_MAX } else { ENUM_MEMBERS_MAX };
        if self.written.members.len() > max {
            return Err(error_map::TOO_BIG_SET.with(&[&self.column]));
        }
        let charset = self.collation.collation().map_or(Charset::Utf8mb4, |collation| collation.charset);
        let mut members: Vec<Box<[u8]>> = Vec::with_capacity(self.written.members.len());
        let mut lengths = Vec::with_capacity(members.capacity());
        for text in self.written.members {
            if is_set && text.contains(',') {
                return Err(error_map::ILLEGAL_VALUE_FOR_TYPE.with(&[&"set", text]));
            }
            let member = member(text, charset);
            lengths.push(charset.char_len(&member) as u32);
            members.push(member.into());
        }
        let (kind, length) = if is_set {
            (TypeKind::Set, lengths.iter().sum::<u32>() + lengths.len().saturating_sub(1) as u32)
        } else {
            (TypeKind::Enum, lengths.iter().copied().max().unwrap_or(0))
        };
        let members: Arc<[Box<[u8]>]> = members.into();
        Ok(SqlType { collation: self.collation, members: Some(members), ..SqlType::new(kind, length) })
    }

    /// The problem of each member that equals a later one.
    fn repeated_members(&self) -> Vec<SqlError> {
        let Some(collation) = self.collation.collation() else { return Vec::new() };
        let kind = if self.written.base == TypeBase::Set { "SET" } else { "ENUM" };
        let members: Vec<Vec<u8>> =
            self.written.members.iter().map(|text| member(text, collation.charset)).collect();
        // From the last to the first, so that what was seen comes after.
        let mut seen = HashSet::with_capacity(members.len());
        let mut is_repeated = |at: &usize| {
            let mut key = Vec::new();
            collation.sort_key(&members[*at], &mut key);
            !seen.insert(key)
        };
        let mut repeated: Vec<usize> = (0..members.len()).rev().filter(|at| is_repeated(at)).collect();
        repeated.reverse();
        let error = |at: usize| {
            let mut text = Vec::new();
            convert(collation.charset, Charset::Utf8mb4, &members[at], &mut text);
            let text = String::from_utf8_lossy(&text);
            error_map::DUPLICATED_VALUE_IN_TYPE.with(&[&self.column, &text, &kind])
        };
        repeated.into_iter().map(error).collect()
    }
}

/// Most bytes of a character.
fn char_bytes(collation: CollationId) -> u32 {
    SqlType::varchar(0, collation).max_char_bytes()
}

/// A member in the column's character set, without trailing spaces; `?` stands for what that has not.
fn member(text: &str, charset: Charset) -> Vec<u8> {
    let mut member = Vec::new();
    convert(Charset::Utf8mb4, charset, text.trim_end_matches(' ').as_bytes(), &mut member);
    member
}

fn float_without_scale() -> SqlType {
    SqlType { decimals: SqlType::NOT_FIXED_DECIMALS, ..SqlType::new(TypeKind::Float, 12) }
}

fn double_without_scale() -> SqlType {
    SqlType { decimals: SqlType::NOT_FIXED_DECIMALS, ..SqlType::new(TypeKind::Double, 22) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: CollationId = CollationId::UTF8MB4_0900_AI_CI;

    fn written(base: TypeBase, length: Option<u32>, decimals: Option<u32>) -> TypeName<'static> {
        TypeName {
            base,
            length,
            decimals,
            unsigned: false,
            zerofill: false,
            binary: false,
            charset: None,
            national: false,
            charset_word: None,
            too_long: false,
            members: &[],
            serial: false,
            boolean: false,
        }
    }

    fn convert_type(written: &TypeName<'_>, collation: CollationId) -> Result<String, u16> {
        let spec = Spec { column: "c", written, collation, kept_in: collation };
        let repeated = spec.repeated_members().into_iter().next();
        let ty = spec.sql_type().and_then(|ty| repeated.map_or(Ok(ty), Err));
        ty.map(|ty| ty.to_string()).map_err(|error| error.code)
    }

    #[test]
    fn synonyms_and_lengths_become_types() {
        use TypeBase::{Bit, Blob, Char, Decimal, Float, Int, Text, TinyInt, VarChar};
        let cases = [
            (written(TinyInt, Some(1), None), "tinyint(1)"),
            (written(Int, Some(5), None), "int"),
            (TypeName { zerofill: true, ..written(Int, None, None) }, "int(11) unsigned zerofill"),
            (written(Float, Some(24), None), "float"),
            (written(Float, Some(25), None), "double"),
            (written(Float, Some(7), Some(2)), "float(7,2)"),
            (written(Decimal, None, None), "decimal(10,0)"),
            (written(Text, Some(63), None), "tinytext"),
            (written(Text, Some(64), None), "text"),
            (written(Blob, Some(1 << 24), None), "longblob"),
            (written(Bit, None, None), "bit(1)"),
            (written(Char, None, None), "char(1)"),
            (written(VarChar, Some(16_383), None), "varchar(16383)"),
        ];
        for (written, expected) in &cases {
            assert_eq!(convert_type(written, DEFAULT).as_deref(), Ok(*expected));
        }
        assert_eq!(
            convert_type(&written(Char, Some(3), None), CollationId::BINARY).as_deref(),
            Ok("binary(3)")
        );
        assert_eq!(convert_type(&written(Text, None, None), CollationId::BINARY).as_deref(), Ok("blob"));
    }

    #[test]
    fn types_out_of_range_are_refused() {
        use TypeBase::{Binary, Bit, Char, DateTime, Decimal, Double, Float, Int, VarChar, Year};
        let cases = [
            (written(Int, Some(256), None), 1439),
            (written(Decimal, Some(66), Some(0)), 1426),
            (written(Decimal, Some(10), Some(31)), 1425),
            (written(Decimal, Some(5), Some(6)), 1427),
            (written(Float, Some(54), None), 1063),
            (written(Double, Some(5), Some(6)), 1427),
            (written(Bit, Some(0), None), 3013),
            (written(Bit, Some(65), None), 1439),
            (written(DateTime, Some(7), None), 1426),
            (written(Char, Some(256), None), 1074),
            (written(Binary, Some(256), None), 1074),
            (written(VarChar, Some(16_384), None), 1074),
            (written(Year, Some(2), None), 1818),
            (written(TypeBase::Json, None, None), 1235),
            (written(TypeBase::Point, None, None), 1235),
        ];
        for (written, expected) in &cases {
            assert_eq!(convert_type(written, DEFAULT), Err(*expected), "{written:?}");
        }
    }

    #[test]
    fn members_differ_under_their_collation() {
        let of = |base, members| TypeName { members, ..written(base, None, None) };
        let kind = |written, collation| convert_type(&written, collation);
        assert_eq!(kind(of(TypeBase::Enum, &["a ", "b"]), DEFAULT).as_deref(), Ok("enum('a','b')"));
        assert_eq!(kind(of(TypeBase::Enum, &["a", "A"]), DEFAULT), Err(1291));
        assert_eq!(
            kind(of(TypeBase::Enum, &["a", "A"]), CollationId::UTF8MB4_BIN).as_deref(),
            Ok("enum('a','A')")
        );
        assert_eq!(kind(of(TypeBase::Set, &["a,b"]), DEFAULT), Err(1367));
        let lossy = of(TypeBase::Enum, &["\u{20ac}", "a"]);
        assert_eq!(kind(lossy, CollationId::ASCII_BIN).as_deref(), Ok("enum('?','a')"));
    }
}
