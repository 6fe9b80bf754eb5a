//! Data types.

use super::core::{Parser, Result};
use super::function::spatial_type;
use crate::ast::{TypeBase, TypeName};
use crate::lexer::{Kw, Tok};
use crate::mode::LexMode;

impl<'a> Parser<'a, '_> {
    /// `(n)`, if given.
    pub(super) fn opt_length(&mut self) -> Result<Option<u32>> {
        if !self.eat(Tok::LParen) {
            return Ok(None);
        }
        let length = self.number_u32()?;
        self.expect(Tok::RParen)?;
        Ok(Some(length))
    }

    /// `(n)` or `(n, m)`, if given.
    pub(super) fn opt_precision(&mut self) -> Result<(Option<u32>, Option<u32>)> {
        if !self.eat(Tok::LParen) {
            return Ok((None, None));
        }
        let precision = self.number_u32()?;
        let scale = if self.eat(Tok::Comma) { Some(self.number_u32()?) } else { None };
        self.expect(Tok::RParen)?;
        Ok((Some(precision), scale))
    }

    /// A column's type.
    pub(super) fn type_name(&mut self) -> Result<TypeName<'a>> {
        self.cut_number = false;
        let ty = self.any_type()?;
        Ok(TypeName { too_long: self.cut_number, ..ty })
    }

    fn any_type(&mut self) -> Result<TypeName<'a>> {
        let Tok::Kw(kw) = self.tok.kind else {
            return self.syntax();
        };
        if kw == Kw::NATIONAL || kw == Kw::NCHAR || kw == Kw::NVARCHAR {
            return self.national_type();
        }
        if let Some(base) = numeric_type(kw) {
            return self.numeric(base);
        }
        if let Some(base) = string_type(kw) {
            return self.string_type(base);
        }
        self.bump();
        match kw {
            Kw::DATE => Ok(plain(TypeBase::Date)),
            Kw::TIME => self.with_length(TypeBase::Time),
            Kw::DATETIME => self.with_length(TypeBase::DateTime),
            Kw::TIMESTAMP => self.with_length(TypeBase::Timestamp),
            Kw::YEAR => self.with_length(TypeBase::Year),
            Kw::BIT => self.with_length(TypeBase::Bit),
            Kw::BOOL | Kw::BOOLEAN => {
                Ok(TypeName { length: Some(1), boolean: true, ..plain(TypeBase::TinyInt) })
            }
            Kw::SERIAL => Ok(TypeName { serial: true, unsigned: true, ..plain(TypeBase::BigInt) }),
            Kw::BINARY => self.with_length(TypeBase::Binary),
            Kw::VARBINARY => self.with_length(TypeBase::VarBinary),
            Kw::TINYBLOB => Ok(plain(TypeBase::TinyBlob)),
            Kw::BLOB => self.with_length(TypeBase::Blob),
            Kw::MEDIUMBLOB => Ok(plain(TypeBase::MediumBlob)),
            Kw::LONGBLOB => Ok(plain(TypeBase::LongBlob)),
            Kw::JSON => Ok(plain(TypeBase::Json)),
            Kw::LONG => self.long_type(),
            Kw::ENUM => self.members(TypeBase::Enum),
            Kw::SET => self.members(TypeBase::Set),
            _ => match spatial_type(kw) {
                Some(base) => Ok(plain(base)),
                None => self.syntax(),
            },
        }
    }

    fn with_length(&mut self, base: TypeBase) -> Result<TypeName<'a>> {
        Ok(TypeName { length: self.opt_length()?, ..plain(base) })
    }

    fn numeric(&mut self, base: TypeBase) -> Result<TypeName<'a>> {
        let word = self.bump().kind;
        if word == Tok::Kw(Kw::DOUBLE) {
            self.eat_kw(Kw::PRECISION);
        }
        let base = if word == Tok::Kw(Kw::REAL) && self.mode.has(LexMode::REAL_AS_FLOAT) {
            TypeBase::Float
        } else {
            base
        };
        let (length, decimals) = match base {
            TypeBase::Decimal | TypeBase::Float | TypeBase::Double => self.opt_precision()?,
            _ => (self.opt_length()?, None),
        };
        let mut ty = TypeName { length, decimals, ..plain(base) };
        loop {
            if self.eat_kw(Kw::UNSIGNED) {
                ty.unsigned = true;
            } else if self.eat_kw(Kw::ZEROFILL) {
                (ty.zerofill, ty.unsigned) = (true, true);
            } else if !self.eat_kw(Kw::SIGNED) {
                return Ok(ty);
            }
        }
    }

    fn string_type(&mut self, base: TypeBase) -> Result<TypeName<'a>> {
        let first = self.bump().kind;
        let varying = matches!(first, Tok::Kw(Kw::CHAR | Kw::CHARACTER)) && self.eat_kw(Kw::VARYING);
        let base = if varying { TypeBase::VarChar } else { base };
        let mut ty = match base {
            TypeBase::Char | TypeBase::VarChar | TypeBase::Text => self.with_length(base)?,
            _ => plain(base),
        };
        if base == TypeBase::VarChar && ty.length.is_none() {
            return self.syntax();
        }
        self.charset_attributes(&mut ty)?;
        Ok(ty)
    }

    /// `NATIONAL CHAR`, `NCHAR VARYING`, `NVARCHAR` and the like: utf8mb3.
    fn national_type(&mut self) -> Result<TypeName<'a>> {
        let first = self.bump().kind;
        let mut base = TypeBase::Char;
        if first == Tok::Kw(Kw::NVARCHAR) {
            base = TypeBase::VarChar;
        } else {
            let word = first == Tok::Kw(Kw::NATIONAL);
            if word && (self.eat_kw(Kw::VARCHAR) || self.eat_kw(Kw::VARCHARACTER)) {
                base = TypeBase::VarChar;
            } else {
                if word && !self.eat_kw(Kw::CHAR) {
                    self.expect_kw(Kw::CHARACTER)?;
                }
                if self.eat_kw(Kw::VARYING) || self.eat_kw(Kw::VARCHAR) || self.eat_kw(Kw::VARCHARACTER) {
                    base = TypeBase::VarChar;
                }
            }
        }
        let mut ty = self.with_length(base)?;
        ty.charset = Some("utf8mb3");
        ty.national = true;
        ty.binary = self.eat_kw(Kw::BINARY);
        Ok(ty)
    }

    /// After LONG: VARBINARY is MEDIUMBLOB, anything else MEDIUMTEXT.
    fn long_type(&mut self) -> Result<TypeName<'a>> {
        if self.eat_kw(Kw::VARBINARY) {
            return Ok(plain(TypeBase::MediumBlob));
        }
        if self.eat_kw(Kw::CHAR) || self.eat_kw(Kw::CHARACTER) {
            self.expect_kw(Kw::VARYING)?;
        } else {
            let _ = self.eat_kw(Kw::VARCHAR) || self.eat_kw(Kw::VARCHARACTER);
        }
        let mut ty = plain(TypeBase::MediumText);
        self.charset_attributes(&mut ty)?;
        Ok(ty)
    }

    fn members(&mut self, base: TypeBase) -> Result<TypeName<'a>> {
        let members = self.paren_list(Self::member)?;
        let mut ty = TypeName { members, ..plain(base) };
        self.charset_attributes(&mut ty)?;
        Ok(ty)
    }

    /// A member: a string, or the bytes of a hexadecimal or bit literal.
    fn member(&mut self) -> Result<&'a str> {
        let offset = self.tok.start;
        if self.at_string() {
            return self.string();
        }
        let bytes = self.literal_bytes()?;
        self.utf8(bytes, offset)
    }

    /// CHARACTER SET, BINARY, ASCII, UNICODE, BYTE after a string type, in any order.
    fn charset_attributes(&mut self, ty: &mut TypeName<'a>) -> Result<()> {
        loop {
            if self.eat_charset_words() {
                ty.charset = Some(self.charset_name()?);
            } else if self.eat_kw(Kw::BINARY) {
                ty.binary = true;
            } else if self.eat_kw(Kw::ASCII) {
                (ty.charset, ty.charset_word) = (Some("latin1"), Some("ASCII"));
            } else if self.eat_kw(Kw::UNICODE) {
                (ty.charset, ty.charset_word) = (Some("ucs2"), Some("UNICODE"));
            } else if self.eat_kw(Kw::BYTE) {
                ty.charset = Some("binary");
            } else {
                return Ok(());
            }
        }
    }
}

