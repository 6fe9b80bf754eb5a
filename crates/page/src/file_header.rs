//! Page 0 of data.pages: what the file is, and the numbers from which everything else is found.
//!
//! | OFFSET | SIZE | FIELD |
//! |---|---|---|
//! | 28 | 4 | reserved, 0 |
//! | 32 | 16 | magic `ratchet data.rdb` |
//! | 48 | 4 | format version, 1 |
//! | 52 | 4 | page size, 16384 |
//! | 56 | 16 | identity of the data directory, random; redo files carry it too |
//! | 72 | 8 | transaction id limit: no id at or above it was ever given out |
//! | 80 | 8 | row id limit: as above, for invisible row ids |
//! | 88 | 4 | next index id |
//! | 92 | 4 | next table id |
//! | 96 | 4 | next schema id |
//! | 100 | 4 | page high-water: the file has this many pages |
//! | 104 | 8 | checkpoint LSN: recovery starts reading here |
//! | 112 | 8 | clean shutdown: end LSN of the log, 0 while running |
//! | 120 | 8 | catalog version, raised by every DDL statement |
//! | 128 | 64 | roots of the dictionary's trees: 16 x u32, entry i for index id i + 1 |
//! | 192 | | reserved, 0 |

use base::codec::{get_u32, get_u64, put_u32, put_u64};
use base::{IndexId, Lsn, PageNo, SchemaId, TableId, TrxId};

use crate::layout::{COMMON_HEADER_BYTES, PAGE_SIZE, PageType};
use crate::op::PageOp;
use crate::page_mut::PageMut;
use crate::page_ref::PageRef;

/// What data.pages starts with after the common header: the name that the file had when the format was made.
pub(crate) const FILE_MAGIC: [u8; 16] = *b"ratchet data.rdb";
/// Version of everything in the data directory.
pub(crate) const FILE_FORMAT_VERSION: u32 = 1;
/// Roots kept for the dictionary.
pub const DICTIONARY_ROOTS: usize = 16;

const MAGIC: usize = 32;
const FORMAT: usize = 48;
const SIZE_OF_PAGE: usize = 52;
const IDENTITY: usize = 56;
const TRX_LIMIT: usize = 72;
const ROW_ID_LIMIT: usize = 80;
const NEXT_INDEX: usize = 88;
const NEXT_TABLE: usize = 92;
const NEXT_SCHEMA: usize = 96;
const HIGH_WATER: usize = 100;
const CHECKPOINT: usize = 104;
const CLEAN: usize = 112;
const CATALOG_VERSION: usize = 120;
const ROOTS: usize = 128;
const END: usize = 192;
const _: () = assert!(MAGIC == COMMON_HEADER_BYTES + 4 && FORMAT == MAGIC + 16 && SIZE_OF_PAGE == FORMAT + 4);
const _: () = assert!(IDENTITY == SIZE_OF_PAGE + 4 && TRX_LIMIT == IDENTITY + 16);
const _: () = assert!(ROW_ID_LIMIT == TRX_LIMIT + 8 && NEXT_INDEX == ROW_ID_LIMIT + 8);
const _: () = assert!(NEXT_TABLE == NEXT_INDEX + 4 && NEXT_SCHEMA == NEXT_TABLE + 4);
const _: () =
    assert!(HIGH_WATER == NEXT_SCHEMA + 4 && CHECKPOINT == HIGH_WATER + 4 && CLEAN == CHECKPOINT + 8);
const _: () = assert!(CATALOG_VERSION == CLEAN + 8 && ROOTS == CATALOG_VERSION + 8);
const _: () = assert!(END == ROOTS + 4 * DICTIONARY_ROOTS);

/// The contents of page 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// Identity of the data directory.
    pub identity: [u8; 16],
    /// No transaction id at or above it was ever given out.
    pub trx_limit: TrxId,
    /// No row id at or above it was ever given out.
    pub row_id_limit: u64,
    /// Next index id.
    pub next_index: IndexId,
    /// Next table id.
    pub next_table: TableId,
    /// Next schema id.
    pub next_schema: SchemaId,
    /// Pages in the file.
    pub high_water: PageNo,
    /// Where recovery starts.
    pub checkpoint: Lsn,
    /// End of the log at a clean shutdown; `Lsn(0)` while running.
    pub clean: Lsn,
    /// Raised by every DDL statement.
    pub catalog_version: u64,
    /// Roots of the dictionary's trees, by index id - 1.
    pub roots: [PageNo; DICTIONARY_ROOTS],
}

/// Why a file is not opened; it is never touched then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileHeaderError {
    /// Not a data file.
    Magic,
    /// Written in another format version.
    FormatVersion(u32),
    /// Written with another page size.
    PageSize(u32),
}

/// Bytes of an encoded [`FileHeader`].
pub const FILE_HEADER_BYTES: usize = END - COMMON_HEADER_BYTES;

impl FileHeader {
    /// Reads page 0, whose checksum was verified.
    pub fn decode(page: PageRef<'_>) -> Result<FileHeader, FileHeaderError> {
        let bytes = page.bytes();
        if page.page_type() != PageType::FileHeader || bytes[MAGIC..FORMAT] != FILE_MAGIC {
            return Err(FileHeaderError::Magic);
        }
        match (get_u32(bytes, FORMAT), get_u32(bytes, SIZE_OF_PAGE)) {
            (FILE_FORMAT_VERSION, size) if size as usize == PAGE_SIZE => {}
            (FILE_FORMAT_VERSION, size) => return Err(FileHeaderError::PageSize(size)),
            (version, _) => return Err(FileHeaderError::FormatVersion(version)),
        }
        let mut identity = [0; 16];
        identity.copy_from_slice(&bytes[IDENTITY..TRX_LIMIT]);
        Ok(FileHeader {
            identity,
            trx_limit: TrxId(get_u64(bytes, TRX_LIMIT)),
            row_id_limit: get_u64(bytes, ROW_ID_LIMIT),
            next_index: IndexId(get_u32(bytes, NEXT_INDEX)),
            next_table: TableId(get_u32(bytes, NEXT_TABLE)),
            next_schema: SchemaId(get_u32(bytes, NEXT_SCHEMA)),
            high_water: PageNo(get_u32(bytes, HIGH_WATER)),
            checkpoint: Lsn(get_u64(bytes, CHECKPOINT)),
            clean: Lsn(get_u64(bytes, CLEAN)),
            catalog_version: get_u64(bytes, CATALOG_VERSION),
            roots: std::array::from_fn(|i| PageNo(get_u32(bytes, ROOTS + 4 * i))),
        })
    }

