//! The bytes of one simulated file: what readers see, and what the medium may hold after a crash.

use std::collections::BTreeMap;

use base::prng::Prng;

/// Bytes that a device writes whole: after a crash a sector is one of its versions, never a mixture.
pub(super) const SECTOR: usize = 512;

type Sector = [u8; SECTOR];

/// A sector whose newest version, the one readers see, is not durable.
#[derive(Debug)]
struct Unsynced {
    /// The durable version, then those written over since; the newest is in `Contents::bytes`.
    older: Vec<Sector>,
    /// A failed sync has given the newest version up: no later sync writes it.
    given_up: bool,
}

/// A choice of the medium's: the sector (none: the file's length) and how many versions there are. Answers
/// which of them survives: 0 is the durable one, the last the newest.
pub(super) type Survivor<'a> = &'a mut dyn FnMut(Option<u64>, usize) -> usize;

/// The bytes of a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    bytes: Vec<u8>,
    unsynced: BTreeMap<u64, Unsynced>,
    /// The durable length, then those in force since; the newest is that of `bytes`.
    older_lens: Vec<usize>,
    /// Whether anything is lost without a sync.
    volatile: bool,
}

impl Contents {
    /// A file of `bytes`, all of them durable.
    pub(super) fn new(bytes: Vec<u8>, volatile: bool) -> Self {
        Contents { bytes, volatile, ..Contents::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether everything readers see is durable.
    pub(super) fn is_durable(&self) -> bool {
        self.unsynced.is_empty() && self.older_lens.is_empty()
    }

    /// Copies what there is from `offset` on; how many bytes.
    pub(super) fn read(&self, buf: &mut [u8], offset: usize) -> usize {
        let from = self.bytes.len().min(offset);
        let n = buf.len().min(self.bytes.len() - from);
        buf[..n].copy_from_slice(&self.bytes[from..from + n]);
        n
    }

    pub(super) fn write(&mut self, bytes: &[u8], offset: usize) {
        let end = offset + bytes.len();
        if self.bytes.len() < end {
            self.resize(end);
        }
        self.note(offset, end);
        self.bytes[offset..end].copy_from_slice(bytes);
    }

    /// Cuts or extends with zeros.
    pub(super) fn resize(&mut self, len: usize) {
        if len == self.bytes.len() {
            return;
        }
        if self.volatile {
            self.older_lens.push(self.bytes.len());
        }
        self.note(len.min(self.bytes.len()), self.bytes.len());
        self.bytes.resize(len, 0);
    }

    /// Fills what there is of a range with zeros.
    pub(super) fn zero(&mut self, from: usize, to: usize) {
        let (from, to) = (self.bytes.len().min(from), self.bytes.len().min(to));
        self.note(from, to);
        self.bytes[from..to].fill(0);
    }

    /// Flips a bit of the byte at `offset`, in every version.
    pub(super) fn flip_bit(&mut self, offset: usize, bit: u32) {
        self.bytes[offset] ^= 1 << bit;
        if let Some(unsynced) = self.unsynced.get_mut(&((offset / SECTOR) as u64)) {
            unsynced.older.iter_mut().for_each(|sector| sector[offset % SECTOR] ^= 1 << bit);
        }
    }

    pub(super) fn sync(&mut self) {
        self.unsynced.retain(|_, sector| sector.given_up);
        self.older_lens.clear();
    }

    /// A sync that fails: each unsynced sector has become durable or has been given up.
    pub(super) fn sync_in_part(&mut self, prng: &mut Prng) {
        self.unsynced.retain(|_, sector| {
            if sector.given_up {
                return true;
            }
            let survivor = prng.below(sector.older.len() as u64 + 1) as usize;
            if survivor == sector.older.len() {
                return false;
            }
            sector.older = vec![sector.older[survivor]];
            sector.given_up = true;
            true
        });
    }

    /// What is on the medium after a crash. Sectors of the same block of `block_sectors` that were written
    /// equally often share their fate: on a device that writes such blocks atomically, and a file that is
    /// written in them.
    pub(super) fn survive(&self, block_sectors: u64, survivor: Survivor<'_>) -> Vec<u8> {
        let lens = self.older_lens.iter().copied().chain([self.bytes.len()]);
        let len = match self.older_lens.len() {
            0 => self.bytes.len(),
            older => lens.clone().nth(survivor(None, older + 1)).unwrap_or(self.bytes.len()),
        };
        let mut bytes = self.bytes.clone();
        bytes.resize(lens.max().unwrap_or(0).next_multiple_of(SECTOR), 0);
        let mut last = None;
        for (&number, sector) in &self.unsynced {
            let versions = sector.older.len() + 1;
            let choice = match last {
                Some((block, same, choice)) if block == number / block_sectors && same == versions => choice,
                _ => survivor(Some(number), versions),
            };
            last = Some((number / block_sectors, versions, choice));
            if let Some(old) = sector.older.get(choice) {
                let at = number as usize * SECTOR;
                bytes[at..at + SECTOR].copy_from_slice(old);
            }
        }
        bytes.truncate(len);
        bytes
    }

    /// Keeps the present version of all sectors that `from..to` touches.
    fn note(&mut self, from: usize, to: usize) {
        if !self.volatile || from >= to {
            return;
        }
        for number in from / SECTOR..to.div_ceil(SECTOR) {
            let mut present = [0; SECTOR];
            self.read(&mut present, number * SECTOR);
            let fresh = || Unsynced { older: Vec::new(), given_up: false };
            let sector = self.unsynced.entry(number as u64).or_insert_with(fresh);
            if std::mem::take(&mut sector.given_up) {
                // The version that was given up is not, and will not be, on the medium.
                continue;
            }
            sector.older.push(present);
        }
    }
}