fn plain<'a>(base: TypeBase) -> TypeName<'a> {
    TypeName {
        base,
        length: None,
        decimals: None,
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

fn numeric_type(kw: Kw) -> Option<TypeBase> {
    Some(match kw {
        Kw::TINYINT | Kw::INT1 => TypeBase::TinyInt,
        Kw::SMALLINT | Kw::INT2 => TypeBase::SmallInt,
        Kw::MEDIUMINT | Kw::INT3 | Kw::MIDDLEINT => TypeBase::MediumInt,
        Kw::INT | Kw::INTEGER | Kw::INT4 => TypeBase::Int,
        Kw::BIGINT | Kw::INT8 => TypeBase::BigInt,
        Kw::DECIMAL | Kw::NUMERIC | Kw::DEC | Kw::FIXED => TypeBase::Decimal,
        Kw::FLOAT | Kw::FLOAT4 => TypeBase::Float,
        Kw::DOUBLE | Kw::REAL | Kw::FLOAT8 => TypeBase::Double,
        _ => return None,
    })
}

fn string_type(kw: Kw) -> Option<TypeBase> {
    Some(match kw {
        Kw::CHAR | Kw::CHARACTER => TypeBase::Char,
        Kw::VARCHAR | Kw::VARCHARACTER => TypeBase::VarChar,
        Kw::TINYTEXT => TypeBase::TinyText,
        Kw::TEXT => TypeBase::Text,
        Kw::MEDIUMTEXT => TypeBase::MediumText,
        Kw::LONGTEXT => TypeBase::LongText,
        _ => return None,
    })
}
