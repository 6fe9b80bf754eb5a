//! The versions that each key went through, and which of them a read saw.

use std::collections::HashMap;

use super::anomaly::Anomaly;
use super::history::{History, Objects, Op, ReadKind, Transaction};

/// A write.
#[derive(Clone, Copy, Debug)]
struct Written {
    /// By which transaction.
    trx: u32,
    /// Its transaction committed, and no savepoint before it was returned to.
    stays: bool,
    /// Its transaction's last on the key, of those that stay.
    last: bool,
    /// Where it is among the key's versions, from 1 on.
    place: u32,
}

/// What is wrong, and where.
pub(super) type Finding = (Anomaly, String);

/// A version of a key that a transaction saw, which is not its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) key: u32,
    /// Committed writes that are in it.
    pub(super) place: u32,
    pub(super) kind: ReadKind,
    pub(super) statement: u32,
}

/// All keys.
pub(super) struct Versions<'h> {
    history: &'h History,
    written: HashMap<(u32, u32), Written>,
    /// The values that committed, by key, in order.
    orders: HashMap<u32, Vec<u32>>,
}

impl<'h> Versions<'h> {
    /// Finds the order of each key's versions; what does not fit is added to `findings`.
    pub(super) fn new(history: &'h History, findings: &mut Vec<Finding>) -> Self {
        let mut versions = Versions { history, written: HashMap::new(), orders: HashMap::new() };
        versions.note_writes();
        match history.objects {
            Objects::Lists => versions.orders.clone_from(&history.last),
            Objects::Registers => versions.order_registers(findings),
        }
        versions.place(findings);
        versions
    }

    fn note_writes(&mut self) {
        for (number, trx) in (0..).zip(&self.history.transactions) {
            let mut last = HashMap::new();
            for op in &trx.ops {
                if let Op::Write { key, value, undone, .. } = *op {
                    let stays = trx.committed && !undone;
                    self.written.insert((key, value), Written { trx: number, stays, last: false, place: 0 });
                    if !undone {
                        last.insert(key, value);
                    }
                }
            }
            for place in last {
                self.written.entry(place).and_modify(|written| written.last = true);
            }
        }
    }

    /// Registers' writes know their place.
    fn order_registers(&mut self, findings: &mut Vec<Finding>) {
        let mut places: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        for trx in self.history.transactions.iter().filter(|trx| trx.committed) {
            for op in &trx.ops {
                if let Op::Write { key, value, version, undone: false } = *op {
                    places.entry(key).or_default().push((version, value));
                }
            }
        }
        for (key, mut writes) in places {
            writes.sort_unstable();
            let wrong = (1..).zip(&writes).find(|(place, (version, _))| place != version);
            if let Some((place, (version, value))) = wrong {
                let what = format!(
                    "key {key}: write {place} is not there, or there twice: {value} is number {version}"
                );
                findings.push((Anomaly::LostWrite, what));
            }
            let last = self.history.last.get(&key).and_then(|last| last.first());
            if last != writes.last().map(|(_, value)| value) {
                findings.push((
                    Anomaly::LostWrite,
                    format!("key {key} ends with {last:?}, not {:?}", writes.last()),
                ));
            }
            self.orders.insert(key, writes.into_iter().map(|(_, value)| value).collect());
        }
    }

    /// Gives each committed write its place.
    fn place(&mut self, findings: &mut Vec<Finding>) {
        for (&key, order) in &self.orders {
            for (place, &value) in (1..).zip(order) {
                match self.written.get_mut(&(key, value)) {
                    Some(written) if written.stays && written.place == 0 => written.place = place,
                    Some(written) if written.stays => {
                        findings.push((Anomaly::LostWrite, format!("key {key}: {value} is there twice")));
                    }
                    _ => findings.push((Anomaly::DirtyUpdate, format!("key {key}: {value} has stayed"))),
                }
            }
        }
        let lost = |((key, value), written): (&(u32, u32), &Written)| {
            (written.stays && written.place == 0).then(|| format!("key {key}: {value} is not there"))
        };
        findings.extend(self.written.iter().filter_map(lost).map(|what| (Anomaly::LostWrite, what)));
    }

