//! Page and record formats, row templates, in-page search, page operations and their redo.
//!
//! The only crate that looks inside page bytes. A page is 16 KiB: header, arrays of heads and slots that grow
//! upwards, a heap of cells that grows downwards.
//!
//! ```text
//! | header 128 | heads u32 x cap | slots u16 x cap | children u32 x cap (inner) | free | heap: cells, fences |
//! ```
//!
//! # Invariants
//! 1. The bytes of a [`PageRef`] passed [`verify_on_read`] or were written by [`PageMut`]; nothing checks
//!    them again.
//! 2. Heads, slots and keys are in ascending key order; all keys lie in `[lower fence, upper fence)`. All
//!    keys share the page's prefix, which is at least what the fences share, and is not stored again.
//! 3. All records of a page have one row format version.
//! 4. A store function either does all or answers [`PageFull`] and leaves the page alone.
//! 5. A store function's result depends on the page and its arguments only: redo is the same call.
//!
//! # Latching
//! None here: the caller holds the page shared for [`PageRef`], exclusively for [`PageMut`].
//!
//! # Sources
//! Heads, hints and fences: Leis et al., "LeanStore" (BTW 2023). docs/file_format.md is the format's
//! definition.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(test, allow(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod append;
pub mod check;
mod corruption;
pub mod extent_map;
pub mod file_header;
mod key_text;
mod layout;
pub mod op;
mod overflow;
mod page_mut;
mod page_ref;
mod prefix;
mod record;
mod row;
mod row_convert;
mod row_encode;
mod row_versions;
mod search;
mod space;
mod template;

pub use check::{check_overflow_value, stamp_checksum, verify_on_read};
pub use corruption::{Corruption, CorruptionKind};
pub use extent_map::{EXTENT_PAGES, ExtentEntry, ExtentPlace, ExtentState};
pub use file_header::{FileHeader, FileHeaderError};
pub use layout::{
    COMMON_HEADER_BYTES, HEADER_BYTES, KEY_BYTES_MAX, OWN_PREFIX_BYTES_MAX, PAGE_SIZE, PageBytes, PageType,
    SlotFlags, TRX_ID_BYTES, max_inline_payload,
};
pub use op::{Batch, EntryClose, LeafInsert, OpError, PageOp, RowDelete, RowPatch, SHORT_KEY_BYTES_MAX};
pub use overflow::{OVERFLOW_CAPACITY, OVERFLOW_REF_BYTES, OverflowRef};
pub use page_mut::{FormatPage, PageFull, PageMut};
pub use page_ref::{CELL_OVERHEAD_BYTES_MAX, Fit, PageRef, TreeLevel};
pub use record::{Cell, KeyInt, Record, RecordCopy, Records, SlotRun};
pub use row::{Field, InBody, RowHeader, RowRef};
pub use row_convert::{KeptValues, RowConverter};
pub use row_encode::RowTooLarge;
pub use row_versions::{GROWTH_MAX, OlderVersion, RowVersions};
pub use search::Search;
pub use template::{ColumnPlace, IntPart, KeyPartPlace, NullBit, Place, ROW_ID_BYTES, RowFormat};

#[cfg(test)]
mod tests;
