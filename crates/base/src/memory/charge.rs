//! The memory that one operator or buffer has charged to its statement.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use super::account::{LimitExceeded, Purpose, StatementAccount};

/// Bytes from which on a vector grows by half instead of doubling.
const DOUBLING_BYTES_MAX: usize = 1 << 20;
/// Bytes of a vector's first allocation, at least.
const FIRST_BYTES: usize = 64;

/// Bytes charged to a statement, released when this drops.
#[derive(Debug)]
pub struct Charge {
    account: Rc<StatementAccount>,
    bytes: Cell<usize>,
    purpose: Purpose,
}

impl Charge {
    /// Nothing charged yet.
    #[inline]
    pub fn new(account: &Rc<StatementAccount>, purpose: Purpose) -> Self {
        Charge { account: Rc::clone(account), bytes: Cell::new(0), purpose }
    }

    /// Nothing charged to the same account for the same purpose.
    pub fn empty(&self) -> Self {
        Charge { account: Rc::clone(&self.account), bytes: Cell::new(0), purpose: self.purpose }
    }

    /// The account that is charged.
    #[inline]
    pub fn account(&self) -> &Rc<StatementAccount> {
        &self.account
    }

    /// Bytes charged here.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Charges `bytes` more.
    /// # Errors  The limit that would be exceeded.
    pub fn add(&self, bytes: usize) -> Result<(), LimitExceeded> {
        self.account.charge(bytes, self.purpose)?;
        self.bytes.set(self.bytes.get() + bytes);
        Ok(())
    }

    /// Gives `bytes` back.
    pub fn remove(&self, bytes: usize) {
        debug_assert!(bytes <= self.bytes.get(), "{bytes} bytes were not charged");
        let bytes = bytes.min(self.bytes.get());
        self.account.release(bytes);
        self.bytes.set(self.bytes.get() - bytes);
    }

    /// The error of an allocation larger than any that is made.
    #[cold]
    pub fn too_large(&self) -> LimitExceeded {
        LimitExceeded::Statement(self.purpose)
    }

    /// Makes room for `more` items in `items`, charging its new allocation first and releasing its old one
    /// after.
    /// # Errors  The limit that would be exceeded; `items` is unchanged.
    #[inline]
    pub fn reserve<T>(&self, items: &mut Vec<T>, more: usize) -> Result<(), LimitExceeded> {
        if items.capacity() - items.len() >= more { Ok(()) } else { self.grow(items, more) }
    }

    #[cold]
    #[inline(never)]
    fn grow<T>(&self, items: &mut Vec<T>, more: usize) -> Result<(), LimitExceeded> {
        let size = size_of::<T>().max(1);
        let old = items.capacity() * size;
        let half_more = if old < DOUBLING_BYTES_MAX { 2 * old } else { old + old / 2 };
        let needed = items.len().checked_add(more).ok_or_else(|| self.too_large())?;
        let capacity = needed.max(half_more / size).max(FIRST_BYTES / size);
        let bytes = capacity.checked_mul(size).ok_or_else(|| self.too_large())?;
        self.add(bytes)?;
        if items.try_reserve_exact(capacity - items.len()).is_err() {
            self.remove(bytes);
            return Err(LimitExceeded::Server);
        }
        self.remove(old);
        Ok(())
    }
}

impl Drop for Charge {
    #[inline]
    fn drop(&mut self) {
        if self.bytes.get() != 0 {
            self.account.release(self.bytes.get());
        }
    }
}

/// A vector that charges its allocation.
#[derive(Debug)]
pub struct ChargedVec<T> {
    items: Vec<T>,
    charge: Charge,
}

impl<T> ChargedVec<T> {
    /// An empty vector without an allocation.
    #[inline]
    pub fn new(account: &Rc<StatementAccount>, purpose: Purpose) -> Self {
        ChargedVec { items: Vec::new(), charge: Charge::new(account, purpose) }
    }

    /// An empty vector with the same account and purpose.
    pub fn empty(&self) -> Self {
        ChargedVec { items: Vec::new(), charge: self.charge.empty() }
    }

    /// Appends `item`.
    /// # Errors  The limit that would be exceeded.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), LimitExceeded> {
        self.charge.reserve(&mut self.items, 1)?;
        self.items.push(item);
        Ok(())
    }

    /// Drops the items from position `len` on; the allocation stays.
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }
}

impl<T: Copy> ChargedVec<T> {
    /// Appends `items`.
    /// # Errors  The limit that would be exceeded.
    #[inline]
    pub fn extend_from_slice(&mut self, items: &[T]) -> Result<(), LimitExceeded> {
        self.charge.reserve(&mut self.items, items.len())?;
        self.items.extend_from_slice(items);
        Ok(())
    }
}

impl<T> Deref for ChargedVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> DerefMut for ChargedVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{ConnectionAccount, ConnectionLimits, ServerAccount};
    use super::*;

    #[test]
    fn a_vector_charges_what_it_has_and_stops_at_the_limit() {
        let connection = ConnectionAccount::new(Arc::new(ServerAccount::default()));
        connection.set_limits(ConnectionLimits { statement_bytes: 4 << 20, ..ConnectionLimits::default() });
        let account = StatementAccount::new(connection);
        let mut items: ChargedVec<u64> = ChargedVec::new(&account, Purpose::Sort);
        let mut pushed = 0;
        let error = loop {
            assert_eq!(account.used(), 8 * items.items.capacity() as u64);
            match items.push(pushed) {
                Ok(()) => pushed += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error, LimitExceeded::Statement(Purpose::Sort));
        assert!(pushed > (4 << 20) / 8 * 2 / 5, "{pushed} items");
        assert!(items.iter().copied().eq(0..pushed));
        drop(items);
        assert_eq!(account.used(), 0);
    }
}
