//! Constants, parameters, columns and variables.

use types::temporal::{DateFlags, FSP_MAX, ParsedTime};
use types::{CollationId, Date, DateTime, Decimal, OwnedValue, SqlModes, SqlType, Time, TypeKind};

use super::{BindError, Builder, string_type};
use crate::{Expr, ExprKind};

impl Builder {
    /// NULL.
    pub fn null(&self) -> Expr {
        Expr::constant(OwnedValue::Null, SqlType::null())
    }

    /// TRUE, FALSE.
    pub fn boolean(&self, value: bool) -> Expr {
        Expr::constant(OwnedValue::Int(i64::from(value)), SqlType::new(TypeKind::BigInt, 1))
    }

    /// An integer.
    pub fn int(&self, value: i64) -> Expr {
        let digits = value.unsigned_abs().max(1).ilog10() + 1;
        Expr::constant(OwnedValue::Int(value), SqlType::new(TypeKind::BigInt, digits + 1))
    }

    /// An integer written with `digits` digits: zeros before it count.
    pub fn int_literal(&self, value: i64, digits: u32) -> Expr {
        Expr { ty: SqlType::new(TypeKind::BigInt, digits + 1), ..self.int(value) }
    }

    /// An integer above `i64::MAX`.
    pub fn uint(&self, value: u64) -> Expr {
        let digits = value.max(1).ilog10() + 1;
        let ty = SqlType { unsigned: true, ..SqlType::new(TypeKind::BigInt, digits) };
        Expr::constant(OwnedValue::UInt(value), ty)
    }

    /// An exact number with a point, or an integer beyond 64 bits.
    pub fn decimal(&self, value: Decimal) -> Expr {
        let precision = value.precision().min(types::decimal::PRECISION_MAX);
        Expr::constant(OwnedValue::Decimal(value), SqlType::decimal(precision, value.scale()))
    }

    /// An exact number written with `whole` digits before the point.
    pub fn decimal_literal(&self, value: Decimal, whole: u32) -> Expr {
        let mut constant = self.decimal(value);
        let digits = whole.saturating_add(u32::from(constant.ty.decimals));
        constant.ty.length = constant.ty.length.max(digits.min(types::decimal::PRECISION_MAX));
        constant
    }

    /// A number with an exponent.
    pub fn double(&self, value: f64) -> Expr {
        Expr::constant(OwnedValue::Double(value), SqlType::double())
    }

    /// A number with an exponent, written in `width` characters.
    pub fn double_literal(&self, value: f64, width: u32) -> Expr {
        Expr::constant(OwnedValue::Double(value), SqlType { length: width, ..SqlType::double() })
    }

    /// A string in the character set of `collation`.
    pub fn string(&self, text: &[u8], collation: CollationId) -> Expr {
        let chars = collation.collation().map_or(text.len(), |c| c.charset.char_len(text));
        Expr::constant(
            OwnedValue::Bytes { data: text.into(), collation },
            string_type(chars as u32, collation),
        )
    }

    /// `x'0A'` or `b'1010'`, given as bytes: a number where one is wanted, else a binary string.
    pub fn hex(&self, bytes: &[u8]) -> Expr {
        let ty = string_type(bytes.len() as u32, CollationId::BINARY);
        let value = match bytes.len() {
            0..=8 => OwnedValue::Bit {
                value: bytes.iter().fold(0, |acc, b| acc << 8 | u64::from(*b)),
                bytes: bytes.len() as u8,
            },
            _ => OwnedValue::Bytes { data: bytes.into(), collation: CollationId::BINARY },
        };
        Expr::constant(value, ty)
    }

    /// `DATE 'text'`.
    pub fn date_literal(&self, text: &[u8]) -> Result<Expr, BindError> {
        let refused = || incorrect("DATE", text);
        let parsed = DateTime::parse(text, DateFlags::from_modes(self.modes));
        let parsed = parsed.filter(|parsed| !parsed.truncated && !parsed.has_time).ok_or_else(refused)?;
        Ok(self.date(parsed.value.date()))
    }