    /// The transactions that wrote the versions of each key, in order.
    pub(super) fn writers(&self) -> impl Iterator<Item = (u32, Vec<u32>)> {
        self.orders.iter().map(|(&key, order)| {
            let writer = |value: &u32| self.written.get(&(key, *value)).map(|written| written.trx);
            (key, order.iter().filter_map(writer).collect())
        })
    }

    /// Who wrote version `place` of `key`, from 1 on.
    pub(super) fn writer(&self, key: u32, place: u32) -> Option<u32> {
        let value = *self.orders.get(&key)?.get((place as usize).checked_sub(1)?)?;
        Some(self.written.get(&(key, value))?.trx)
    }

    /// What transaction `number` saw of what others wrote. Reads that no order explains are added to
    /// `findings`.
    pub(super) fn seen(&self, number: u32, findings: &mut Vec<Finding>) -> Vec<Seen> {
        let trx = &self.history.transactions[number as usize];
        let mut own: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut all = Vec::new();
        for (at, op) in trx.ops.iter().enumerate() {
            match op {
                &Op::Write { key, value, .. } => own.entry(key).or_default().push(value),
                Op::Read { key, seen, kind, statement } => {
                    let mine = own_at(trx, own.get(key), *key, at);
                    match self.place_of(number, *key, seen, &mine) {
                        Ok(Some(place)) => {
                            all.push(Seen { key: *key, place, kind: *kind, statement: *statement });
                        }
                        Ok(None) => {}
                        Err(anomaly) => {
                            let what = format!("trx {number} read {seen:?} of key {key}, its own {mine:?}");
                            let is_dirty =
                                matches!(anomaly, Anomaly::AbortedRead | Anomaly::IntermediateRead);
                            if is_dirty && *kind == ReadKind::Locking {
                                findings.push((Anomaly::DirtyLockingRead, what.clone()));
                            }
                            findings.push((anomaly, what));
                        }
                    }
                }
            }
        }
        all
    }

    /// The version of others that a read saw; `None`: its own, on top of what it must be.
    fn place_of(&self, number: u32, key: u32, seen: &[u32], own: &[u32]) -> Result<Option<u32>, Anomaly> {
        let of_others = match self.history.objects {
            Objects::Lists => {
                let rest = seen.strip_suffix(own).ok_or(Anomaly::Internal)?;
                let is_own = |value: &u32| self.written.get(&(key, *value)).is_some_and(|w| w.trx == number);
                if rest.iter().any(is_own) {
                    return Err(Anomaly::Internal);
                }
                rest
            }
            Objects::Registers => match own.last() {
                Some(last) if seen == [*last] => return Ok(None),
                Some(_) => return Err(Anomaly::Internal),
                None => seen.strip_prefix(&[0]).unwrap_or(seen),
            },
        };
        let written = |value: &u32| self.written.get(&(key, *value)).ok_or(Anomaly::Order);
        let all: Vec<&Written> = of_others.iter().map(written).collect::<Result<_, _>>()?;
        if all.iter().any(|written| !written.stays) {
            return Err(Anomaly::AbortedRead);
        }
        let place = all.last().map_or(0, |written| written.place);
        let is_list = self.history.objects == Objects::Lists;
        if is_list && (1..).zip(&all).any(|(place, written)| written.place != place) {
            return Err(Anomaly::Order);
        }
        if all.last().is_some_and(|written| !written.last) {
            return Err(Anomaly::IntermediateRead);
        }
        Ok(own.is_empty().then_some(place))
    }
}

/// What the transaction itself has made of `key` before operation `at`: the writes that were not undone by
/// then. A write that was undone is by the next operation on the key, for a savepoint is returned to at once.
fn own_at(trx: &Transaction, own: Option<&Vec<u32>>, key: u32, at: usize) -> Vec<u32> {
    let undone = |value: &u32| {
        trx.ops[..at].iter().any(
            |op| matches!(op, Op::Write { key: k, value: v, undone: true, .. } if *k == key && v == value),
        )
    };
    own.into_iter().flatten().copied().filter(|value| !undone(value)).collect()
}
