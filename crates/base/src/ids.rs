//! Newtypes for every id and position that crosses a module boundary.
//!
//! Widths on disk are those of the inner integer unless a type says otherwise ([`TrxId`] is stored in 6
//! bytes).

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($int:ty), $label:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($label, "{}"), self.0)
            }
        }
    };
}

id!(
    /// Number of a 16 KiB page in `data.pages`; byte position = number * 16,384. `PageNo::NONE` (0) is the
    /// file header page, so it also serves as "no page" in links.
    PageNo(u32), "page "
);
id!(
    /// A B-tree (clustered or secondary). Ids below 64 are the dictionary's own trees.
    IndexId(u32), "index "
);
id!(
    /// A table, never reused.
    TableId(u32), "table "
);
id!(
    /// A schema (database), never reused.
    SchemaId(u32), "schema "
);
id!(
    /// A column within its table, never reused, independent of its position.
    ColumnId(u16), "column "
);
id!(
    /// Log sequence number: byte position in the endless redo stream.
    Lsn(u64), "lsn "
);
id!(
    /// Transaction id: 48 bits, stored in 6 bytes. 0 means "older than every reader".
    TrxId(u64), "trx "
);

id!(
    /// Address of an undo record: 56 bits, stored in 7 bytes; the transaction layer says which record it is.
    /// A row header holds that of the row's previous version, an undo record that of the one before it. 0 is
    /// "none".
    UndoPtr(u64), "undo "
);

impl PageNo {
    /// No page: page 0 holds the file header and is never a link's target.
    pub const NONE: PageNo = PageNo(0);

    /// Whether this is [`PageNo::NONE`].
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// Bytes at the start of a clustered record's payload: its writer's id and the [`UndoPtr`] of its previous
/// version.
pub const ROW_HEADER_BYTES: usize = TrxId::STORED_BYTES + UndoPtr::STORED_BYTES;

impl UndoPtr {
    /// No record: a row inserted where nothing was, the end of a transaction's chain.
    pub const NONE: UndoPtr = UndoPtr(0);
    /// Bytes on disk.
    pub const STORED_BYTES: usize = 7;

    /// Whether this is [`UndoPtr::NONE`].
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl TrxId {
    /// Older than every read view: visible to all.
    pub const NONE: TrxId = TrxId(0);
    /// Largest storable id.
    pub const MAX: TrxId = TrxId((1 << 48) - 1);
    /// Bytes on disk.
    pub const STORED_BYTES: usize = 6;
}
