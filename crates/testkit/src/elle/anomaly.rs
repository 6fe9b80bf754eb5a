//! What may go wrong, and which isolation level lets it.

use std::fmt;

/// An anomaly, by Adya's names where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    /// G0: transactions wrote over each other in a cycle.
    DirtyWrite,
    /// G1a: a read saw what was rolled back.
    AbortedRead,
    /// G1b: a read saw a value that its writer replaced before it committed.
    IntermediateRead,
    /// G1c: transactions wrote over or read from each other in a cycle.
    CircularFlow,
    /// G-single: a cycle with one read of what another replaced.
    ReadSkew,
    /// P4: two transactions read the same version and both wrote.
    LostUpdate,
    /// G2-item: two transactions each replaced what the other had read.
    WriteSkew,
    /// G2: a cycle with more than one read of what another replaced, one of them of a row that was not
    /// there.
    PredicateCycle,
    /// A locking read saw what was not committed.
    DirtyLockingRead,
    /// A committed value was made of one that was rolled back.
    DirtyUpdate,
    /// A committed write that is not there in the end, or twice.
    LostWrite,
    /// A read does not fit the order of the key's versions.
    Order,
    /// A transaction did not see its own write.
    Internal,
    /// A transaction saw two versions by plain reads.
    FuzzyRead,
    /// What is read at one time is not what some first commits left, or misses what had been answered before.
    Snapshot,
    /// Serializable in no order that agrees with what had been answered before.
    Stale,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Anomaly::DirtyWrite => "G0",
            Anomaly::AbortedRead => "G1a",
            Anomaly::IntermediateRead => "G1b",
            Anomaly::CircularFlow => "G1c",
            Anomaly::ReadSkew => "G-single",
            Anomaly::LostUpdate => "lost update",
            Anomaly::WriteSkew => "G2-item",
            Anomaly::PredicateCycle => "G2",
            Anomaly::DirtyLockingRead => "dirty locking read",
            Anomaly::DirtyUpdate => "dirty update",
            Anomaly::LostWrite => "lost write",
            Anomaly::Order => "incompatible order",
            Anomaly::Internal => "internal",
            Anomaly::FuzzyRead => "fuzzy read",
            Anomaly::Snapshot => "no snapshot",
            Anomaly::Stale => "stale",
        })
    }
}

impl Anomaly {
    /// All of them.
    pub const ALL: [Anomaly; 16] = [
        Anomaly::DirtyWrite,
        Anomaly::AbortedRead,
        Anomaly::IntermediateRead,
        Anomaly::CircularFlow,
        Anomaly::ReadSkew,
        Anomaly::LostUpdate,
        Anomaly::WriteSkew,
        Anomaly::PredicateCycle,
        Anomaly::DirtyLockingRead,
        Anomaly::DirtyUpdate,
        Anomaly::LostWrite,
        Anomaly::Order,
        Anomaly::Internal,
        Anomaly::FuzzyRead,
        Anomaly::Snapshot,
        Anomaly::Stale,
    ];
}

/// An isolation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// READ UNCOMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// REPEATABLE READ with `innodb_snapshot_isolation`.
    Snapshot,
    /// SERIALIZABLE.
    Serializable,
}

impl Level {
    /// All of them, weakest first.
    pub const ALL: [Level; 5] = [
        Level::ReadUncommitted,
        Level::ReadCommitted,
        Level::RepeatableRead,
        Level::Snapshot,
        Level::Serializable,
    ];

    /// Its name in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Level::ReadUncommitted => "READ UNCOMMITTED",
            Level::ReadCommitted => "READ COMMITTED",
            Level::RepeatableRead | Level::Snapshot => "REPEATABLE READ",
            Level::Serializable => "SERIALIZABLE",
        }
    }

    /// Whether the level lets it happen.
    pub(crate) fn permits(self, anomaly: Anomaly) -> bool {
        let first_without = match anomaly {
            Anomaly::AbortedRead | Anomaly::IntermediateRead | Anomaly::CircularFlow | Anomaly::Snapshot => {
                Level::ReadCommitted
            }
            Anomaly::FuzzyRead => Level::RepeatableRead,
            Anomaly::ReadSkew | Anomaly::LostUpdate => Level::Snapshot,
            Anomaly::WriteSkew | Anomaly::PredicateCycle | Anomaly::Stale => Level::Serializable,
            Anomaly::DirtyWrite
            | Anomaly::DirtyLockingRead
            | Anomaly::DirtyUpdate
            | Anomaly::LostWrite
            | Anomaly::Order
            | Anomaly::Internal => return false,
        };
        self < first_without
    }

    /// What comes up at the level for certain where many transactions meet on few keys.
    pub fn shows(self) -> &'static [Anomaly] {
        match self {
            Level::ReadUncommitted => &[
                Anomaly::AbortedRead,
                Anomaly::IntermediateRead,
                Anomaly::CircularFlow,
                Anomaly::ReadSkew,
                Anomaly::LostUpdate,
                Anomaly::WriteSkew,
                Anomaly::FuzzyRead,
            ],
            Level::ReadCommitted => {
                &[Anomaly::ReadSkew, Anomaly::LostUpdate, Anomaly::WriteSkew, Anomaly::FuzzyRead]
            }
            Level::RepeatableRead => &[Anomaly::ReadSkew, Anomaly::LostUpdate, Anomaly::WriteSkew],
            Level::Snapshot => &[Anomaly::WriteSkew],
            Level::Serializable => &[],
        }
    }
}
