//! One undo record: what it says and how it lies in words.
//!
//! | WORD | FIELD |
//! |---|---|
//! | 0 | bits 0..8 kind, 8..64 pointer to the transaction's previous record |
//! | 1 | bits 0..32 index id, 32..48 key bytes, 48..56 record flags before, 56..57 whether a row header follows |
//! | 2 | bits 0..32 image bytes, 32..48 patch offset |
//! | 3.. | row header (2 words, 13 bytes used), key, image; each padded to a word |

use std::sync::atomic::{AtomicU64, Ordering};

use base::{IndexId, ROW_HEADER_BYTES, UndoPtr};

/// Bytes of a reference to an off-page value.
const VALUE_REFERENCE_BYTES: usize = 24;
const HEADER_WORDS: usize = 3;
const ROW_HEADER_WORDS: usize = 2;
/// Most bytes of key and of image of a short record, which is written in one pass.
pub(super) const SHORT_BYTES_MAX: usize = 16;
/// Most words of a short record.
pub(super) const SHORT_WORDS_MAX: usize = HEADER_WORDS + ROW_HEADER_WORDS + 2 * SHORT_BYTES_MAX / 8;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum UndoKind {
    /// A clustered record was inserted where none was. Undone by removing it.
    RowInsert = 1,
    /// A clustered record was replaced: flags and whole payload before. Undone by putting both back.
    RowImage = 2,
    /// Bytes of equal length were patched: flags, row header and the old bytes at an offset.
    RowPatch = 3,
    /// A clustered record was delete-marked: flags and row header before; the rest of the payload did not
    /// change.
    RowDelete = 4,
    /// A secondary entry was inserted. Undone by removing it.
    EntryInsert = 5,
    /// A secondary entry was closed. Undone by opening it.
    EntryClose = 6,
    /// A secondary entry this transaction had closed was opened again. Undone by closing it.
    EntryReopen = 7,
    /// An off-page value was written (image: its reference). Undone by freeing it.
    ValueWritten = 8,
    /// An off-page value lost its last row (image: its reference). Freed by purge.
    ValueDead = 9,
}

impl UndoKind {
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => UndoKind::RowInsert,
            2 => UndoKind::RowImage,
            3 => UndoKind::RowPatch,
            4 => UndoKind::RowDelete,
            5 => UndoKind::EntryInsert,
            6 => UndoKind::EntryClose,
            7 => UndoKind::EntryReopen,
            8 => UndoKind::ValueWritten,
            9 => UndoKind::ValueDead,
            _ => return None,
        })
    }

    /// Whether purge has something to do for the record after commit.
    pub fn needs_purge(self) -> bool {
        matches!(self, UndoKind::RowDelete | UndoKind::EntryClose | UndoKind::ValueDead)
    }
}

/// A record to be written; borrowed parts.
#[derive(Clone, Copy, Debug)]
pub struct NewUndo<'a> {
    /// What was done.
    pub kind: UndoKind,
    /// The tree.
    pub index: IndexId,
    /// Record flags before.
    pub flags: u8,
    /// Where the old bytes of a `RowPatch` begin in the payload.
    pub patch_offset: u16,
    /// Whole key of the record, begin id included.
    pub key: &'a [u8],
    /// Row header before: `RowPatch` and `RowDelete`.
    pub row_header: Option<&'a [u8; ROW_HEADER_BYTES]>,
    /// Payload before, old bytes, or a value reference.
    pub image: &'a [u8],
}

impl NewUndo<'_> {
    #[inline(always)]
    pub(super) fn words(&self) -> usize {
        let header = if self.row_header.is_some() { ROW_HEADER_WORDS } else { 0 };
        HEADER_WORDS + header + self.key.len().div_ceil(8) + self.image.len().div_ceil(8)
    }

    /// Key and image as words, zero padded, if both are short.
    #[inline(always)]
    pub(super) fn short_words(&self) -> Option<[[u64; 2]; 2]> {
        Some([two_words(self.key)?, two_words(self.image)?])
    }

    /// [`NewUndo::write`] of a short record. Its last words are padded with others, which are not in use yet.
    #[inline(always)]
    pub(super) fn write_short(
        &self,
        [key, image]: [[u64; 2]; 2],
        prev: UndoPtr,
        words: &[AtomicU64; SHORT_WORDS_MAX],
    ) {
        self.write_head(prev, words);
        let mut at = HEADER_WORDS;
        if let Some(header) = self.row_header {
            at += store(&words[at..], header);
        }
        words[at].store(key[0], Ordering::Relaxed);
        words[at + 1].store(key[1], Ordering::Relaxed);
        at += self.key.len().div_ceil(8);
        if !self.image.is_empty() {
            words[at].store(image[0], Ordering::Relaxed);
            words[at + 1].store(image[1], Ordering::Relaxed);
        }
    }

    /// Writes the record to the front of `words`.
    #[inline(always)]
    pub(super) fn write(&self, prev: UndoPtr, words: &[AtomicU64]) {
        self.write_head(prev, words);
        let mut at = HEADER_WORDS;
        if let Some(header) = self.row_header {
            at += store(&words[at..], header);
        }
        at += store(&words[at..], self.key);
        store(&words[at..], self.image);
    }

    #[inline(always)]
    fn write_head(&self, prev: UndoPtr, words: &[AtomicU64]) {
        let has_header = u64::from(self.row_header.is_some());
        words[0].store(prev.0 << 8 | self.kind as u64, Ordering::Relaxed);
        let key_len = self.key.len() as u64;
        let word1 = u64::from(self.index.0) | key_len << 32 | u64::from(self.flags) << 48 | has_header << 56;
        words[1].store(word1, Ordering::Relaxed);
        words[2].store(self.image.len() as u64 | u64::from(self.patch_offset) << 32, Ordering::Relaxed);
    }
}

