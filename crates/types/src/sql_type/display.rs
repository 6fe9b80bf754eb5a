//! Types as text: what SHOW CREATE TABLE and information_schema show.

use std::fmt::{self, Write};

use super::{LobSize, SqlType, TypeKind};
use crate::Charset;
use crate::collation::convert;

impl SqlType {
    /// The bare name, as information_schema's DATA_TYPE.
    pub fn name(&self) -> &'static str {
        match self.kind {
            TypeKind::Null => "null",
            TypeKind::TinyInt => "tinyint",
            TypeKind::SmallInt => "smallint",
            TypeKind::MediumInt => "mediumint",
            TypeKind::Int => "int",
            TypeKind::BigInt => "bigint",
            TypeKind::Decimal => "decimal",
            TypeKind::Float => "float",
            TypeKind::Double => "double",
            TypeKind::Bit => "bit",
            TypeKind::Char => "char",
            TypeKind::VarChar => "varchar",
            TypeKind::Binary => "binary",
            TypeKind::VarBinary => "varbinary",
            TypeKind::Text(size) => ["tinytext", "text", "mediumtext", "longtext"][class(size)],
            TypeKind::Blob(size) => ["tinyblob", "blob", "mediumblob", "longblob"][class(size)],
            TypeKind::Date => "date",
            TypeKind::Time => "time",
            TypeKind::DateTime => "datetime",
            TypeKind::Timestamp => "timestamp",
            TypeKind::Year => "year",
            TypeKind::Enum => "enum",
            TypeKind::Set => "set",
        }
    }

    fn write_arguments(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            // Display widths survive only where they show: with ZEROFILL, and as the mark of BOOL.
            TypeKind::TinyInt if self.length == 1 && !self.unsigned => f.write_str("(1)"),
            _ if self.is_integer() && self.zerofill => write!(f, "({})", self.length),
            TypeKind::Decimal => write!(f, "({},{})", self.length, self.decimals),
            TypeKind::Float | TypeKind::Double if self.decimals < Self::NOT_FIXED_DECIMALS => {
                write!(f, "({},{})", self.length, self.decimals)
            }
            TypeKind::Bit | TypeKind::Char | TypeKind::VarChar | TypeKind::Binary | TypeKind::VarBinary => {
                write!(f, "({})", self.length)
            }
            TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp if self.decimals > 0 => {
                write!(f, "({})", self.decimals)
            }
            TypeKind::Enum | TypeKind::Set => self.write_members(f),
            _ => Ok(()),
        }
    }

    fn write_members(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('(')?;
        for (i, member) in self.members.iter().flat_map(|members| members.iter()).enumerate() {
            f.write_str(if i == 0 { "'" } else { ",'" })?;
            let mut text = Vec::new();
            convert(self.charset(), Charset::Utf8mb4, member, &mut text);
            for c in String::from_utf8_lossy(&text).chars() {
                match c {
                    '\'' => f.write_str("''")?,
                    '\\' => f.write_str("\\\\")?,
                    '\0' => f.write_str("\\0")?,
                    '\n' => f.write_str("\\n")?,
                    '\r' => f.write_str("\\r")?,
                    c => f.write_char(c)?,
                }
            }
            f.write_char('\'')?;
        }
        f.write_char(')')
    }
}

fn class(size: LobSize) -> usize {
    size as usize - 1
}

impl fmt::Display for SqlType {
    /// The type as SHOW CREATE TABLE prints it, without its character set: `int unsigned`, `decimal(10,2)`,
    /// `enum('a','b')`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.write_arguments(f)?;
        let is_number =
            self.is_integer() || matches!(self.kind, TypeKind::Decimal | TypeKind::Float | TypeKind::Double);
        // BIT and YEAR are unsigned by nature, which does not show.
        if is_number && (self.unsigned || self.zerofill) {
            f.write_str(" unsigned")?;
        }
        if is_number && self.zerofill {
            f.write_str(" zerofill")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_show_as_in_show_create_table() {
        let sized = |kind, length| SqlType::new(kind, length);
        let zerofill = |ty| SqlType { zerofill: true, unsigned: true, ..ty };
        let members: Vec<Box<[u8]>> = ["a", "b'c", "d\\e"].map(|m| m.as_bytes().into()).to_vec();
        let cases = [
            (sized(TypeKind::TinyInt, 1), "tinyint(1)"),
            (sized(TypeKind::TinyInt, 4), "tinyint"),
            (SqlType { unsigned: true, ..sized(TypeKind::Int, 11) }, "int unsigned"),
            (zerofill(sized(TypeKind::Int, 10)), "int(10) unsigned zerofill"),
            (SqlType::decimal(10, 0), "decimal(10,0)"),
            (zerofill(SqlType::decimal(5, 2)), "decimal(5,2) unsigned zerofill"),
            (SqlType::double(), "double"),
            (SqlType { decimals: 3, ..sized(TypeKind::Float, 7) }, "float(7,3)"),
            (SqlType { unsigned: true, ..sized(TypeKind::Bit, 8) }, "bit(8)"),
            (sized(TypeKind::VarBinary, 3), "varbinary(3)"),
            (sized(TypeKind::Text(LobSize::Tiny), 0), "tinytext"),
            (sized(TypeKind::Blob(LobSize::Long), 0), "longblob"),
            (SqlType { decimals: 6, ..sized(TypeKind::DateTime, 26) }, "datetime(6)"),
            (sized(TypeKind::Timestamp, 19), "timestamp"),
            (SqlType { unsigned: true, ..sized(TypeKind::Year, 4) }, "year"),
            (
                SqlType { members: Some(members.into()), ..sized(TypeKind::Enum, 1) },
                "enum('a','b''c','d\\\\e')",
            ),
        ];
        for (ty, expected) in cases {
            assert_eq!(ty.to_string(), expected);
        }
    }
}
