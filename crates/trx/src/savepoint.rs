//! Named places in a transaction that it can return to.

use crate::error::Error;
use base::UndoPtr;

/// A savepoint: its name and the newest undo record when it was set.
#[derive(Clone, Debug)]
pub struct Savepoint {
    /// As written; compared without regard to case.
    pub name: Box<str>,
    /// What comes after this record is undone.
    pub mark: UndoPtr,
}

/// The savepoints of a transaction, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Savepoints(Vec<Savepoint>);

impl Savepoints {
    /// Sets a savepoint; one of the same name is replaced.
    pub(crate) fn set(&mut self, name: &str, mark: UndoPtr) {
        self.0.retain(|s| !s.name.eq_ignore_ascii_case(name));
        self.0.push(Savepoint { name: name.into(), mark });
    }

    /// The mark of `name`, which stays; later savepoints go.
    pub(crate) fn return_to(&mut self, name: &str) -> Result<UndoPtr, Error> {
        let at = self.find(name)?;
        self.0.truncate(at + 1);
        Ok(self.0[at].mark)
    }

    /// Forgets `name` and later savepoints.
    pub(crate) fn release(&mut self, name: &str) -> Result<(), Error> {
        let at = self.find(name)?;
        self.0.truncate(at);
        Ok(())
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.clear();
        }
    }

    fn find(&self, name: &str) -> Result<usize, Error> {
        self.0.iter().position(|s| s.name.eq_ignore_ascii_case(name)).ok_or(Error::NoSuchSavepoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returning_keeps_the_savepoint_and_drops_later_ones() {
        let mut savepoints = Savepoints::default();
        savepoints.set("a", UndoPtr(8));
        savepoints.set("b", UndoPtr(16));
        savepoints.set("c", UndoPtr(24));
        assert_eq!(savepoints.return_to("B"), Ok(UndoPtr(16)));
        assert_eq!(savepoints.return_to("c"), Err(Error::NoSuchSavepoint));
        assert_eq!(savepoints.return_to("b"), Ok(UndoPtr(16)));
        assert_eq!(savepoints.release("a"), Ok(()));
        assert_eq!(savepoints.return_to("b"), Err(Error::NoSuchSavepoint));
    }

    #[test]
    fn a_name_used_again_moves_to_the_end() {
        let mut savepoints = Savepoints::default();
        savepoints.set("a", UndoPtr(8));
        savepoints.set("b", UndoPtr(16));
        savepoints.set("A", UndoPtr(24));
        assert_eq!(savepoints.return_to("a"), Ok(UndoPtr(24)));
        assert_eq!(savepoints.return_to("b"), Ok(UndoPtr(16)));
    }
}
