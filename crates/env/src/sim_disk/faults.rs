//! What goes wrong on a simulated disk, and when.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::path::Path;

use base::prng::Prng;

use crate::error::IoOp;

/// The `nth` operation of kind `op` from now on (1 = the next one) fails with `kind` and has no effect,
/// except that after a failed sync each unsynced sector may or may not be durable, and is not written by a
/// later sync.
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
    /// A read finds what is stored somewhere else in the file.
    MisdirectedRead,
    /// A write stores some of its first sectors and fails with this.
    PartialWrite(ErrorKind),
    /// A write is acknowledged and does not happen.
    LostWrite,
    /// A write is acknowledged and lands somewhere else in the file.
    MisdirectedWrite,
    /// The disk is full: this operation, and each later one that may need space, fails until the disk gets
    /// another capacity.
    Full,
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

/// A mishap and when it comes.
#[derive(Clone, Copy, Debug)]
pub struct Trouble {
    /// The kind of operation it comes to; without one every operation counts.
    pub op: Option<IoOp>,
    /// The name of the file; without one every file counts.
    pub file: Option<&'static str>,
    /// How many such operations until it comes: 1 = the next one.
    pub nth: u64,
    /// What happens.
    pub mishap: Mishap,
}

impl Trouble {
    fn concerns(&self, op: IoOp, path: &Path) -> bool {
        self.op.is_none_or(|its| its == op)
            && self.file.is_none_or(|its| path.file_name().is_some_and(|name| name == its))
    }
}

/// Counts operations and decides which of them go wrong.
#[derive(Debug, Default)]
pub(super) struct FaultPlan {
    /// Sequences of troubles, each of which waits for the one before; the first of each counts.
    scheduled: Vec<VecDeque<Trouble>>,
    /// The mishaps that have come, in order.
    happened: Vec<Mishap>,
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

    pub(super) fn schedule(&mut self, troubles: &[Trouble]) {
        self.scheduled.push(troubles.iter().copied().collect());
    }

    pub(super) fn unschedule(&mut self) {
        self.scheduled.clear();
    }

    pub(super) fn happened(&self) -> &[Mishap] {
        &self.happened
    }

    pub(super) fn count(&self, op: IoOp) -> u64 {
        self.counts.get(&op).copied().unwrap_or(0)
    }

    pub(super) fn count_all(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Counts one operation; what happens to it.
    pub(super) fn next(&mut self, op: IoOp, path: &Path, prng: &mut Prng) -> Option<Mishap> {
        *self.counts.entry(op).or_default() += 1;
        let mut due = None;
        for (at, troubles) in self.scheduled.iter_mut().enumerate() {
            let Some(next) = troubles.front_mut().filter(|next| next.concerns(op, path)) else { continue };
            next.nth = next.nth.saturating_sub(1);
            if next.nth == 0 {
                due = due.or(Some(at));
            }
        }
        let mishap = match due {
            Some(at) => self.scheduled[at].pop_front().map(|trouble| trouble.mishap),
            None => self.by_rate(op, prng),
        };
        self.happened.extend(mishap);
        mishap
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
