//! The definition of one system variable.

use super::table::ALL;

/// Where a variable has values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One value for the server.
    Global,
    /// One value per session, none for the server.
    Session,
    /// Both: sessions begin with the server's value.
    Both,
}

/// Which value of a system variable is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarLevel {
    /// `GLOBAL`.
    Global,
    /// `SESSION`, `LOCAL`.
    Session,
    /// No scope given: the session's value if there is one (and to read, else the global one).
    Default,
}

/// Who may change a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// SET and the command line.
    Dynamic,
    /// SET GLOBAL and the command line; the session's value follows at the next connection.
    GlobalOnly,
    /// The command line.
    Startup,
    /// Nobody.
    Fixed,
}

/// The type and range of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VarKind {
    /// ON or OFF.
    Bool,
    /// Unsigned integer in this range; values beyond are clamped with a warning.
    UInt(u64, u64),
    /// Signed integer in this range.
    Int(i64, i64),
    /// Number in this range.
    Double(f64, f64),
    /// Any text.
    Text,
    /// Any text or NULL.
    NullableText,
    /// One of these.
    Enum(&'static [&'static str]),
    /// Set of `sql_mode` flags.
    SqlMode,
    /// Character set.
    Charset,
    /// Character set or NULL.
    NullableCharset,
    /// Collation.
    Collation,
    /// Time zone.
    TimeZone,
    /// Locale.
    Locale,
    /// Algorithms of the compressed protocol, separated by commas.
    Compression,
    /// `name=on` and `name=off` for each of these.
    Switches(&'static [&'static str]),
}

/// A system variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarDef {
    /// Name in lower case.
    pub name: &'static str,
    /// Scope.
    pub scope: Scope,
    /// Who may change it.
    pub access: Access,
    /// What it may hold.
    pub kind: VarKind,
    /// Value when nothing is said, as text; `NULL` for nullable kinds.
    pub default: &'static str,
}

/// Number of the variable called `name` (in any case) in [`ALL`].
pub fn find(name: &str) -> Option<usize> {
    let lower = name.to_ascii_lowercase();
    ALL.binary_search_by(|def| def.name.cmp(&lower)).ok()
}
