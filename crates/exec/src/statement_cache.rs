//! Results that a statement's subqueries compute once, however often they run: they do not depend on the
//! outer row.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::error::Result;

/// Things by the address of what they were made for, which lives as long as the statement runs. No allocation
/// while empty.
pub(crate) struct StatementMemo<T>(RefCell<Option<ByAddress<T>>>);

type ByAddress<T> = HashMap<usize, Rc<T>>;

impl<T> Default for StatementMemo<T> {
    fn default() -> Self {
        StatementMemo(RefCell::new(None))
    }
}

impl<T> StatementMemo<T> {
    /// The value made for `op`, by `make` if there is none yet.
    pub(crate) fn get_or_make<O>(&self, op: &O, make: impl FnOnce() -> Result<T>) -> Result<Rc<T>> {
        let address = std::ptr::from_ref(op).addr();
        let known = self.0.borrow().as_ref().and_then(|known| known.get(&address).cloned());
        if let Some(known) = known {
            return Ok(known);
        }
        let made = Rc::new(make()?);
        self.0.borrow_mut().get_or_insert_default().insert(address, Rc::clone(&made));
        Ok(made)
    }
}
