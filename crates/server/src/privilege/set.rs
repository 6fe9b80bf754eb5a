//! Static privileges: names, sets, and at which level each may be granted.

use std::ops::{BitAnd, BitOr, Sub};

/// A set of static privileges. GRANT OPTION is one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Privileges(u32);

/// Names as SHOW GRANTS prints them and in its order. The bit of each is its position.
static NAMES: [&str; 31] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "RELOAD",
    "SHUTDOWN",
    "PROCESS",
    "FILE",
    "REFERENCES",
    "INDEX",
    "ALTER",
    "SHOW DATABASES",
    "SUPER",
    "CREATE TEMPORARY TABLES",
    "LOCK TABLES",
    "EXECUTE",
    "REPLICATION SLAVE",
    "REPLICATION CLIENT",
    "CREATE VIEW",
    "SHOW VIEW",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
    "CREATE USER",
    "EVENT",
    "TRIGGER",
    "CREATE TABLESPACE",
    "CREATE ROLE",
    "DROP ROLE",
    "GRANT OPTION",
];

impl Privileges {
    pub(crate) const NONE: Self = Privileges(0);
    pub(crate) const SELECT: Self = Self::bit(0);
    pub(crate) const INSERT: Self = Self::bit(1);
    pub(crate) const UPDATE: Self = Self::bit(2);
    pub(crate) const DELETE: Self = Self::bit(3);
    pub(crate) const CREATE: Self = Self::bit(4);
    pub(crate) const DROP: Self = Self::bit(5);
    pub(crate) const RELOAD: Self = Self::bit(6);
    pub(crate) const SHUTDOWN: Self = Self::bit(7);
    pub(crate) const PROCESS: Self = Self::bit(8);
    pub(crate) const FILE: Self = Self::bit(9);
    pub(crate) const REFERENCES: Self = Self::bit(10);
    pub(crate) const INDEX: Self = Self::bit(11);
    pub(crate) const ALTER: Self = Self::bit(12);
    pub(crate) const SHOW_DATABASES: Self = Self::bit(13);
    pub(crate) const SUPER: Self = Self::bit(14);
    pub(crate) const CREATE_TEMPORARY_TABLES: Self = Self::bit(15);
    pub(crate) const LOCK_TABLES: Self = Self::bit(16);
    pub(crate) const EXECUTE: Self = Self::bit(17);
    pub(crate) const REPLICATION_SLAVE: Self = Self::bit(18);
    pub(crate) const REPLICATION_CLIENT: Self = Self::bit(19);
    pub(crate) const CREATE_VIEW: Self = Self::bit(20);
    pub(crate) const SHOW_VIEW: Self = Self::bit(21);
    pub(crate) const CREATE_ROUTINE: Self = Self::bit(22);
    pub(crate) const ALTER_ROUTINE: Self = Self::bit(23);
    pub(crate) const CREATE_USER: Self = Self::bit(24);
    pub(crate) const EVENT: Self = Self::bit(25);
    pub(crate) const TRIGGER: Self = Self::bit(26);
    pub(crate) const CREATE_TABLESPACE: Self = Self::bit(27);
    pub(crate) const CREATE_ROLE: Self = Self::bit(28);
    pub(crate) const DROP_ROLE: Self = Self::bit(29);
    pub(crate) const GRANT_OPTION: Self = Self::bit(30);

    /// What ALL means on everything.
    pub(crate) const ALL: Self = Privileges((1 << 30) - 1);
    /// The privileges that exist on columns.
    pub(crate) const OF_COLUMN: Self = Self::SELECT.or(Self::INSERT).or(Self::UPDATE).or(Self::REFERENCES);
    /// What ALL means on a table.
    pub(crate) const OF_TABLE: Self = Self::SELECT
        .or(Self::INSERT)
        .or(Self::UPDATE)
        .or(Self::DELETE)
        .or(Self::CREATE)
        .or(Self::DROP)
        .or(Self::REFERENCES)
        .or(Self::INDEX)
        .or(Self::ALTER)
        .or(Self::CREATE_VIEW)
        .or(Self::SHOW_VIEW)
        .or(Self::TRIGGER);
    /// What ALL means on a database.
    pub(crate) const OF_SCHEMA: Self = Self::OF_TABLE
        .or(Self::CREATE_TEMPORARY_TABLES)
        .or(Self::LOCK_TABLES)
        .or(Self::EXECUTE)
        .or(Self::CREATE_ROUTINE)
        .or(Self::ALTER_ROUTINE)
        .or(Self::EVENT);

    const fn bit(number: u32) -> Self {
        Privileges(1 << number)
    }

    const fn or(self, other: Self) -> Self {
        Privileges(self.0 | other.0)
    }

    /// The privilege of this name, in any case; none for USAGE.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("USAGE") {
            return Some(Self::NONE);
        }
        let found = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        Some(Self::bit(found as u32))
    }

    /// Whether it has all of `others`.
    pub(crate) fn has(self, others: Self) -> bool {
        self & others == others
    }

    /// Whether it has one of `others`.
    pub(crate) fn has_any(self, others: Self) -> bool {
        !(self & others).is_empty()
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Names of its members, in order.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().enumerate().filter(move |&(n, _)| self.0 >> n & 1 != 0).map(|(_, name)| *name)
    }

    /// Its members, in order.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        (0..NAMES.len()).map(|number| Privileges(1 << number)).filter(move |&one| self.has(one))
    }

    pub(super) fn to_bits(self) -> u32 {
        self.0
    }

    /// `None` for bits that are no privilege.
    pub(super) fn from_bits(bits: u32) -> Option<Self> {
        (bits >> NAMES.len() == 0).then_some(Privileges(bits))
    }
}

impl BitOr for Privileges {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Privileges(self.0 | other.0)
    }
}

impl BitAnd for Privileges {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Privileges(self.0 & other.0)
    }
}

impl Sub for Privileges {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Privileges(self.0 & !other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bits_agree() {
        for (name, set) in [
            ("select", Privileges::SELECT),
            ("SHOW DATABASES", Privileges::SHOW_DATABASES),
            ("REPLICATION CLIENT", Privileges::REPLICATION_CLIENT),
            ("TRIGGER", Privileges::TRIGGER),
            ("DROP ROLE", Privileges::DROP_ROLE),
            ("Grant Option", Privileges::GRANT_OPTION),
            ("usage", Privileges::NONE),
        ] {
            assert_eq!(Privileges::named(name), Some(set), "{name}");
        }
        assert_eq!(Privileges::named("BACKUP_ADMIN"), None);
        assert_eq!(Privileges::ALL.names().count(), 30);
        assert_eq!(Privileges::OF_TABLE.names().last(), Some("TRIGGER"));
        assert!(Privileges::from_bits(1 << 31).is_none());
    }
}
