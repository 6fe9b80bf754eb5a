//! What goes wrong on a simulated disk, and when.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use base::prng::Prng;

use crate::error::IoOp;

/// The `nth` operation of kind `op` from now on (1 = the next one) fails with `kind` and has no effect, except that
/// after a failed sync each unsynced sector may or may not be durable, and is not written by a later sync.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The kind of operation counted.
    pub op: IoOp,
    /// How many of them until one fails.
    pub nth: u64,
    /// The error it fails with.
    pub kind: ErrorKind,
}

/// What can happen to one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// It fails; see [`Fault`].
    Error(ErrorKind),
    /// The machine loses power before it: it and everything after it fails; a simulation ends.
    PowerOff,
    /// A read ends early, as if the file did.
    ShortRead,
    /// A read finds one bit of what is stored flipped, for good.
    BitRot,
    /// A write stores some of its first sectors and fails with this.
    PartialWrite(ErrorKind),
    /// A write is acknowledged and does not happen.
    LostWrite,
    /// A write is acknowledged and lands somewhere else in the file.
    MisdirectedWrite,
}

/// How often operations go wrong by themselves, per million of their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultRates {
    /// Reads that fail.
    pub read_error: u32,
    /// Reads that end early.
    pub short_read: u32,
    /// Reads that find a flipped bit.
    pub bit_rot: u32,
    /// Writes that fail, with some of their first sectors stored.
    pub write_error: u32,
    /// Writes that are acknowledged and lost.
    pub lost_write: u32,
    /// Writes that land somewhere else.
    pub misdirected_write: u32,
    /// Syncs that fail.
    pub sync_error: u32,
}

/// A mishap that waits for its turn. Without `op` every operation counts.
#[derive(Debug)]
struct Scheduled {
    op: Option<IoOp>,
    left: u64,
    mishap: Mishap,
}

/// Counts operations and decides which of them go wrong.
#[derive(Debug, Default)]
pub(super) struct FaultPlan {
    scheduled: Vec<Scheduled>,
    rates: FaultRates,
    counts: BTreeMap<IoOp, u64>,
}

impl FaultPlan {
    pub(super) fn with_rates(rates: FaultRates) -> Self {
        FaultPlan { rates, ..FaultPlan::default() }
    }

    pub(super) fn rates(&self) -> FaultRates {
        self.rates
    }

    pub(super) fn set_rates(&mut self, rates: FaultRates) {
        self.rates = rates;
    }

    pub(super) fn schedule(&mut self, op: Option<IoOp>, nth: u64, mishap: Mishap) {
        self.scheduled.push(Scheduled { op, left: nth, mishap });
    }

    pub(super) fn count(&self, op: IoOp) -> u64 {
        self.counts.get(&op).copied().unwrap_or(0)
    }

    pub(super) fn count_all(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Counts one operation; what happens to it.
    pub(super) fn next(&mut self, op: IoOp, prng: &mut Prng) -> Option<Mishap> {
        *self.counts.entry(op).or_default() += 1;
        let mut due = None;
        let concerned = self.scheduled.iter_mut().enumerate();
        for (at, scheduled) in concerned.filter(|(_, scheduled)| scheduled.op.is_none_or(|o| o == op)) {
            scheduled.left = scheduled.left.saturating_sub(1);
            if scheduled.left == 0 {
                due = due.or(Some(at));
            }
        }
        match due {
            Some(at) => Some(self.scheduled.remove(at).mishap),
            None => self.by_rate(op, prng),
        }
    }

    fn by_rate(&self, op: IoOp, prng: &mut Prng) -> Option<Mishap> {
        let rates = &self.rates;
        let io_error = ErrorKind::Other;
        let choices: &[(u32, Mishap)] = match op {
            IoOp::Read => &[
                (rates.read_error, Mishap::Error(io_error)),
                (rates.short_read, Mishap::ShortRead),
                (rates.bit_rot, Mishap::BitRot),
            ],
            IoOp::Write => &[
                (rates.write_error, Mishap::PartialWrite(io_error)),
                (rates.lost_write, Mishap::LostWrite),
                (rates.misdirected_write, Mishap::MisdirectedWrite),
            ],
            IoOp::Sync => &[(rates.sync_error, Mishap::Error(io_error))],
            _ => &[],
        };
        let drawn = |rate: u32, prng: &mut Prng| rate > 0 && prng.below(1_000_000) < u64::from(rate);
        choices.iter().find(|(rate, _)| drawn(*rate, prng)).map(|(_, mishap)| *mishap)
    }
}
