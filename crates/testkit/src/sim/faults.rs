//! What goes wrong in a round.

use std::io::ErrorKind;

use base::prng::Prng;
use env::{FaultKind, IoOp, ScheduledFault, SimDisk};

use super::coverage::{Coverage, Event};

/// The file whose pages have checksums, so that every damage must be named.
const PAGES: Option<&str> = Some("data.pages");

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Nothing.
    Nothing,
    /// The power fails at some operation.
    PowerOff,
    /// A sync fails.
    Sync,
    /// A write fails half way.
    Write,
    /// A read fails.
    Read,
    /// A page read ends early.
    Short,
    /// The disk is full soon, until changes were refused for a while.
    Full,
    /// Some operations, one after another, find the disk full.
    FullAtTimes,
    /// A page read finds what is stored elsewhere.
    AstrayRead,
    /// A page rots.
    Rot,
    /// A page is written elsewhere, and the power fails before anybody misses it.
    AstrayWrite,
}

impl Plan {
    /// What goes wrong in a round after which work continues.
    pub(super) fn draw(prng: &mut Prng) -> Plan {
        match prng.below(22) {
            0..2 => Plan::Nothing,
            2..12 => Plan::PowerOff,
            12..14 => Plan::Sync,
            14..16 => Plan::Write,
            16 => Plan::Read,
            17 => Plan::Short,
            18..20 => Plan::Full,
            20 => Plan::FullAtTimes,
            _ => Plan::AstrayRead,
        }
    }

    /// What leaves a damage behind.
    pub(super) fn draw_damage(prng: &mut Prng) -> Plan {
        if prng.below(2) == 0 { Plan::Rot } else { Plan::AstrayWrite }
    }

    /// Lets it come to `disk`, within about `soon` operations.
    pub(super) fn arm(self, disk: &SimDisk, prng: &mut Prng, soon: u64) {
        let nth = 1 + prng.below(soon);
        let one = |op, file, nth, fault| disk.schedule_all(&[ScheduledFault { op, file, nth, fault }]);
        let error = [ErrorKind::Other, ErrorKind::StorageFull][prng.below(2) as usize];
        match self {
            Plan::Nothing => {}
            Plan::PowerOff => one(None, None, nth, FaultKind::PowerOff),
            Plan::Sync => one(Some(IoOp::Sync), None, nth / 4 + 1, FaultKind::Error(ErrorKind::Other)),
            Plan::Write => one(Some(IoOp::Write), None, nth / 3 + 1, FaultKind::PartialWrite(error)),
            Plan::Read => one(Some(IoOp::Read), None, nth / 8 + 1, FaultKind::Error(ErrorKind::Other)),
            Plan::Short => one(Some(IoOp::Read), PAGES, nth / 16 + 1, FaultKind::ShortRead),
            Plan::Full => disk.set_capacity(disk.used() + prng.below(soon << 11)),
            Plan::FullAtTimes => disk.schedule_all(&full_at_times(prng, soon)),
            Plan::AstrayRead => one(Some(IoOp::Read), PAGES, nth / 16 + 1, FaultKind::MisdirectedRead),
            Plan::Rot => one(Some(IoOp::Read), PAGES, nth / 16 + 1, FaultKind::BitRot),
            Plan::AstrayWrite => disk.schedule_all(&[
                ScheduledFault {
                    op: Some(IoOp::Write),
                    file: PAGES,
                    nth: nth / 16 + 1,
                    fault: FaultKind::MisdirectedWrite,
                },
                // A page that is read as it was before looks sound to everybody.
                ScheduledFault { op: None, file: None, nth: 1, fault: FaultKind::PowerOff },
            ]),
        }
    }

    /// Whether all that comes of it is that changes are refused while it lasts.
    pub(super) fn is_full_disk(self) -> bool {
        matches!(self, Plan::Full | Plan::FullAtTimes)
    }

    /// Whether a shutdown may leave work to the next startup.
    pub(super) fn leaves_work(self) -> bool {
        self.is_full_disk() || self == Plan::Read
    }

    /// Whether anything has gone wrong on `disk` but its power.
    pub(super) fn has_come(self, disk: &SimDisk) -> bool {
        self == Plan::Full || disk.happened().iter().any(|fault| *fault != FaultKind::PowerOff)
    }
}

/// Operations that find the disk full: those that ask for space, and writes, which may need some where a file
/// system copies on write.
fn full_at_times(prng: &mut Prng, soon: u64) -> Vec<ScheduledFault> {
    let full = ErrorKind::StorageFull;
    let scheduled = |prng: &mut Prng| match prng.below(8) {
        0 => (IoOp::Create, 1, FaultKind::Error(full)),
        1 => (IoOp::Rename, 1, FaultKind::Error(full)),
        2..5 => (IoOp::Resize, 1 + prng.below(3), FaultKind::Error(full)),
        5 => (IoOp::Write, 1 + prng.below(soon / 16), FaultKind::Error(full)),
        _ => (IoOp::Write, 1 + prng.below(soon / 16), FaultKind::PartialWrite(full)),
    };
    let one = |prng: &mut Prng| {
        let (op, nth, fault) = scheduled(prng);
        ScheduledFault { op: Some(op), file: None, nth, fault }
    };
    (0..20).map(|_| one(prng)).collect()
}

/// Counts what has gone wrong.
pub(super) fn count(plan: Plan, disk: &SimDisk, coverage: &mut Coverage) {
    for fault in disk.happened() {
        let event = match fault {
            FaultKind::Error(_) if plan == Plan::Sync => Event::SyncErrors,
            FaultKind::Error(ErrorKind::StorageFull) => continue,
            FaultKind::Error(_) => Event::ReadErrors,
            FaultKind::PartialWrite(_) => Event::WriteErrors,
            FaultKind::ShortRead => Event::ShortReads,
            FaultKind::BitRot => Event::BitRot,
            FaultKind::MisdirectedRead => Event::MisdirectedReads,
            FaultKind::MisdirectedWrite => Event::MisdirectedWrites,
            FaultKind::PowerOff | FaultKind::LostWrite | FaultKind::Full => continue,
        };
        coverage.add(event, 1);
    }
}
