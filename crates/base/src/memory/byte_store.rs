//! Rows and keys of any length, packed into chunks that never move.

use std::rc::Rc;

use super::account::{LimitExceeded, Purpose, StatementAccount};
use super::charge::Charge;
use super::pieces::append_in_pieces;

/// Bytes of the first chunk; later ones double.
const FIRST_CHUNK_BYTES: usize = 512;
/// Bytes of a chunk, unless one row is longer.
const CHUNK_BYTES_MAX: usize = 256 << 10;
/// Longest row: the ends of its cells are kept in 31 bits.
const ROW_BYTES_MAX: usize = i32::MAX as usize;

/// Where a row is in its store. Ordered as the rows were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    chunk: u32,
    start: u32,
    end: u32,
}

impl Place {
    /// Bytes of the row.
    #[inline]
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the row has no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.end == self.start
    }

    /// The row's bytes from offset `from` on.
    #[inline]
    pub fn after(self, from: usize) -> Self {
        debug_assert!(from <= self.len(), "offset {from} is beyond the row");
        Place { start: self.start + from as u32, ..self }
    }

    /// The row's first `len` bytes.
    #[inline]
    pub fn first(self, len: usize) -> Self {
        debug_assert!(len <= self.len(), "{len} bytes are more than the row has");
        Place { end: self.start + len as u32, ..self }
    }
}

/// Rows one after the other. A row is written in parts: [`ByteStore::begin`], appends, [`ByteStore::end`]. An
/// append that the account refuses is left out, and the row's end returns the error; so does that of a long
/// row whose statement is interrupted.
#[derive(Debug)]
pub struct ByteStore {
    /// The chunk being filled.
    chunk: Vec<u8>,
    /// Where in it the row being written begins.
    row: usize,
    full: Vec<Vec<u8>>,
    refused: Option<LimitExceeded>,
    charge: Charge,
}

impl ByteStore {
    /// An empty store without an allocation.
    #[inline]
    pub fn new(account: &Rc<StatementAccount>, purpose: Purpose) -> Self {
        let charge = Charge::new(account, purpose);
        ByteStore { chunk: Vec::new(), row: 0, full: Vec::new(), refused: None, charge }
    }

    /// An empty store with the same account and purpose.
    pub fn empty(&self) -> Self {
        let charge = self.charge.empty();
        ByteStore { chunk: Vec::new(), row: 0, full: Vec::new(), refused: None, charge }
    }

    /// Bytes charged.
    pub fn charged(&self) -> usize {
        self.charge.bytes()
    }

    /// Begins a row.
    #[inline]
    pub fn begin(&mut self) {
        self.row = self.chunk.len();
    }