/// A record read back; its buffers are used again by the next read.
#[derive(Clone, Debug)]
pub struct UndoRecord {
    /// What was done.
    pub kind: UndoKind,
    /// The transaction's previous record.
    pub prev: UndoPtr,
    /// The tree.
    pub index: IndexId,
    /// Record flags before.
    pub flags: u8,
    /// Where the old bytes of a `RowPatch` begin in the payload.
    pub patch_offset: u16,
    /// Row header before, if the kind has one.
    pub row_header: Option<[u8; ROW_HEADER_BYTES]>,
    /// Whole key of the record.
    pub key: Vec<u8>,
    /// Payload before, old bytes, or a value reference.
    pub image: Vec<u8>,
}

impl Default for UndoRecord {
    fn default() -> Self {
        UndoRecord {
            kind: UndoKind::RowInsert,
            prev: UndoPtr::NONE,
            index: IndexId(0),
            flags: 0,
            patch_offset: 0,
            row_header: None,
            key: Vec::new(),
            image: Vec::new(),
        }
    }
}

impl UndoRecord {
    /// Whether the record has what its kind needs. Records that the server wrote have; the bytes of a log may
    /// be anything.
    pub fn is_complete(&self) -> bool {
        match self.kind {
            UndoKind::RowImage => self.image.len() >= ROW_HEADER_BYTES,
            UndoKind::RowPatch | UndoKind::RowDelete => self.row_header.is_some(),
            UndoKind::ValueWritten | UndoKind::ValueDead => self.image.len() == VALUE_REFERENCE_BYTES,
            UndoKind::RowInsert | UndoKind::EntryInsert | UndoKind::EntryClose | UndoKind::EntryReopen => {
                true
            }
        }
    }

    /// Reads the record at the front of `words`; the key only if it is wanted.
    pub(super) fn read(&mut self, words: &[AtomicU64], with_key: bool) {
        let word0 = words[0].load(Ordering::Relaxed);
        let word1 = words[1].load(Ordering::Relaxed);
        let word2 = words[2].load(Ordering::Relaxed);
        self.kind = UndoKind::from_byte(word0 as u8).expect("a record's first byte is its kind");
        self.prev = UndoPtr(word0 >> 8);
        self.index = IndexId(word1 as u32);
        self.flags = (word1 >> 48) as u8;
        self.patch_offset = (word2 >> 32) as u16;
        let mut at = HEADER_WORDS;
        self.row_header = None;
        if word1 >> 56 & 1 == 1 {
            self.row_header = Some(load_row_header(&words[at..]));
            at += ROW_HEADER_WORDS;
        }
        let key_len = usize::from((word1 >> 32) as u16);
        self.key.clear();
        if with_key {
            load(&words[at..], key_len, &mut self.key);
        }
        self.image.clear();
        load(&words[at + key_len.div_ceil(8)..], word2 as u32 as usize, &mut self.image);
    }
}

fn load_row_header(words: &[AtomicU64]) -> [u8; ROW_HEADER_BYTES] {
    let mut header = [0u8; ROW_HEADER_BYTES];
    header[..8].copy_from_slice(&words[0].load(Ordering::Relaxed).to_le_bytes());
    header[8..].copy_from_slice(&words[1].load(Ordering::Relaxed).to_le_bytes()[..5]);
    header
}

/// Stores `bytes` into whole words, zero padded; returns how many.
#[inline]
fn store(words: &[AtomicU64], bytes: &[u8]) -> usize {
    let (whole, rest) = bytes.as_chunks::<8>();
    for (word, chunk) in words.iter().zip(whole) {
        word.store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
    }
    if rest.is_empty() {
        return whole.len();
    }
    words[whole.len()].store(short_word(rest), Ordering::Relaxed);
    whole.len() + 1
}

/// Up to [`SHORT_BYTES_MAX`] bytes as two words, zero padded.
#[inline(always)]
fn two_words(bytes: &[u8]) -> Option<[u64; 2]> {
    let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) else {
        return Some([short_word(bytes), 0]);
    };
    let [first, last] = [first, last].map(|eight| u64::from_le_bytes(*eight));
    match bytes.len() {
        8 => Some([first, 0]),
        len @ 9..=SHORT_BYTES_MAX => Some([first, last >> (8 * (SHORT_BYTES_MAX - len))]),
        _ => None,
    }
}

/// A word of less than 8 bytes, zero padded: of loads that overlap, so that no loop and no call is needed.
#[inline]
fn short_word(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    debug_assert!(len < 8, "{len} bytes are no short word");
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(*four)));
        return first | last << (8 * (len - 4));
    }
    let at = |i: usize| u64::from(bytes[i]) << (8 * i);
    if bytes.is_empty() { 0 } else { at(0) | at(len / 2) | at(len - 1) }
}

/// Appends `len` bytes from the front of `words` to `out`.
#[inline]
fn load(words: &[AtomicU64], len: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let padded = len.next_multiple_of(8);
    out.resize(start + padded, 0);
    for (chunk, word) in out[start..].as_chunks_mut::<8>().0.iter_mut().zip(&words[..padded / 8]) {
        *chunk = word.load(Ordering::Relaxed).to_le_bytes();
    }
    out.truncate(start + len);
}
