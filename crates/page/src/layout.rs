//! Where everything is in a B-tree page: offsets, widths, page types, slot flags.
//!
//! Header of every page, little-endian:
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 0 | 4 | CRC-32 of bytes 4..16384 |
//! | 4 | 4 | page number |
//! | 8 | 8 | page LSN: end of the last mini-transaction that changed the page |
//! | 16 | 1 | page type |
//! | 17 | 1 | level, 0 = leaf |
//! | 18 | 2 | flags, reserved, 0 |
//! | 20 | 4 | index id |
//! | 24 | 4 | page version, raised when a page number is used again |
//!
//! B-tree pages continue:
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 28 | 2 | count of slots in use |
//! | 30 | 2 | cap: slots for which the arrays have room, even |
//! | 32 | 2 | heap top: lowest byte of the heap, at most 16384 |
//! | 34 | 2 | garbage: bytes of dead cells in the heap |
//! | 36 | 2 | prefix length: bytes shared by all keys of the page |
//! | 38 | 2 | format version of the rows |
//! | 40 | 8 | max trx: no record was changed by a transaction with a higher id |
//! | 48 | 4 | right sibling, 0 = none |
//! | 52 | 2 | key length when all keys have one, 0 = variable |
//! | 54 | 2 | prefix: offset in the heap, 0 = empty |
//! | 56 | 2+2 | lower fence: heap offset, length |
//! | 60 | 2+2 | upper fence: heap offset, length; length 0xFFFF = no upper bound |
//! | 64 | 64 | hints: 16 x u32, heads at equal distances |
//! | 128 | 4 x cap | head array |
//! | 128 + 4 cap | 2 x cap | slot array |
//! | 128 + 6 cap | 4 x cap | child array, inner pages only |
//! | heap top | to 16384 | heap: cells, fences, and the prefix unless the lower fence starts with it |

/// Bytes in a page.
pub const PAGE_SIZE: usize = 16384;
/// The bytes of a page.
pub type PageBytes = [u8; PAGE_SIZE];

/// Bytes of the header that all page types share.
pub const COMMON_HEADER_BYTES: usize = 28;
/// Bytes before the head array of a B-tree page.
pub const HEADER_BYTES: usize = 128;
/// Entries of the hint array.
pub(crate) const HINTS: usize = 16;
/// Below this many slots the hints are neither kept nor read: the heads are few cache lines.
pub(crate) const HINT_COUNT_MIN: usize = 64;
/// Key bytes held by a head.
pub(crate) const HEAD_BYTES: usize = 4;
/// Longest prefix that is stored on its own. One that the lower fence starts with may be of any length.
pub const OWN_PREFIX_BYTES_MAX: usize = 64;
/// Up to this many slots the best prefix is chosen at each insertion; beyond, when the arrays grow.
pub(crate) const PREFIX_SLOTS_FEW: usize = 8;
/// Bytes of a begin or end transaction id in a secondary entry.
pub const TRX_ID_BYTES: usize = base::TrxId::STORED_BYTES;
/// Longest key a page accepts: five of them fit in a page, which is what splitting an inner page takes.
pub const KEY_BYTES_MAX: usize = 3200;

pub(crate) const CHECKSUM: usize = 0;
pub(crate) const PAGE_NO: usize = 4;
pub(crate) const PAGE_LSN: usize = 8;
pub(crate) const PAGE_TYPE: usize = 16;
pub(crate) const LEVEL: usize = 17;
pub(crate) const FLAGS: usize = 18;
pub(crate) const INDEX_ID: usize = 20;
pub(crate) const VERSION: usize = 24;
pub(crate) const COUNT: usize = 28;
pub(crate) const CAP: usize = 30;
pub(crate) const HEAP_TOP: usize = 32;
pub(crate) const GARBAGE: usize = 34;
pub(crate) const PREFIX_LEN: usize = 36;
pub(crate) const FORMAT_VERSION: usize = 38;
pub(crate) const TRX_MAX: usize = 40;
pub(crate) const RIGHT: usize = 48;
pub(crate) const FIXED_KEY_LEN: usize = 52;
pub(crate) const PREFIX_AT: usize = 54;
pub(crate) const LOWER_FENCE: usize = 56;
pub(crate) const UPPER_FENCE: usize = 60;
pub(crate) const HINT_ARRAY: usize = 64;
/// Fence length that says "no upper bound".
pub(crate) const NO_FENCE: u16 = 0xffff;

const _: () = assert!(PAGE_NO == CHECKSUM + 4 && PAGE_LSN == PAGE_NO + 4 && PAGE_TYPE == PAGE_LSN + 8);
const _: () = assert!(LEVEL == PAGE_TYPE + 1 && FLAGS == LEVEL + 1 && INDEX_ID == FLAGS + 2);
const _: () = assert!(VERSION == INDEX_ID + 4 && COUNT == VERSION + 4 && COUNT == COMMON_HEADER_BYTES);
const _: () = assert!(CAP == COUNT + 2 && HEAP_TOP == CAP + 2 && GARBAGE == HEAP_TOP + 2);
const _: () =
    assert!(PREFIX_LEN == GARBAGE + 2 && FORMAT_VERSION == PREFIX_LEN + 2 && TRX_MAX == FORMAT_VERSION + 2);
