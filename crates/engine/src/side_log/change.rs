//! A change's bytes: one entry that an index loses or gets.
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 1 | 0: remove the entry; 1: insert it |
//! | 1 | 1 | position of the index among those that are built |
//! | 2 | | the entry, as sorts have it (`index_sort/entry.rs`) |

use crate::index_sort::Entry;

/// Bytes before the entry.
pub(super) const CHANGE_HEADER_BYTES: usize = 2;

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Remove,
    Insert,
}

/// A change somewhere in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'b> {
    pub(crate) action: Action,
    /// Position of the index among those that are built.
    pub(crate) index: usize,
    pub(crate) entry: Entry<'b>,
}

impl<'b> Change<'b> {
    /// Takes the change off that `bytes` begin with; `None` at the end.
    pub(crate) fn take(bytes: &mut &'b [u8]) -> Option<Self> {
        let [action, index, rest @ ..] = *bytes else { return None };
        let entry = Entry::at_start_of(rest);
        *bytes = &rest[entry.bytes().len()..];
        let action = if *action == 0 { Action::Remove } else { Action::Insert };
        Some(Change { action, index: usize::from(*index), entry })
    }

    /// Appends the change to `out`.
    pub(super) fn append_to(self, out: &mut Vec<u8>) {
        let Change { action, index, entry } = self;
        out.reserve(CHANGE_HEADER_BYTES + entry.bytes().len());
        out.push(u8::from(action == Action::Insert));
        out.push(u8::try_from(index).expect("a table has at most 64 secondary indexes"));
        out.extend_from_slice(entry.bytes());
    }
}
