//! Starting in spite of damage (`innodb_force_recovery`): what a startup leaves out, and what is refused
//! while it is in force.
//!
//! | level | left out | refused |
//! |---|---|---|
//! | 1 | a damaged file header, damaged pages of the dictionary and the extent map, and redo for damaged pages | changes of rows |
//! | 3 | that, and: rollback of unfinished transactions, which stay invisible; purge | changes of rows |
//! | 4 | as 3 | all changes |
//! | 6 | that, and: the redo log; pages are read as they are on disk, and no file is written (an older directory's page file is still renamed) | all changes |
//!
//! Level 2 acts as 1, and 5 as 4. Where the file header, the extent map or the dictionary is not whole,
//! nothing can be changed at any level.

use crate::error::Error;

/// A level of `innodb_force_recovery`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForceRecovery(u8);

/// The highest level.
const LEVEL_MAX: u8 = 6;

impl ForceRecovery {
    /// The level; 6 for greater numbers.
    pub fn new(level: u8) -> Self {
        ForceRecovery(level.min(LEVEL_MAX))
    }

    /// Whether rows must not be changed, and damage is passed over where that costs a part of the data only.
    pub(crate) fn is_forced(self) -> bool {
        self.0 > 0
    }

    /// Whether unfinished transactions are rolled back, and what transactions have left is purged.
    pub(crate) fn cleans_up(self) -> bool {
        self.0 < 3
    }

    /// Whether definitions must not be changed either.
    pub(crate) fn is_read_only(self) -> bool {
        self.0 >= 4
    }

    /// Whether the redo log is applied.
    pub(crate) fn applies_log(self) -> bool {
        self.0 < LEVEL_MAX
    }

    /// The level that it acts as, if that is another.
    pub fn acts_as(self) -> Option<u8> {
        match self.0 {
            2 => Some(1),
            5 => Some(4),
            _ => None,
        }
    }
}

impl Error {
    /// The lowest `innodb_force_recovery` with which a startup that has failed with this error continues.
    pub fn force_recovery_level(&self) -> Option<u8> {
        match self {
            Error::DictionaryCorrupt { .. } | Error::NewerDefinition { .. } => Some(1),
            Error::UndoCorrupt { .. } => Some(6),
            Error::Storage(error) => match error {
                space::Error::BadFrame(_) => Some(6),
                space::Error::Log(error) => log_level(error),
                space::Error::Buffer(buffer::Error::Corruption(corrupt)) => match corrupt.defect {
                    buffer::PageDefect::BeyondLog | buffer::PageDefect::BehindLog => Some(6),
                    _ => Some(1),
                },
                space::Error::Corruption(_) => Some(1),
                _ => None,
            },
            _ => None,
        }
    }
}

fn log_level(error: &log::Error) -> Option<u8> {
    match error {
        log::Error::Damaged(_)
        | log::Error::NoLog(_)
        | log::Error::UnknownPart(..)
        | log::Error::Spill(_) => Some(6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base::{Lsn, PageNo, TrxId};
    use buffer::{CorruptPage, PageDefect};

    use super::*;

    fn page(page: u32, defect: PageDefect) -> Error {
        let corrupt = CorruptPage { file: "data.pages".into(), page: PageNo(page), defect };
        buffer::Error::Corruption(Box::new(corrupt)).into()
    }

    fn log(error: log::Error) -> Error {
        Error::Storage(error.into())
    }

    #[test]
    fn each_kind_of_damage_has_the_lowest_level_that_goes_on() {
        let offset = log::SpillDamage { file: "7.undo".into(), offset: Some(9), trx: TrxId(7) };
        for (error, level) in [
            (page(1, PageDefect::Unwritten), Some(1)),
            (Error::DictionaryCorrupt { what: "table" }, Some(1)),
            (page(0, PageDefect::Unwritten), Some(1)),
            (page(0, PageDefect::BehindLog), Some(6)),
            (log(log::Error::NoLog("redo".into())), Some(6)),
            (log(log::Error::UnknownPart(Lsn(9), 31)), Some(6)),
            (log(log::Error::Spill(Box::new(offset))), Some(6)),
            (Error::UndoCorrupt { trx: TrxId(7), lsn: Lsn(9) }, Some(6)),
            (Error::Closed, None),
        ] {
            assert_eq!(error.force_recovery_level(), level, "{error}");
        }
    }

    #[test]
    fn levels_leave_out_more_and_more() {
        let of = |level| {
            let force = ForceRecovery::new(level);
            (force.is_forced(), force.cleans_up(), force.is_read_only(), force.applies_log())
        };
        assert_eq!(of(0), (false, true, false, true));
        assert_eq!(of(1), (true, true, false, true));
        assert_eq!(of(3), (true, false, false, true));
        assert_eq!(of(4), (true, false, true, true));
        assert_eq!(of(6), (true, false, true, false));
        assert_eq!(of(99), of(6));
        assert_eq!(
            [2, 3, 5, 6].map(|level| ForceRecovery::new(level).acts_as()),
            [Some(1), None, Some(4), None]
        );
    }
}
