//! The meaning of a keyword for the literals after it.

use crate::lexer::Kw;
use crate::literal::LiteralKind;

/// Part a keyword plays in the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Role {
    /// None.
    Plain,
    /// A select list follows.
    Select,
    /// VALUES: rows follow.
    Values,
    /// IN: a list follows, whose items may be rows.
    In,
    /// Literals up to the next clause are kept.
    Keeping,
    /// Literals of the clause it begins are values.
    Freeing,
    /// A string right after it is syntax.
    BeforeString,
    /// Any literal right after it is syntax.
    BeforeLiteral,
    /// A parenthesis right after it holds a length: types, and the functions whose precision decides their
    /// type.
    Type,
    /// Both a type and [`Role::BeforeString`].
    TypeBeforeString,
    /// No keyword: inside the parentheses of a type.
    TypeLength,
}

impl Role {
    /// Whether a parenthesis that follows holds a type's length.
    #[inline]
    pub(super) fn is_type(self) -> bool {
        matches!(self, Role::Type | Role::TypeBeforeString)
    }

    /// Whether a literal of `kind` that follows is syntax, not a value: the parser makes no literal node of
    /// it.
    #[inline]
    pub(super) fn keeps(self, kind: LiteralKind) -> bool {
        match self {
            Role::TypeLength | Role::BeforeLiteral => true,
            Role::BeforeString | Role::TypeBeforeString => matches!(kind, LiteralKind::String),
            _ => false,
        }
    }
}

/// Roles by keyword number.
pub(super) static ROLES: [Role; Kw::TOTAL] = {
    let mut roles = [Role::Plain; Kw::TOTAL];
    roles[Kw::SELECT as usize] = Role::Select;
    roles[Kw::VALUES as usize] = Role::Values;
    roles[Kw::IN as usize] = Role::In;
    roles[Kw::ESCAPE as usize] = Role::BeforeLiteral;
    roles[Kw::TIME as usize] = Role::TypeBeforeString;
    let roles = assign(roles, &[Kw::BY, Kw::LIMIT], Role::Keeping);
    let roles = assign(roles, &[Kw::FROM, Kw::WHERE, Kw::HAVING, Kw::SET, Kw::ON], Role::Freeing);
    let roles = assign(roles, &BEFORE_STRING, Role::BeforeString);
    assign(roles, &TYPES, Role::Type)
};

const BEFORE_STRING: [Kw; 7] =
    [Kw::AS, Kw::COLLATE, Kw::SEPARATOR, Kw::USING, Kw::DATE, Kw::TIMESTAMP, Kw::OUTFILE];

const TYPES: [Kw; 19] = [
    Kw::CHAR,
    Kw::CHARACTER,
    Kw::NCHAR,
    Kw::BINARY,
    Kw::DECIMAL,
    Kw::DEC,
    Kw::NUMERIC,
    Kw::FIXED,
    Kw::FLOAT,
    Kw::DATETIME,
    Kw::NOW,
    Kw::SYSDATE,
    Kw::CURTIME,
    Kw::CURRENT_TIME,
    Kw::CURRENT_TIMESTAMP,
    Kw::LOCALTIME,
    Kw::LOCALTIMESTAMP,
    Kw::UTC_TIME,
    Kw::UTC_TIMESTAMP,
];

const fn assign(mut roles: [Role; Kw::TOTAL], words: &[Kw], role: Role) -> [Role; Kw::TOTAL] {
    let mut i = 0;
    while i < words.len() {
        roles[words[i] as usize] = role;
        i += 1;
    }
    roles
}