    /// `TIME 'text'`.
    pub fn time_literal(&self, text: &[u8]) -> Result<Expr, BindError> {
        let is_time = |parsed: &ParsedTime| !parsed.truncated && !parsed.out_of_range && !parsed.date_dropped;
        let parsed = Time::parse(text).filter(is_time);
        let parsed = parsed.ok_or_else(|| incorrect("TIME", text))?;
        Ok(self.time(parsed.to_fsp(FSP_MAX, false), written_fsp(text)))
    }

    /// `TIMESTAMP 'text'`.
    pub fn timestamp_literal(&self, text: &[u8]) -> Result<Expr, BindError> {
        let refused = || incorrect("DATETIME", text);
        let parsed = DateTime::parse(text, DateFlags::from_modes(self.modes));
        let parsed = parsed.filter(|parsed| !parsed.truncated && parsed.has_time).ok_or_else(refused)?;
        if parsed.offset.is_some() {
            // Only the session knows its zone.
            return Ok(Expr::cast(self.string(text, self.collation), datetime_type(parsed.fsp), true));
        }
        let cuts = self.modes.has(SqlModes::TIME_TRUNCATE_FRACTIONAL);
        let value = parsed.to_fsp(FSP_MAX, cuts).ok_or_else(refused)?;
        Ok(self.datetime(value, written_fsp(text)))
    }

    /// A date.
    pub fn date(&self, value: Date) -> Expr {
        Expr::constant(OwnedValue::Date(value), SqlType::new(TypeKind::Date, 10))
    }

    /// A time that shows `fsp` fraction digits.
    pub fn time(&self, value: Time, fsp: u8) -> Expr {
        Expr::constant(OwnedValue::Time(value, fsp), time_type(fsp))
    }

    /// A date and time that shows `fsp` fraction digits.
    pub fn datetime(&self, value: DateTime, fsp: u8) -> Expr {
        Expr::constant(OwnedValue::DateTime(value, fsp), datetime_type(fsp))
    }

    /// A column.
    pub fn column(&self, rel: u16, col: u16, ty: SqlType, nullable: bool) -> Expr {
        Expr::column(rel, col, ty, nullable)
    }

    /// Statement parameter `n`, of a type known at bind time.
    pub fn param(&self, n: u16, ty: SqlType) -> Expr {
        Expr { kind: ExprKind::Param(n), ty, nullable: true }
    }

    /// `@name`, whose present value has type `ty`.
    pub fn user_var(&self, name: &str, ty: SqlType) -> Expr {
        Expr { kind: ExprKind::UserVar(name.into()), ty, nullable: true }
    }

    /// `@name := value`.
    pub fn assign_user_var(&self, name: &str, value: Expr) -> Expr {
        let (mut ty, nullable) = (value.ty.clone(), value.nullable);
        if ty.is_integer() {
            ty = SqlType { unsigned: ty.unsigned, ..SqlType::new(TypeKind::BigInt, ty.width()) };
        }
        Expr { kind: ExprKind::AssignUserVar { name: name.into(), value: Box::new(value) }, ty, nullable }
    }

    /// `@@name`, of type `ty`.
    pub fn sys_var(&self, global: Option<bool>, name: &str, ty: SqlType) -> Expr {
        Expr { kind: ExprKind::SysVar { global, name: name.into() }, ty, nullable: true }
    }
}

/// TIME(`fsp`).
pub(crate) fn time_type(fsp: u8) -> SqlType {
    let length = 10 + if fsp == 0 { 0 } else { u32::from(fsp) + 1 };
    SqlType { decimals: fsp, ..SqlType::new(TypeKind::Time, length) }
}

/// DATETIME(`fsp`).
pub(crate) fn datetime_type(fsp: u8) -> SqlType {
    let length = 19 + if fsp == 0 { 0 } else { u32::from(fsp) + 1 };
    SqlType { decimals: fsp, ..SqlType::new(TypeKind::DateTime, length) }
}

/// Fraction digits of seconds written in `text`.
pub(crate) fn written_fsp(text: &[u8]) -> u8 {
    let Some(point) = text.iter().rposition(|b| *b == b'.') else { return 0 };
    let digits = text[point + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    digits.min(usize::from(FSP_MAX)) as u8
}

fn incorrect(type_name: &'static str, text: &[u8]) -> BindError {
    BindError::IncorrectTemporal { type_name, value: types::value::text_for_message(text) }
}
