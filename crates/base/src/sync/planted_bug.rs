//! The mistakes that can be planted.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedBug {
    /// A flush of the log says that it is durable without a sync.
    UnsyncedLog,
    /// A checkpoint counts on pages that were written and not synced.
    UnsyncedPages,
    /// Recovery applies a frame also to a page that has it already.
    RedoTwice,
    /// Recovery passes over the undo of transactions that had not ended.
    LostUndo,
    /// Before images do not reach the log.
    UnloggedUndo,
    /// A page that changed while it was being written counts as clean afterwards.
    StalePage,
    /// The in-flight word is cleared before the frame's bytes are in the ring.
    EarlyRingClear,
    /// A view does not see the newest of the commits that it should see.
    ViewOffByOne,
    /// Purge ignores the published views.
    EarlyPurge,
    /// A row is changed without a check of its locks.
    UnprobedLock,
    /// A rollback leaves an entry closed that it should open again.
    SkippedUndo,
    /// A checkpoint counts on spilled undo that was written and not synced.
    UnsyncedSpill,
    /// Recovery takes undo from the log although it was spilled, too.
    SpilledTwice,
    /// The place of undo in the swap file is given out again while the undo is there.
    EarlySlotReuse,
    /// Recovery forgets undo that it has set aside.
    ForgottenAside,
    /// Changes are admitted without a check of the space for their log.
    UnreservedLog,
    /// Purge frees values of a tree that is gone, and was freed as a whole.
    FreedTwice,
    /// A DDL statement does not record which trees it makes and frees.
    ForgottenTrees,
    /// A start takes unfinished transactions for committed ones.
    LoserSeen,
    /// A start puts undo where no row header points.
    MovedUndo,
    /// A start restores pages from copies that are older than their pages.
    StaleCopy,
    /// A DDL statement changes one entry of the dictionary after the other, each permanently.
    HalfDefinition,
    /// The frames of freed pages are forgotten before the log says that the pages are free.
    EarlyDiscard,
    /// A change of a row is not noted for the indexes that are being built.
    UnnotedChange,
    /// A record of an older row format version is read as one of the current version.
    MisreadVersion,
    /// A view reads a table whose columns have changed since.
    OldViewReads,
}

impl PlantedBug {
    /// All of them.
    pub const ALL: [PlantedBug; 26] = [
        PlantedBug::UnsyncedLog,
        PlantedBug::UnsyncedPages,
        PlantedBug::RedoTwice,
        PlantedBug::LostUndo,
        PlantedBug::UnloggedUndo,
        PlantedBug::StalePage,
        PlantedBug::EarlyRingClear,
        PlantedBug::ViewOffByOne,
        PlantedBug::EarlyPurge,
        PlantedBug::UnprobedLock,
        PlantedBug::SkippedUndo,
        PlantedBug::UnsyncedSpill,
        PlantedBug::SpilledTwice,
        PlantedBug::EarlySlotReuse,
        PlantedBug::ForgottenAside,
        PlantedBug::UnreservedLog,
        PlantedBug::FreedTwice,
        PlantedBug::ForgottenTrees,
        PlantedBug::LoserSeen,
        PlantedBug::MovedUndo,
        PlantedBug::StaleCopy,
        PlantedBug::HalfDefinition,
        PlantedBug::EarlyDiscard,
        PlantedBug::UnnotedChange,
        PlantedBug::MisreadVersion,
        PlantedBug::OldViewReads,
    ];
}
