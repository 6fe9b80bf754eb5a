//! What is wrong with a damaged page.

use base::PageNo;

/// A page whose bytes cannot be what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// Where it was read.
    pub page: PageNo,
    /// What is wrong.
    pub what: CorruptionKind,
}

/// What is wrong with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CorruptionKind {
    /// The checksum does not match the bytes: torn or rotten.
    Checksum,
    /// The page carries another page's number: misdirected I/O.
    PageNo,
    /// The type byte is unknown.
    PageType,
    /// A header field is out of range.
    Header,
    /// A fence or the prefix lies outside the heap, or the prefix is shorter than what the fences share.
    Fences,
    /// A slot points outside the heap.
    SlotRange,
    /// A cell's length does not fit its key.
    CellShape,
    /// Two cells, or a cell and a fence, share bytes.
    Overlap,
    /// The dead bytes of the heap are not as many as the header says.
    Garbage,
    /// Keys are not in ascending order.
    KeyOrder,
    /// A key lies outside the fences.
    KeyBounds,
    /// A hint is not the head it stands for.
    Hint,
    /// An inner page without a child, or a child number 0.
    Child,
    /// A link leads to a page that it cannot lead to.
    Link,
    /// A record does not fit its row format.
    Record,
    /// A record names a transaction above the page's highest.
    Writer,
    /// An off-page value's page is not what its reference says.
    Overflow,
    /// An extent map entry is out of range.
    ExtentMap,
}

impl CorruptionKind {
    /// In words, to follow the page's name.
    pub fn words(self) -> &'static str {
        match self {
            CorruptionKind::Checksum => "has a checksum that does not match its bytes",
            CorruptionKind::PageNo => "carries the number of another page",
            CorruptionKind::PageType => "has a type that it cannot have here",
            CorruptionKind::Header => "has a header field out of range",
            CorruptionKind::Fences => "has a fence or a prefix that cannot be",
            CorruptionKind::SlotRange => "has a slot that points outside the heap",
            CorruptionKind::CellShape => "has a cell whose length does not fit its key",
            CorruptionKind::Overlap => "has cells or fences that share bytes",
            CorruptionKind::Garbage => "has other dead bytes than its header says",
            CorruptionKind::KeyOrder => "has keys out of order",
            CorruptionKind::KeyBounds => "has a key outside its fences, or a head that is not its key's",
            CorruptionKind::Hint => "has a hint that is not the head it stands for",
            CorruptionKind::Child => "has no children, or a child that cannot be",
            CorruptionKind::Link => "is not the page that a link in its tree leads to",
            CorruptionKind::Record => "has a record that does not fit its row format",
            CorruptionKind::Writer => "has a record of a transaction that its header does not know",
            CorruptionKind::Overflow => "is not the page of the off-page value that it should be",
            CorruptionKind::ExtentMap => "has an extent entry whose state, owner and use disagree",
        }
    }
}
