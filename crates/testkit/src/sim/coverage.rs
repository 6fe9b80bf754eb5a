//! What happened in simulations: a run that never came to something has not shown that it works.

use std::fmt;

/// Something that a thousand seeds must have come to; `EVENTS` says in words what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "EVENTS has words for each")]
pub enum Event {
    Operations,
    Answered,
    FoundUnanswered,
    RolledBack,
    Deadlocks,
    StatementsRolledBack,
    SavepointsRolledBack,
    DuplicatesRefused,
    LongTransactions,
    OffPageValues,
    LongValues,
    Snapshots,
    SnapshotRows,
    Checkpoints,
    Recycled,
    AdmissionWaits,
    RingWaits,
    LogBytes,
    Evictions,
    PageReads,
    Splits,
    Merges,
    TablesCreated,
    TablesDropped,
    TablesTruncated,
    TablesDroppedTogether,
    NamesSwapped,
    SchemasCreated,
    SchemasDropped,
    IndexesCreated,
    IndexesDropped,
    IndexChanges,
    RowsCopiedAgain,
    TablesRebuilt,
    ColumnsAdded,
    ColumnsDropped,
    ColumnsMoved,
    ColumnsWidened,
    LeavesConverted,
    Rounds,
    CleanShutdowns,
    Kills,
    PowerFailures,
    PowerFailuresAtStart,
    RolledBackAtStart,
    SyncErrors,
    WriteErrors,
    ReadErrors,
    DiskFull,
    SpaceFreed,
    ShortReads,
    BitRot,
    MisdirectedReads,
    MisdirectedWrites,
    DamageNamed,
    RefusedStarts,
    LogSpills,
    SpillsRead,
    UndoSwaps,
    UndoReads,
    UndoSetAside,
    WorkBesideRollbacks,
}

/// All events and their names.
const EVENTS: [(Event, &str); 62] = [
    (Event::Operations, "row changes and other statements"),
    (Event::Answered, "transactions answered"),
    (Event::FoundUnanswered, "transactions found that were not answered"),
    (Event::RolledBack, "transactions rolled back"),
    (Event::Deadlocks, "transactions that gave up in a deadlock"),
    (Event::StatementsRolledBack, "statements rolled back"),
    (Event::SavepointsRolledBack, "rollbacks to a savepoint"),
    (Event::DuplicatesRefused, "duplicate keys refused"),
    (Event::LongTransactions, "transactions of 40 changes and more"),
    (Event::OffPageValues, "values that lie off the page"),
    (Event::LongValues, "values longer than the shortest log"),
    (Event::Snapshots, "snapshots compared"),
    (Event::SnapshotRows, "rows of snapshots compared"),
    (Event::Checkpoints, "checkpoints"),
    (Event::Recycled, "log files used again or removed"),
    (Event::AdmissionWaits, "changes that waited for a checkpoint"),
    (Event::RingWaits, "appends that waited for room in the ring"),
    (Event::LogBytes, "bytes of log"),
    (Event::Evictions, "pages evicted"),
    (Event::PageReads, "pages read"),
    (Event::Splits, "pages split"),
    (Event::Merges, "pages merged"),
    (Event::TablesCreated, "tables created"),
    (Event::TablesDropped, "tables dropped"),
    (Event::TablesTruncated, "tables truncated"),
    (Event::TablesDroppedTogether, "pairs of tables dropped by one statement"),
    (Event::NamesSwapped, "pairs of tables that swapped their names"),
    (Event::SchemasCreated, "schemas created"),
    (Event::SchemasDropped, "schemas dropped with their tables"),
    (Event::IndexesCreated, "indexes created"),
    (Event::IndexesDropped, "indexes dropped"),
    (Event::IndexChanges, "changes of rows while an index was built or a table rebuilt"),
    (Event::RowsCopiedAgain, "rows copied again by rebuilds"),
    (Event::TablesRebuilt, "tables rebuilt"),
    (Event::ColumnsAdded, "columns added to rows that stayed"),
    (Event::ColumnsDropped, "columns dropped from rows that stayed"),
    (Event::ColumnsMoved, "columns that changed places"),
    (Event::ColumnsWidened, "integers that became wider in rows that stayed"),
    (Event::LeavesConverted, "leaves brought to a newer row format version"),
    (Event::Rounds, "starts"),
    (Event::CleanShutdowns, "clean shutdowns"),
    (Event::Kills, "ends of the process at once"),
    (Event::PowerFailures, "power failures under load"),
    (Event::PowerFailuresAtStart, "power failures at start"),
    (Event::RolledBackAtStart, "starts that rolled transactions back"),
    (Event::SyncErrors, "failed syncs"),
    (Event::WriteErrors, "failed writes"),
    (Event::ReadErrors, "failed reads"),
    (Event::DiskFull, "changes that a full disk refused"),
    (Event::SpaceFreed, "full disks that had room again while sessions worked"),
    (Event::ShortReads, "short reads"),
    (Event::BitRot, "flipped bits"),
    (Event::MisdirectedReads, "misdirected reads"),
    (Event::MisdirectedWrites, "misdirected writes"),
    (Event::DamageNamed, "damages named"),
    (Event::RefusedStarts, "starts that a fault refused"),
    (Event::LogSpills, "times that undo was copied out of the log"),
    (Event::SpillsRead, "starts that read spilled undo"),
    (Event::UndoSwaps, "chunks of undo swapped"),
    (Event::UndoReads, "chunks of undo read back"),
    (Event::UndoSetAside, "starts that set undo aside"),
    (Event::WorkBesideRollbacks, "rounds that began before what a start found open was rolled back"),
];

/// How often each event happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage([u64; EVENTS.len()]);

impl Default for Coverage {
    fn default() -> Self {
        Coverage([0; EVENTS.len()])
    }
}

impl Coverage {
    /// Counts `times` more of `event`.
    pub fn add(&mut self, event: Event, times: u64) {
        self.0[event as usize] += times;
    }

    /// How often `event` happened.
    pub fn of(&self, event: Event) -> u64 {
        self.0[event as usize]
    }

    /// Adds what another run came to.
    pub fn merge(&mut self, other: &Coverage) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// The names of events that never happened.
    pub fn missing(&self) -> Vec<&'static str> {
        EVENTS.iter().filter(|(event, _)| self.of(*event) == 0).map(|(_, name)| *name).collect()
    }

    /// One line for [`Coverage::parse`].
    pub fn line(&self) -> String {
        self.0.map(|times| times.to_string()).join(" ")
    }

    /// What [`Coverage::line`] has written.
    pub fn parse(line: &str) -> Option<Self> {
        let counts: Vec<u64> = line.split(' ').map(|times| times.parse().ok()).collect::<Option<_>>()?;
        counts.try_into().ok().map(Coverage)
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        EVENTS.iter().try_for_each(|(event, name)| writeln!(f, "{:>12} {name}", self.of(*event)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_its_place() {
        assert!(EVENTS.iter().enumerate().all(|(at, (event, _))| *event as usize == at));
    }

    #[test]
    fn counts_travel_as_a_line() {
        let mut coverage = Coverage::default();
        coverage.add(Event::Operations, 7);
        coverage.add(Event::RefusedStarts, 1);
        assert_eq!(Coverage::parse(&coverage.line()), Some(coverage.clone()));
        assert_eq!(coverage.missing().len(), EVENTS.len() - 2);
        assert_eq!(Coverage::parse("1 2"), None);
    }
}