    /// Appends bytes to the row being written.
    #[inline]
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        if self.chunk.capacity() - self.chunk.len() >= bytes.len() {
            self.chunk.extend_from_slice(bytes);
        } else {
            self.grow_by(bytes);
        }
    }

    /// As [`ByteStore::extend_from_slice`], where a new chunk is needed.
    #[cold]
    #[inline(never)]
    fn grow_by(&mut self, bytes: &[u8]) {
        if self.grow(bytes.len()) && !append_in_pieces(bytes, &mut self.chunk) {
            self.refuse(self.charge.too_large());
        }
    }

    /// Appends a byte to the row being written.
    #[inline]
    pub fn push(&mut self, byte: u8) {
        if self.has_room(1) {
            self.chunk.push(byte);
        }
    }

    /// Appends `count` zeros to the row being written.
    #[inline]
    pub fn push_zeros(&mut self, count: usize) {
        if self.has_room(count) {
            self.chunk.resize(self.chunk.len() + count, 0);
        }
    }

    /// What of the row is written.
    #[inline]
    pub fn row(&self) -> &[u8] {
        self.chunk.get(self.row..).unwrap_or_default()
    }

    /// As [`ByteStore::row`].
    #[inline]
    pub fn row_mut(&mut self) -> &mut [u8] {
        self.chunk.get_mut(self.row..).unwrap_or_default()
    }

    /// Ends the row.
    /// # Errors  An append was refused; the row is dropped.
    #[inline]
    pub fn end(&mut self) -> Result<Place, LimitExceeded> {
        if let Some(refused) = self.refused.take() {
            self.abandon();
            return Err(refused);
        }
        Ok(Place { chunk: self.full.len() as u32, start: self.row as u32, end: self.chunk.len() as u32 })
    }

    /// Drops the row being written.
    #[inline]
    pub fn abandon(&mut self) {
        self.chunk.truncate(self.row);
    }

    /// The bytes of a row.
    #[inline]
    pub fn get(&self, place: Place) -> &[u8] {
        let chunk = self.full.get(place.chunk as usize).unwrap_or(&self.chunk);
        chunk.get(place.start as usize..place.end as usize).unwrap_or_default()
    }

    /// Drops all rows; one chunk of the usual size stays.
    #[inline]
    pub fn clear(&mut self) {
        self.chunk.clear();
        self.row = 0;
        if !self.full.is_empty() || self.chunk.capacity() > CHUNK_BYTES_MAX {
            self.free();
        }
    }

    #[cold]
    fn free(&mut self) {
        self.full = Vec::new();
        if self.chunk.capacity() > CHUNK_BYTES_MAX {
            self.chunk = Vec::new();
        }
        self.charge.remove(self.charge.bytes() - self.chunk.capacity());
    }

    #[inline]
    fn has_room(&mut self, count: usize) -> bool {
        self.chunk.capacity() - self.chunk.len() >= count || self.grow(count)
    }

    /// Moves the row being written to a new chunk with room for `count` more bytes; false if the account
    /// refuses it.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, count: usize) -> bool {
        let written = self.chunk.len() - self.row;
        let Some(needed) = written.checked_add(count).filter(|&needed| needed <= ROW_BYTES_MAX) else {
            return self.refuse(self.charge.too_large());
        };
        let usual = (2 * self.chunk.capacity()).clamp(FIRST_CHUNK_BYTES, CHUNK_BYTES_MAX);
        let long = if written > 0 { needed + needed / 4 } else { needed };
        let capacity = if needed <= usual { usual } else { long };
        if let Err(refused) = self.charge.add(capacity) {
            return self.refuse(refused);
        }
        let mut chunk = Vec::new();
        if chunk.try_reserve_exact(capacity).is_err() {
            self.charge.remove(capacity);
            return self.refuse(LimitExceeded::Server);
        }
        if !append_in_pieces(self.row(), &mut chunk) {
            self.charge.remove(capacity);
            return self.refuse(self.charge.too_large());
        }
        let mut old = std::mem::replace(&mut self.chunk, chunk);
        if self.row == 0 {
            self.charge.remove(old.capacity());
        } else {
            old.truncate(self.row);
            self.full.push(old);
        }
        self.row = 0;
        true
    }

    #[cold]
    fn refuse(&mut self, refused: LimitExceeded) -> bool {
        self.refused.get_or_insert(refused);
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{ConnectionAccount, ConnectionLimits, ServerAccount};
    use super::*;
    use crate::prng::Prng;

    #[test]
    fn rows_of_all_lengths_are_read_back_while_more_are_written() {
        let account = StatementAccount::unlimited();
        let mut store = ByteStore::new(&account, Purpose::Other);
        let mut random = Prng::new(1);
        let mut rows = Vec::new();
        for i in 0..3000u32 {
            let len = if i % 500 == 499 { 700_000 } else { random.below(300) as usize };
            let row: Vec<u8> = (0..len).map(|at| (at as u32 ^ i) as u8).collect();
            store.begin();
            row.chunks(97).for_each(|part| store.extend_from_slice(part));
            if i % 7 == 0 {
                store.abandon();
            } else {
                rows.push((store.end().unwrap(), row));
            }
        }
        assert!(rows.iter().all(|(place, row)| store.get(*place) == row));
        let held: usize = store.full.iter().map(Vec::capacity).sum::<usize>() + store.chunk.capacity();
        assert_eq!((account.used(), store.charged()), (held as u64, held));
        store.clear();
        assert!(account.used() <= CHUNK_BYTES_MAX as u64);
        drop(store);
        assert_eq!(account.used(), 0);
    }

    #[test]
    fn a_row_beyond_the_limit_is_refused_and_those_before_it_stay() {
        let connection = ConnectionAccount::new(Arc::new(ServerAccount::default()));
        connection.set_limits(ConnectionLimits { statement_bytes: 1 << 20, ..ConnectionLimits::default() });
        let account = StatementAccount::new(connection);
        let mut store = ByteStore::new(&account, Purpose::Sort);
        store.extend_from_slice(b"kept");
        let kept = store.end().unwrap();
        store.begin();
        store.extend_from_slice(b"some");
        store.extend_from_slice(&vec![1; 2 << 20]);
        store.push(1);
        assert_eq!(store.end(), Err(LimitExceeded::Statement(Purpose::Sort)));
        store.begin();
        store.push(7);
        let next = store.end().unwrap();
        assert_eq!((store.get(kept), store.get(next)), (&b"kept"[..], &[7][..]));
        let mut rows = 0u64;
        let refused = loop {
            store.begin();
            store.push_zeros(1000);
            match store.end() {
                Ok(_) => rows += 1,
                Err(refused) => break refused,
            }
        };
        assert_eq!(refused, LimitExceeded::Statement(Purpose::Sort));
        assert!(rows > 600, "{rows} rows of 1000 bytes in a MiB");
    }
}
