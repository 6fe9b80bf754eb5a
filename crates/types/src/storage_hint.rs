//! Table options that say how rows are stored. They are shown as they were given, and change nothing here.

/// An option; its number is the one in the dictionary, and the order that of SHOW CREATE TABLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum StorageHint {
    /// MIN_ROWS.
    MinRows = 1,
    /// MAX_ROWS.
    MaxRows = 2,
    /// AVG_ROW_LENGTH.
    AvgRowLength = 3,
    /// PACK_KEYS: 0 or 1.
    PackKeys = 4,
    /// STATS_PERSISTENT: 0 or 1.
    StatsPersistent = 5,
    /// STATS_AUTO_RECALC: 0 or 1.
    StatsAutoRecalc = 6,
    /// STATS_SAMPLE_PAGES.
    StatsSamplePages = 7,
    /// CHECKSUM: 1.
    Checksum = 8,
    /// DELAY_KEY_WRITE: 1.
    DelayKeyWrite = 9,
    /// ROW_FORMAT: a position in [`ROW_FORMATS`].
    RowFormat = 10,
    /// KEY_BLOCK_SIZE: KiB.
    KeyBlockSize = 11,
    /// COMPRESSION: a position in [`COMPRESSIONS`].
    Compression = 12,
}

/// The values of ROW_FORMAT.
pub const ROW_FORMATS: [&str; 3] = ["DYNAMIC", "COMPACT", "REDUNDANT"];
/// The values of COMPRESSION.
pub const COMPRESSIONS: [&str; 3] = ["zlib", "lz4", "none"];

impl StorageHint {
    /// All options in the order of their numbers.
    pub const ALL: [StorageHint; 12] = [
        StorageHint::MinRows,
        StorageHint::MaxRows,
        StorageHint::AvgRowLength,
        StorageHint::PackKeys,
        StorageHint::StatsPersistent,
        StorageHint::StatsAutoRecalc,
        StorageHint::StatsSamplePages,
        StorageHint::Checksum,
        StorageHint::DelayKeyWrite,
        StorageHint::RowFormat,
        StorageHint::KeyBlockSize,
        StorageHint::Compression,
    ];

    /// The option of this number.
    pub fn of_number(number: u8) -> Option<StorageHint> {
        Self::ALL.into_iter().find(|hint| *hint as u8 == number)
    }

    /// Its word in statements.
    pub fn name(self) -> &'static str {
        match self {
            StorageHint::MinRows => "MIN_ROWS",
            StorageHint::MaxRows => "MAX_ROWS",
            StorageHint::AvgRowLength => "AVG_ROW_LENGTH",
            StorageHint::PackKeys => "PACK_KEYS",
            StorageHint::StatsPersistent => "STATS_PERSISTENT",
            StorageHint::StatsAutoRecalc => "STATS_AUTO_RECALC",
            StorageHint::StatsSamplePages => "STATS_SAMPLE_PAGES",
            StorageHint::Checksum => "CHECKSUM",
            StorageHint::DelayKeyWrite => "DELAY_KEY_WRITE",
            StorageHint::RowFormat => "ROW_FORMAT",
            StorageHint::KeyBlockSize => "KEY_BLOCK_SIZE",
            StorageHint::Compression => "COMPRESSION",
        }
    }

    /// The word that `value` stands for; `None`: it is a number.
    pub fn word(self, value: u64) -> Option<&'static str> {
        let words = match self {
            StorageHint::RowFormat => &ROW_FORMATS,
            StorageHint::Compression => &COMPRESSIONS,
            _ => return None,
        };
        words.get(usize::try_from(value).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_found_by_its_number() {
        for hint in StorageHint::ALL {
            assert_eq!(StorageHint::of_number(hint as u8), Some(hint));
        }
        assert_eq!(StorageHint::of_number(0), None);
        assert_eq!(StorageHint::RowFormat.word(1), Some("COMPACT"));
        assert_eq!(StorageHint::RowFormat.word(3), None);
        assert_eq!(StorageHint::MinRows.word(1), None);
    }
}
