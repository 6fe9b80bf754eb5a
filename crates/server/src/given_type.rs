//! Types that are given for parameters when a statement is planned again.

use types::{CollationId, SqlType};
use wire::execute::ParamType;

use crate::run::params::param_type;

/// Bytes of a text whose length is not known.
const TEXT_BYTES: u32 = 65_535;

/// A type that is given for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenType {
    /// That of values that a client binds with a type.
    Bound(ParamType),
    /// A text of this collation.
    Text(CollationId),
    /// A text that is converted to the type of such values each time that it is read.
    Late(ParamType),
}

impl GivenType {
    /// The type of values, where texts of the client have the collation `connection`.
    pub(crate) fn sql_type(self, connection: CollationId) -> SqlType {
        match self {
            GivenType::Bound(ty) => param_type(ty, connection),
            GivenType::Text(collation) => text_type(collation),
            GivenType::Late(_) => text_type(connection),
        }
    }

    /// The type that a text is converted to each time that it is read.
    pub(crate) fn late_type(self, connection: CollationId) -> Option<SqlType> {
        if let GivenType::Late(ty) = self { Some(param_type(ty, connection)) } else { None }
    }

    /// What plans are found by. No other type has the same code, and none has 2 as its second byte.
    pub(crate) fn code(self) -> [u8; 2] {
        match self {
            GivenType::Bound(ty) => [ty.column_type as u8, u8::from(ty.unsigned)],
            GivenType::Late(ty) => [ty.column_type as u8, u8::MAX],
            GivenType::Text(CollationId(id)) => [id as u8, 3 + (id >> 8) as u8],
        }
    }
}

fn text_type(collation: CollationId) -> SqlType {
    let text = SqlType::varchar(TEXT_BYTES, collation);
    SqlType { length: TEXT_BYTES / text.max_char_bytes(), ..text }
}
