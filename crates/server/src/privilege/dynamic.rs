//! Dynamic privileges: those that are granted on everything only, and by name.

/// A set of dynamic privileges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DynamicSet(u64);

/// MySQL's names, in alphabetical order. The bit of each is its position.
static NAMES: [&str; 42] = [
    "ALLOW_NONEXISTENT_DEFINER",
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ABORT_EXEMPT",
    "AUDIT_ADMIN",
    "AUTHENTICATION_POLICY_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CLONE_ADMIN",
    "CONNECTION_ADMIN",
    "CREATE_SPATIAL_REFERENCE_SYSTEM",
    "ENCRYPTION_KEY_ADMIN",
    "FIREWALL_EXEMPT",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_PRIVILEGES",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "GROUP_REPLICATION_ADMIN",
    "GROUP_REPLICATION_STREAM",
    "INNODB_REDO_LOG_ARCHIVE",
    "INNODB_REDO_LOG_ENABLE",
    "MANAGE_DATA_MASKING_POLICY",
    "OPTIMIZE_LOCAL_TABLE",
    "PASSWORDLESS_USER_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "ROLE_ADMIN",
    "SENSITIVE_VARIABLES_OBSERVER",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SHOW_ROUTINE",
    "SYSTEM_USER",
    "SYSTEM_VARIABLES_ADMIN",
    "TABLE_ENCRYPTION_ADMIN",
    "TELEMETRY_LOG_ADMIN",
    "TRANSACTION_GTID_TAG",
    "XA_RECOVER_ADMIN",
];

impl DynamicSet {
    pub(crate) const APPLICATION_PASSWORD_ADMIN: Self = DynamicSet(1 << 1);
    pub(crate) const CONNECTION_ADMIN: Self = DynamicSet(1 << 9);
    pub(crate) const FLUSH_OPTIMIZER_COSTS: Self = DynamicSet(1 << 13);
    pub(crate) const FLUSH_PRIVILEGES: Self = DynamicSet(1 << 14);
    pub(crate) const FLUSH_STATUS: Self = DynamicSet(1 << 15);
    pub(crate) const FLUSH_TABLES: Self = DynamicSet(1 << 16);
    pub(crate) const FLUSH_USER_RESOURCES: Self = DynamicSet(1 << 17);
    pub(crate) const ROLE_ADMIN: Self = DynamicSet(1 << 30);
    pub(crate) const SYSTEM_USER: Self = DynamicSet(1 << 36);
    pub(crate) const SYSTEM_VARIABLES_ADMIN: Self = DynamicSet(1 << 37);
    pub(crate) const ALL: Self = DynamicSet((1 << NAMES.len()) - 1);

    /// The privilege of this name, in any case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let found = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        Some(DynamicSet(1 << found))
    }

    /// Whether it has all of `others`.
    pub(crate) fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn with(self, others: Self) -> Self {
        DynamicSet(self.0 | others.0)
    }

    pub(crate) fn without(self, others: Self) -> Self {
        DynamicSet(self.0 & !others.0)
    }

    /// Names of its members, in order.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().enumerate().filter(move |&(n, _)| self.0 >> n & 1 != 0).map(|(_, name)| *name)
    }

    pub(super) fn to_bits(self) -> u64 {
        self.0
    }

    /// `None` for bits that are no privilege.
    pub(super) fn from_bits(bits: u64) -> Option<Self> {
        Self::ALL.has(DynamicSet(bits)).then_some(DynamicSet(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bits_agree() {
        assert!(NAMES.is_sorted());
        for (name, set) in [
            ("APPLICATION_PASSWORD_ADMIN", DynamicSet::APPLICATION_PASSWORD_ADMIN),
            ("connection_admin", DynamicSet::CONNECTION_ADMIN),
            ("FLUSH_TABLES", DynamicSet::FLUSH_TABLES),
            ("ROLE_ADMIN", DynamicSet::ROLE_ADMIN),
            ("SYSTEM_USER", DynamicSet::SYSTEM_USER),
            ("SYSTEM_VARIABLES_ADMIN", DynamicSet::SYSTEM_VARIABLES_ADMIN),
        ] {
            assert_eq!(DynamicSet::named(name), Some(set), "{name}");
        }
        assert_eq!(DynamicSet::ALL.names().count(), NAMES.len());
    }
}
