//! Several entries of the dictionary changed as one.
//!
//! The entries that a DDL statement changes are on many pages, and no mini-transaction holds them all. A
//! [`Change`] of more than one entry is therefore written as an entry first: its piece 0 decides. The entries
//! that it lists are written and removed after that, one by one, and the change's own entry goes last. A
//! crash or a full disk may stop this at any point. The list is then worked off again from its beginning: by
//! the next startup before it reads a definition, else before the dictionary is written again.
//!
//! | SIZE | FIELD |
//! |---|---|
//! | 1 | codec version |
//! | ... | steps: kind (1), length of the name (varint), name, then 0 (removed) or 1 and length of the value (varint), value |
//! | 4 | checksum, as of a definition |

use std::sync::atomic::Ordering;

use base::codec::{push_varint, take, take_varint};
use base::sync::{PlantedBug, planted};
use space::{SpaceReserve, Store};

use super::codec::{FORMAT, open, seal};
use super::{Dictionary, Kind};
use crate::error::{Error, Result};

/// Entries to be written and removed together.
#[derive(Debug)]
pub(crate) struct Change {
    /// The entry without its checksum.
    bytes: Vec<u8>,
    steps: usize,
}

/// What becomes of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step<'a> {
    kind: Kind,
    name: &'a [u8],
    /// `None`: the entry is removed.
    value: Option<&'a [u8]>,
}

impl Change {
    pub(crate) fn new() -> Self {
        Change { bytes: vec![FORMAT], steps: 0 }
    }

    /// Writes `value` in place of what has the name.
    pub(crate) fn put(&mut self, kind: Kind, name: &[u8], value: &[u8]) {
        self.begin_step(kind, name);
        self.bytes.push(1);
        push_bytes(&mut self.bytes, value);
    }

    /// Removes what has the name, if anything does.
    pub(crate) fn delete(&mut self, kind: Kind, name: &[u8]) {
        self.begin_step(kind, name);
        self.bytes.push(0);
    }

    fn begin_step(&mut self, kind: Kind, name: &[u8]) {
        self.steps += 1;
        self.bytes.push(kind as u8);
        push_bytes(&mut self.bytes, name);
    }
}

impl Dictionary {
    /// Makes all of `change`, or nothing of it. Returns what kept a change that is decided from being applied
    /// now; the next change, or the next startup, applies it first. The caller holds the definition mutex,
    /// and flushes the log.
    ///
    /// # Errors
    /// Nothing has changed then.
    pub(crate) fn commit(&self, store: &Store, change: Change) -> Result<Option<Error>> {
        self.settle(store)?;
        let Change { bytes, steps } = change;
        if steps < 2 || planted(PlantedBug::HalfDefinition) {
            self.log_damage_of(for_each_step(&bytes[1..], |step| self.make(store, step)))?;
            return Ok(None);
        }
        self.log_damage_of(self.write(store, Kind::Change, NAME, &seal(bytes)))?;
        self.is_unsettled.store(true, Ordering::Relaxed);
        Ok(self.settle(store).err())
    }

    /// Makes the steps of the last change, if something has stopped them. The caller holds the definition
    /// mutex.
    pub(crate) fn settle(&self, store: &Store) -> Result<()> {
        if !self.is_unsettled.load(Ordering::Relaxed) {
            return Ok(());
        }
        if let Some(bytes) = self.get(store, Kind::Change, NAME)? {
            let _reserve = SpaceReserve::open();
            self.log_damage_of(for_each_step(open(&bytes)?, |step| self.make(store, step)))?;
            self.remove(store, Kind::Change, NAME)?;
        }
        self.is_unsettled.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn make(&self, store: &Store, step: Step<'_>) -> Result<()> {
        store.log().admit_reserved()?;
        match step.value {
            Some(value) => self.write(store, step.kind, step.name, value)?,
            None => drop(self.remove(store, step.kind, step.name)?),
        }
        if planted(PlantedBug::HalfDefinition) {
            store.log().flush()?;
        }
        Ok(())
    }
}

/// There is one change at a time.
const NAME: &[u8] = b"";

fn for_each_step(mut rest: &[u8], mut make: impl FnMut(Step<'_>) -> Result<()>) -> Result<()> {
    while !rest.is_empty() {
        make(step(&mut rest).ok_or(Error::DictionaryCorrupt { what: "change" })?)?;
    }
    Ok(())
}

fn step<'a>(rest: &mut &'a [u8]) -> Option<Step<'a>> {
    let kind = match take(rest, 1)? {
        [kind] if *kind == Kind::Schema as u8 => Kind::Schema,
        [kind] if *kind == Kind::Table as u8 => Kind::Table,
        [kind] if *kind == Kind::Object as u8 => Kind::Object,
        [kind] if *kind == Kind::Counters as u8 => Kind::Counters,
        _ => return None,
    };
    let name = take_bytes(rest)?;
    let value = match take(rest, 1)? {
        [0] => None,
        [1] => Some(take_bytes(rest)?),
        _ => return None,
    };
    Some(Step { kind, name, value })
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(take_varint(rest)?).ok()?;
    take(rest, len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_as_it_was_written_and_damage_is_refused() {
        let mut change = Change::new();
        change.put(Kind::Table, &[0, 0, 0, 7], &[1; 300]);
        change.delete(Kind::Counters, &[0, 0, 0, 7]);
        change.delete(Kind::Schema, b"s");
        change.put(Kind::Object, b"account", b"x");
        let sealed = seal(change.bytes);
        let mut found = Vec::new();
        let note = |step: Step<'_>| {
            found.push((step.kind, step.name.to_vec(), step.value.map(<[u8]>::len)));
            Ok(())
        };
        for_each_step(open(&sealed).unwrap(), note).unwrap();
        let id = vec![0, 0, 0, 7];
        assert_eq!(
            found,
            [
                (Kind::Table, id.clone(), Some(300)),
                (Kind::Counters, id, None),
                (Kind::Schema, b"s".to_vec(), None),
                (Kind::Object, b"account".to_vec(), Some(1)),
            ]
        );
        let steps = open(&sealed).unwrap();
        for bad in [&steps[..steps.len() - 1], &[Kind::Damage as u8, 0, 0], &[Kind::Table as u8, 0, 2]] {
            assert!(for_each_step(bad, |_| Ok(())).is_err(), "{bad:?}");
        }
        assert!(open(&sealed[1..]).is_err());
    }
}