const _: () = assert!(RIGHT == TRX_MAX + 8 && FIXED_KEY_LEN == RIGHT + 4 && PREFIX_AT == FIXED_KEY_LEN + 2);
const _: () =
    assert!(LOWER_FENCE == PREFIX_AT + 2 && UPPER_FENCE == LOWER_FENCE + 4 && HINT_ARRAY == UPPER_FENCE + 4);
const _: () = assert!(HEADER_BYTES == HINT_ARRAY + 4 * HINTS);

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PageType {
    /// Never used, or freed: all zero.
    Free = 0,
    /// Page 0.
    FileHeader = 1,
    /// Allocation state of a stretch of extents.
    ExtentMap = 2,
    /// Leaf or inner page of a tree.
    BTree = 3,
    /// Part of an off-page value.
    Overflow = 4,
}

impl PageType {
    /// The type stored as `byte`, if it is one.
    #[inline]
    pub fn from_byte(byte: u8) -> Option<PageType> {
        Some(match byte {
            0 => PageType::Free,
            1 => PageType::FileHeader,
            2 => PageType::ExtentMap,
            3 => PageType::BTree,
            4 => PageType::Overflow,
            _ => return None,
        })
    }
}

/// Marks of a leaf record. `DELETED` and `HAS_END` are stored in the slot, `HAS_BEGIN` in the cell's length
/// word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotFlags(u16);

impl SlotFlags {
    /// No mark.
    pub const NONE: SlotFlags = SlotFlags(0);
    /// Clustered: delete-marked. Secondary: closed, or deleted by the transaction of the end id.
    pub const DELETED: SlotFlags = SlotFlags(0x8000);
    /// Secondary: the payload starts with a 6-byte end transaction id.
    pub const HAS_END: SlotFlags = SlotFlags(0x4000);
    /// Secondary: the key ends with a 6-byte begin transaction id. Fixed once the record is inserted.
    pub const HAS_BEGIN: SlotFlags = SlotFlags(0x2000);
    /// The marks that live in the slot and may change during a record's life.
    pub(crate) const IN_SLOT: u16 = 0xc000;

    /// From stored bits; others than the three marks are dropped.
    #[inline]
    pub fn from_bits(bits: u16) -> SlotFlags {
        SlotFlags(bits & 0xe000)
    }

    /// The bits, for the log.
    #[inline]
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Whether all marks of `other` are set.
    #[inline]
    pub fn contains(self, other: SlotFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// With the marks of `other` added.
    #[inline]
    pub const fn with(self, other: SlotFlags) -> SlotFlags {
        SlotFlags(self.0 | other.0)
    }

    /// With the marks of `other` removed.
    #[inline]
    pub const fn without(self, other: SlotFlags) -> SlotFlags {
        SlotFlags(self.0 & !other.0)
    }

    /// Delete-marked or closed.
    #[inline]
    pub fn is_deleted(self) -> bool {
        self.contains(SlotFlags::DELETED)
    }

    /// Carries an end transaction id.
    #[inline]
    pub fn has_end(self) -> bool {
        self.contains(SlotFlags::HAS_END)
    }

    /// Carries a begin transaction id.
    #[inline]
    pub fn has_begin(self) -> bool {
        self.contains(SlotFlags::HAS_BEGIN)
    }
}

/// Offset bits of a slot.
pub(crate) const SLOT_OFFSET: u16 = 0x3fff;
/// Length bits of a leaf cell's length word.
pub(crate) const CELL_LEN: u16 = 0x3fff;
/// Bit of a leaf cell's length word: the key ends with a begin transaction id.
pub(crate) const CELL_HAS_BEGIN: u16 = 0x8000;
const _: () = assert!(SLOT_OFFSET as usize == PAGE_SIZE - 1 && CELL_LEN as usize == PAGE_SIZE - 1);

/// Bytes that one slot takes in the arrays of a page.
#[inline]
pub(crate) fn slot_bytes(is_leaf: bool) -> usize {
    if is_leaf { 6 } else { 10 }
}

/// `count` rounded up to the even number that `cap` must be, so that every array stays aligned.
#[inline]
pub(crate) fn even(count: usize) -> usize {
    (count + 1) & !1
}

/// A record that stays within this many payload bytes keeps all columns, unless its key is long; a larger one
/// sends columns off page.
pub(crate) const INLINE_TARGET_BYTES: usize = 4096;

/// Largest leaf payload beside keys of `key_len` bytes with which two records and both fences still fit in a
/// page, so that a split always succeeds.
pub fn max_inline_payload(key_len: usize) -> usize {
    let per_record = 4 + slot_bytes(true) + 2;
    let fixed = HEADER_BYTES + OWN_PREFIX_BYTES_MAX + 2 * key_len + 2 * (key_len + per_record);
    PAGE_SIZE.saturating_sub(fixed) / 2
}
const _: () = assert!(HEADER_BYTES + OWN_PREFIX_BYTES_MAX + 5 * KEY_BYTES_MAX + 4 * 12 + 16 <= PAGE_SIZE);