    /// The header's bytes, from the end of the common header on.
    pub fn encode(&self) -> [u8; FILE_HEADER_BYTES] {
        let mut page = [0; END];
        page[MAGIC..FORMAT].copy_from_slice(&FILE_MAGIC);
        put_u32(&mut page, FORMAT, FILE_FORMAT_VERSION);
        put_u32(&mut page, SIZE_OF_PAGE, PAGE_SIZE as u32);
        page[IDENTITY..TRX_LIMIT].copy_from_slice(&self.identity);
        put_u64(&mut page, TRX_LIMIT, self.trx_limit.0);
        put_u64(&mut page, ROW_ID_LIMIT, self.row_id_limit);
        put_u32(&mut page, NEXT_INDEX, self.next_index.0);
        put_u32(&mut page, NEXT_TABLE, self.next_table.0);
        put_u32(&mut page, NEXT_SCHEMA, self.next_schema.0);
        put_u32(&mut page, HIGH_WATER, self.high_water.0);
        put_u64(&mut page, CHECKPOINT, self.checkpoint.0);
        put_u64(&mut page, CLEAN, self.clean.0);
        put_u64(&mut page, CATALOG_VERSION, self.catalog_version);
        for (i, root) in self.roots.iter().enumerate() {
            put_u32(&mut page, ROOTS + 4 * i, root.0);
        }
        let mut out = [0; FILE_HEADER_BYTES];
        out.copy_from_slice(&page[COMMON_HEADER_BYTES..]);
        out
    }

    /// The logged operations that bring page 0 from anything to this encoded header, except for the
    /// checkpoint and clean-shutdown fields: those describe the log, so the checkpoint sets them without
    /// logging.
    pub fn store_ops(encoded: &[u8; FILE_HEADER_BYTES]) -> [PageOp<'_>; 2] {
        [(TRX_LIMIT, CHECKPOINT), (CATALOG_VERSION, END)].map(|(from, to)| PageOp::WriteBytes {
            offset: from as u16,
            bytes: &encoded[from - COMMON_HEADER_BYTES..to - COMMON_HEADER_BYTES],
        })
    }
}

impl PageMut<'_> {
    /// Makes page 0.
    pub fn format_file_header(&mut self, header: &FileHeader) {
        self.format_common(PageNo(0), PageType::FileHeader, IndexId(0), 1);
        self.write_bytes(COMMON_HEADER_BYTES, &header.encode());
    }

    /// Sets where recovery starts, and the end of the log if this is a clean shutdown (`Lsn(0)` if not).
    pub fn set_checkpoint(&mut self, checkpoint: Lsn, clean: Lsn) {
        debug_assert!(self.as_ref().page_type() == PageType::FileHeader, "not page 0");
        put_u64(self.0, CHECKPOINT, checkpoint.0);
        put_u64(self.0, CLEAN, clean.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> FileHeader {
        FileHeader {
            identity: *b"0123456789abcdef",
            trx_limit: TrxId(65_536),
            row_id_limit: 4096,
            next_index: IndexId(64),
            next_table: TableId(17),
            next_schema: SchemaId(3),
            high_water: PageNo(128),
            checkpoint: Lsn(1 << 33),
            clean: Lsn(0),
            catalog_version: 12,
            roots: std::array::from_fn(|i| PageNo(2 + i as u32)),
        }
    }

    #[test]
    fn a_header_reads_back_as_written() {
        let mut bytes = [0; PAGE_SIZE];
        PageMut::new(&mut bytes).format_file_header(&header());
        assert_eq!(FileHeader::decode(PageRef::new(&bytes)), Ok(header()));
        let mut page = PageMut::new(&mut bytes);
        page.set_checkpoint(Lsn(5), Lsn(99));
        let changed = FileHeader { next_table: TableId(18), catalog_version: 13, ..header() };
        for op in FileHeader::store_ops(&changed.encode()) {
            op.apply(&mut page).unwrap();
        }
        let want = FileHeader { checkpoint: Lsn(5), clean: Lsn(99), ..changed };
        assert_eq!(FileHeader::decode(PageRef::new(&bytes)), Ok(want));
    }

    #[test]
    fn a_file_of_another_kind_or_version_is_refused() {
        let mut bytes = [0; PAGE_SIZE];
        PageMut::new(&mut bytes).format_file_header(&header());
        let mut other = bytes;
        other[MAGIC] = b'R';
        assert_eq!(FileHeader::decode(PageRef::new(&other)), Err(FileHeaderError::Magic));
        let mut newer = bytes;
        newer[FORMAT] = 2;
        assert_eq!(FileHeader::decode(PageRef::new(&newer)), Err(FileHeaderError::FormatVersion(2)));
        bytes[SIZE_OF_PAGE + 1] = 0x20;
        assert_eq!(FileHeader::decode(PageRef::new(&bytes)), Err(FileHeaderError::PageSize(8192)));
    }
}
