//! What goes wrong in a round.

use std::io::ErrorKind;

use base::prng::Prng;
use env::{IoOp, Mishap, SimDisk, Trouble};

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
    /// What goes wrong in a round after which work goes on.
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
        let one = |op, file, nth, mishap| disk.schedule_all(&[Trouble { op, file, nth, mishap }]);
        let error = [ErrorKind::Other, ErrorKind::StorageFull][prng.below(2) as usize];
        match self {
            Plan::Nothing => {}
            Plan::PowerOff => one(None, None, nth, Mishap::PowerOff),
            Plan::Sync => one(Some(IoOp::Sync), None, nth / 4 + 1, Mishap::Error(ErrorKind::Other)),
            Plan::Write => one(Some(IoOp::Write), None, nth / 3 + 1, Mishap::PartialWrite(error)),
            Plan::Read => one(Some(IoOp::Read), None, nth / 8 + 1, Mishap::Error(ErrorKind::Other)),
            Plan::Short => one(Some(IoOp::Read), PAGES, nth / 16 + 1, Mishap::ShortRead),
            Plan::Full => disk.set_capacity(disk.used() + prng.below(soon << 11)),
            Plan::FullAtTimes => disk.schedule_all(&full_at_times(prng, soon)),
            Plan::AstrayRead => one(Some(IoOp::Read), PAGES, nth / 16 + 1, Mishap::MisdirectedRead),
            Plan::Rot => one(Some(IoOp::Read), PAGES, nth / 16 + 1, Mishap::BitRot),
            Plan::AstrayWrite => disk.schedule_all(&[
                Trouble {
                    op: Some(IoOp::Write),
                    file: PAGES,
                    nth: nth / 16 + 1,
                    mishap: Mishap::MisdirectedWrite,
                },
                // A page that is read as it was before looks sound to everybody.
                Trouble { op: None, file: None, nth: 1, mishap: Mishap::PowerOff },
            ]),
        }
    }

    /// Whether all that comes of it is that changes are refused while it lasts.
    pub(super) fn is_full_disk(self) -> bool {
        matches!(self, Plan::Full | Plan::FullAtTimes)
    }

    /// Whether a shutdown may leave work to the next start.
    pub(super) fn leaves_work(self) -> bool {
        self.is_full_disk() || self == Plan::Read
    }

    /// Whether anything has gone wrong on `disk` but its power.
    pub(super) fn has_come(self, disk: &SimDisk) -> bool {
        self == Plan::Full || disk.happened().iter().any(|mishap| *mishap != Mishap::PowerOff)
    }
}

/// Operations that find the disk full: those that ask for space, and writes, which may need some where a file
/// system copies on write.
fn full_at_times(prng: &mut Prng, soon: u64) -> Vec<Trouble> {
    let full = ErrorKind::StorageFull;
    let trouble = |prng: &mut Prng| match prng.below(8) {
        0 => (IoOp::Create, 1, Mishap::Error(full)),
        1 => (IoOp::Rename, 1, Mishap::Error(full)),
        2..5 => (IoOp::Resize, 1 + prng.below(3), Mishap::Error(full)),
        5 => (IoOp::Write, 1 + prng.below(soon / 16), Mishap::Error(full)),
        _ => (IoOp::Write, 1 + prng.below(soon / 16), Mishap::PartialWrite(full)),
    };
    let one = |prng: &mut Prng| {
        let (op, nth, mishap) = trouble(prng);
        Trouble { op: Some(op), file: None, nth, mishap }
    };
    (0..20).map(|_| one(prng)).collect()
}

/// Counts what has gone wrong.
pub(super) fn count(plan: Plan, disk: &SimDisk, coverage: &mut Coverage) {
    for mishap in disk.happened() {
        let event = match mishap {
            Mishap::Error(_) if plan == Plan::Sync => Event::SyncErrors,
            Mishap::Error(ErrorKind::StorageFull) => continue,
            Mishap::Error(_) => Event::ReadErrors,
            Mishap::PartialWrite(_) => Event::WriteErrors,
            Mishap::ShortRead => Event::ShortReads,
            Mishap::BitRot => Event::BitRot,
            Mishap::MisdirectedRead => Event::MisdirectedReads,
            Mishap::MisdirectedWrite => Event::MisdirectedWrites,
            Mishap::PowerOff | Mishap::LostWrite | Mishap::Full => continue,
        };
        coverage.add(event, 1);
    }
}
