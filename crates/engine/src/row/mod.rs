//! Row changes and versions. docs/mvcc.md describes the states a record goes through.

pub(crate) mod built_entry;
pub(crate) mod delete;
pub(crate) mod duplicate;
pub(crate) mod entry;
pub(crate) mod insert;
pub(crate) mod insert_batch;
pub(crate) mod int_entry;
pub(crate) mod key;
pub(crate) mod mixed;
pub(crate) mod move_entry;
pub(crate) mod old_row;
pub(crate) mod rollback;
pub(crate) mod row_image;
pub(crate) mod tree_edit;
pub(crate) mod update;
pub(crate) mod update_in_place;
pub(crate) mod version;
pub(crate) mod writer;

pub use insert::InsertOutcome;
pub use old_row::OldRow;
pub use update::{RowChange, UpdateOutcome};
