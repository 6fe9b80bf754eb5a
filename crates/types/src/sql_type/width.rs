//! How wide a type's values are as text: the length that clients see and that calculated types are made of.

use super::{LobSize, SqlType, TypeKind};

impl SqlType {
    /// Most characters of a value's text, by MySQL's rules. Of a number this is its display width, sign and
    /// point included; of BIT its bits; of bytes, and of TEXT, their number.
    pub fn width(&self) -> u32 {
        let or = |default: u32| if self.length == 0 { default } else { self.length };
        let sign = u32::from(!self.unsigned);
        let fraction = if self.decimals == 0 { 0 } else { u32::from(self.decimals) + 1 };
        match self.kind {
            TypeKind::Null => 0,
            TypeKind::TinyInt => or(3 + sign),
            TypeKind::SmallInt => or(5 + sign),
            TypeKind::MediumInt => or(8 + sign),
            TypeKind::Int => or(10 + sign),
            TypeKind::BigInt => or(20),
            TypeKind::Decimal => self.length + sign + u32::from(self.decimals > 0),
            TypeKind::Float | TypeKind::Double if self.is_calculated => self.length,
            TypeKind::Float => or(12),
            TypeKind::Double => or(22),
            TypeKind::Bit => or(1),
            TypeKind::Char | TypeKind::VarChar | TypeKind::Binary | TypeKind::VarBinary => self.length,
            TypeKind::Text(size) | TypeKind::Blob(size) if self.length == 0 => lob_bytes(size),
            TypeKind::Text(_) | TypeKind::Blob(_) => self.length.saturating_mul(self.max_char_bytes()),
            TypeKind::Date => 10,
            TypeKind::Time if self.length == 8 + fraction => self.length,
            TypeKind::Time => 10 + fraction,
            TypeKind::DateTime | TypeKind::Timestamp => 19 + fraction,
            TypeKind::Year => 4,
            TypeKind::Enum => self.member_widths().max().unwrap_or(0),
            TypeKind::Set => self.member_widths().map(|n| n + 1).sum::<u32>().saturating_sub(1),
        }
    }

    /// Characters of each member of an ENUM or SET.
    fn member_widths(&self) -> impl Iterator<Item = u32> + '_ {
        let charset = self.charset();
        self.members
            .iter()
            .flat_map(|members| members.iter())
            .map(move |member| charset.char_len(member) as u32)
    }
}

fn lob_bytes(size: LobSize) -> u32 {
    u32::try_from(size.max_bytes()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CollationId;

    #[test]
    fn widths_are_those_of_mysql() {
        assert_eq!(SqlType::new(TypeKind::TinyInt, 1).width(), 1);
        assert_eq!(SqlType::new(TypeKind::Int, 0).width(), 11);
        assert_eq!(SqlType { unsigned: true, ..SqlType::new(TypeKind::Int, 0) }.width(), 10);
        assert_eq!(SqlType::decimal(10, 2).width(), 12);
        assert_eq!(SqlType { decimals: 6, ..SqlType::new(TypeKind::DateTime, 0) }.width(), 26);
        assert_eq!(SqlType::varchar(7, CollationId::UTF8MB4_BIN).width(), 7);
        assert_eq!(SqlType::new(TypeKind::Blob(LobSize::Normal), 0).width(), 65_535);
        let members: [Box<[u8]>; 2] = [b"one".as_slice().into(), "\u{e4}".as_bytes().into()];
        let set = SqlType {
            collation: CollationId::UTF8MB4_BIN,
            members: Some(members.into()),
            ..SqlType::new(TypeKind::Set, 0)
        };
        assert_eq!(set.width(), 5);
        assert_eq!(SqlType { kind: TypeKind::Enum, ..set }.width(), 3);
    }
}
