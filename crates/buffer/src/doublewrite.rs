//! Doublewrite: a batch of pages is durable in a file of its own before it goes to data.pages, so that a page
//! torn by a crash has a whole copy.
//!
//! Two files are written in turn; docs/file_format.md, section 6, has their layout. The rule on which
//! everything rests: a file is overwritten only after the pages of the batch in it are synced in data.pages.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base::checksum::crc32;
use base::codec::{get_u32, get_u64, put_u32, put_u64};
use base::sync::{PlantedBug, planted};
use base::{Lsn, PageNo};
use env::{Disk, File, OpenOptions, wait_for_space_if};
use page::{FileHeader, PAGE_SIZE, PageBytes, PageRef};

use crate::error::{Error, Result};
use crate::file_offset::offset_of;

/// Most pages of a batch.
pub(crate) const BATCH_PAGES_MAX: usize = 127;

const HEADER_BYTES: usize = 4096;
const COUNT: usize = 4;
const NUMBER: usize = 8;
const IDENTITY: usize = 16;
const ENTRIES: usize = 32;
const ENTRY_BYTES: usize = 8;
const _: () = assert!(ENTRIES + BATCH_PAGES_MAX * ENTRY_BYTES <= HEADER_BYTES);

/// Length of a file: made as long as it ever gets, so that no batch changes it.
const FILE_BYTES: u64 = (HEADER_BYTES + BATCH_PAGES_MAX * PAGE_SIZE) as u64;

const FILES: [&str; 2] = ["0", "1"];

/// The page with the file's header.
const FILE_HEADER: PageNo = PageNo(0);

/// A page image that direct I/O accepts.
#[repr(C, align(4096))]
pub(crate) struct Image(pub(crate) PageBytes);

impl Image {
    pub(crate) fn zeroed() -> Box<Image> {
        Box::new(Image([0; PAGE_SIZE]))
    }
}

/// A header that direct I/O accepts.
#[repr(C, align(4096))]
struct HeaderBytes([u8; HEADER_BYTES]);

/// The header of a batch.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    number: u64,
    identity: [u8; 16],
    /// Page numbers and the checksums of the copies, in the order of the copies.
    pages: Vec<(PageNo, u32)>,
}

impl Header {
    fn encode(&self) -> Box<HeaderBytes> {
        let mut bytes = Box::new(HeaderBytes([0; HEADER_BYTES]));
        let out = &mut bytes.0;
        put_u32(out, COUNT, self.pages.len() as u32);
        put_u64(out, NUMBER, self.number);
        out[IDENTITY..ENTRIES].copy_from_slice(&self.identity);
        for (n, (page, crc)) in self.pages.iter().enumerate() {
            let at = ENTRIES + n * ENTRY_BYTES;
            put_u32(out, at, page.0);
            put_u32(out, at + 4, *crc);
        }
        let crc = crc32(&out[COUNT..]);
        put_u32(out, 0, crc);
        bytes
    }

    /// The header in `bytes`; `None` if there is none: never written, or torn.
    fn decode(bytes: &[u8; HEADER_BYTES]) -> Option<Header> {
        let count = get_u32(bytes, COUNT) as usize;
        if get_u32(bytes, 0) != crc32(&bytes[COUNT..]) || count > BATCH_PAGES_MAX {
            return None;
        }
        let entry = |n: usize| ENTRIES + n * ENTRY_BYTES;
        let page = |n| (PageNo(get_u32(bytes, entry(n))), get_u32(bytes, entry(n) + 4));
        let mut identity = [0; 16];
        identity.copy_from_slice(&bytes[IDENTITY..ENTRIES]);
        Some(Header { number: get_u64(bytes, NUMBER), identity, pages: (0..count).map(page).collect() })
    }

    fn read(file: &dyn File) -> Result<Option<Header>> {
        let mut bytes = Box::new(HeaderBytes([0; HEADER_BYTES]));
        let read = file.read_at(&mut bytes.0, 0).map_err(Error::io)?;
        Ok(if read < HEADER_BYTES { None } else { Header::decode(&bytes.0) })
    }
}

/// Where the copy number `n` of a batch lies.
fn offset_of_copy(n: usize) -> u64 {
    (HEADER_BYTES + n * PAGE_SIZE) as u64
}

/// The two files, for writing.
#[derive(Debug)]
pub struct Doublewrite {
    files: [Arc<dyn File>; 2],
    identity: [u8; 16],
    /// The next batch's number.
    next: u64,
    /// The pages of all batches below this number are synced in data.pages.
    synced_below: u64,
}

impl Doublewrite {
    /// Opens the files in the existing folder `dir`, making those that are missing. All pages in `data`,
    /// restored ones included, are made durable, so that the copies may be overwritten.
    pub fn open(
        disk: &dyn Disk,
        dir: &Path,
        options: OpenOptions,
        identity: [u8; 16],
        data: &dyn File,
    ) -> Result<Doublewrite> {
        let mut made = false;
        let mut open = |name: &str| -> env::Result<Arc<dyn File>> {
            let path = dir.join(name);
            let exists = disk.exists(&path)?;
            let file = if exists { disk.open(&path, options)? } else { disk.create(&path, options)? };
            if file.len()? < FILE_BYTES {
                file.allocate(0, FILE_BYTES)?;
                file.sync_data()?;
            }
            made |= !exists;
            Ok(file)
        };
        let files = [open(FILES[0]).map_err(Error::io)?, open(FILES[1]).map_err(Error::io)?];
        if made {
            disk.sync_dir(dir).map_err(Error::io)?;
        }
        data.sync_data().map_err(Error::io)?;
        let mut next = 1;
        for file in &files {
            next = Header::read(&**file)?.map_or(next, |header| next.max(header.number + 1));
        }
        Ok(Doublewrite { files, identity, next, synced_below: next })
    }

    /// Makes copies of `pages`, whose checksums are stamped, durable. The caller writes them to `data` next.
    /// `waits`: for space on a full disk.
    pub(crate) fn write(
        &mut self,
        pages: &[(PageNo, &PageBytes)],
        data: &dyn File,
        waits: bool,
    ) -> env::Result<()> {
        // Batch n goes where batch n - 2 is.
        if self.synced_below + 1 < self.next {
            data.sync_data()?;
            self.synced_below = self.next;
        }
        let entries = pages.iter().map(|(page, bytes)| (*page, get_u32(*bytes, 0))).collect();
        let header = Header { number: self.next, identity: self.identity, pages: entries }.encode();
        let copies = pages.iter().map(|(_, bytes)| &bytes[..]);
        let parts: Vec<&[u8]> = std::iter::once(&header.0[..]).chain(copies).collect();
        let file = &self.files[(self.next % 2) as usize];
        wait_for_space_if(waits, || file.write_vectored_at(&parts, 0))?;
        file.sync_data()?;
        self.next += 1;
        Ok(())
    }

    /// The number below which all batches were written, to hand to [`Doublewrite::note_synced`] after a sync
    /// of data.pages.
    pub(crate) fn written_below(&self) -> u64 {
        self.next
    }

    /// Notes that data.pages was synced after all batches below `number` were written to it.
    pub(crate) fn note_synced(&mut self, number: u64) {
        self.synced_below = self.synced_below.max(number);
    }
}

/// Makes the copies in `dir` count for nothing, because pages of `data` are about to be written without new
/// ones: a copy that is older than its page would undo changes that the log no longer has.
///
/// # Errors
/// [`Error::Io`]; some of the copies may count still, and no page must be written.
pub fn forget_copies(disk: &dyn Disk, dir: &Path, options: OpenOptions, data: &dyn File) -> Result<()> {
    for name in FILES {
        let path = dir.join(name);
        if !disk.exists(&path).map_err(Error::io)? {
            continue;
        }
        let file = disk.open(&path, options).map_err(Error::io)?;
        if Header::read(&*file)?.is_some() {
            // What these copies are of may not be durable yet.
            data.sync_data().map_err(Error::io)?;
            file.write_at(&HeaderBytes([0; HEADER_BYTES]).0, 0).map_err(Error::io)?;
            file.sync_data().map_err(Error::io)?;
        }
    }
    Ok(())
}

/// The log that there is for copies of pages.
#[derive(Clone, Copy, Debug)]
pub struct LogBounds {
    /// Where redo begins.
    pub redo_lsn: Lsn,
    /// Where the log ends.
    pub end: Lsn,
}

/// What [`restore_torn_pages`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Pages that had a copy and were checked.
    pub examined: usize,
    /// Pages that were torn and are whole again.
    pub restored: Vec<PageNo>,
    /// Pages that are damaged and have no copy that may take their place: corruption.
    pub lost: Vec<PageNo>,
}

/// Finds the pages of `data` that a crash has torn, writes their copies from the doublewrite files in `dir`
/// over them and makes them durable. The first step of recovery: nothing is written to the doublewrite files.
/// Can be repeated, also after a crash in the middle of it.
///
/// Pages beyond the end of `data` were never durable there and are left to redo. Batches of another
/// `identity` do not count. Of a page the newest whole copy counts: the last batch may be one that never
/// became durable, so that none of its pages was written in place. A copy whose changes all lie before the
/// position where redo begins would lack changes that the log may no longer have, and does not count: a page
/// that was being written holds that position back.
///
/// The file header is changed without the log, too, so that its LSN says little. Each checkpoint is noted in
/// it before the log has it: a copy that notes none before the log's was written after all changes of the
/// header that redo does not repeat. Any other is of another moment than the log, and does not count.
///
/// # Errors
/// [`Error::Io`]; the directory is as restorable as before.
pub fn restore_torn_pages(
    disk: &dyn Disk,
    dir: &Path,
    options: OpenOptions,
    identity: [u8; 16],
    log: LogBounds,
    data: &dyn File,
) -> Result<RestoreReport> {
    let mut batches: Vec<(Header, Arc<dyn File>)> = Vec::new();
    for name in FILES {
        let path = dir.join(name);
        if disk.exists(&path).map_err(Error::io)? {
            let file = disk.open(&path, options).map_err(Error::io)?;
            let header = Header::read(&*file)?.filter(|header| header.identity == identity);
            batches.extend(header.map(|header| (header, file)));
        }
    }
    batches.sort_by_key(|(header, _)| header.number);
    let counts_old = planted(PlantedBug::StaleCopy);
    if !counts_old {
        batches.reverse();
    }
    let mut copies: BTreeMap<PageNo, Vec<Copy<'_>>> = BTreeMap::new();
    for (header, file) in &batches {
        for (n, &(page, crc)) in header.pages.iter().enumerate() {
            copies.entry(page).or_default().push(Copy { file: &**file, n, page, crc });
        }
    }
    let mut report = RestoreReport { examined: copies.len(), ..RestoreReport::default() };
    let (mut image, mut copied) = (Image::zeroed(), Image::zeroed());
    let lsn = |image: &Image| PageRef::new(&image.0).lsn();
    for (page, newest_first) in copies {
        let Some(is_sound) = read_page(data, page, &mut image)? else { continue };
        let needed = LogBounds { redo_lsn: if counts_old { Lsn(0) } else { log.redo_lsn }, ..log };
        let found = find_copy(&newest_first, needed, &mut copied)?;
        let is_older = counts_old && found && lsn(&copied) < lsn(&image);
        if found && (!is_sound || is_older || is_mixed(&image, &copied)) {
            data.write_at(&copied.0, offset_of(page)).map_err(Error::io)?;
            report.restored.push(page);
        } else if !is_sound {
            report.lost.push(page);
        }
    }
    if !report.restored.is_empty() {
        data.sync_data().map_err(Error::io)?;
    }
    Ok(report)
}

/// Reads the newest whole copy of a page that may take its place beside `log`. False: there is none.
fn find_copy(newest_first: &[Copy<'_>], log: LogBounds, copied: &mut Image) -> Result<bool> {
    for copy in newest_first {
        if !copy.read(copied)? {
            continue;
        }
        let page = PageRef::new(&copied.0);
        let Some(header) = header_of(copy.page, page) else {
            if page.lsn() >= log.redo_lsn {
                return Ok(true);
            }
            continue;
        };
        if header.clean > log.end || page.lsn() > log.end {
            // The log is older than the file, which copies from before that do not show.
            return Ok(false);
        }
        if header.checkpoint >= log.redo_lsn {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The header of the copy of the file header.
fn header_of(page_no: PageNo, copied: PageRef<'_>) -> Option<FileHeader> {
    if page_no == FILE_HEADER { FileHeader::decode(copied).ok() } else { None }
}

/// Reads a page of the file; whether it passes its check. `None`: it is beyond the file's end.
fn read_page(data: &dyn File, page: PageNo, image: &mut Image) -> Result<Option<bool>> {
    let read = data.read_at(&mut image.0, offset_of(page)).map_err(Error::io)?;
    let is_sound = read == PAGE_SIZE && page::verify_on_read(&image.0, page).is_ok();
    Ok((read > 0).then_some(is_sound))
}

/// Whether a page that passes its check has only a part of the version that was copied. No checksum finds all
/// mixtures: one that is stored after the bytes it is of hides them from a checksum of the same kind around
/// it. A page that has the copy's LSN was being written, so that the copy is durable.
fn is_mixed(image: &Image, copied: &Image) -> bool {
    let lsn = |image: &Image| PageRef::new(&image.0).lsn();
    lsn(image) == lsn(copied) && image.0 != copied.0
}

/// A page's copy in a batch.
struct Copy<'f> {
    file: &'f dyn File,
    /// Its place in the batch.
    n: usize,
    page: PageNo,
    crc: u32,
}

impl Copy<'_> {
    /// Reads the copy; whether it is the whole page that the header promises.
    fn read(&self, image: &mut Image) -> Result<bool> {
        let read = self.file.read_at(&mut image.0, offset_of_copy(self.n)).map_err(Error::io)?;
        let whole = read == PAGE_SIZE && get_u32(&image.0, 0) == self.crc;
        Ok(whole && page::verify_on_read(&image.0, self.page).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(pages: usize) -> Header {
        let pages = (0..pages as u32).map(|n| (PageNo(n * 3), n ^ 0xdead)).collect();
        Header { number: 77, identity: [9; 16], pages }
    }

    #[test]
    fn a_header_reads_back_as_written() {
        for pages in [0, 1, 2, BATCH_PAGES_MAX] {
            assert_eq!(Header::decode(&header(pages).encode().0), Some(header(pages)));
        }
    }

    #[test]
    fn a_damaged_header_is_no_header() {
        let good = header(5).encode();
        for at in (0..HEADER_BYTES).step_by(7) {
            let mut bytes = Box::new(good.0);
            bytes[at] ^= 1;
            assert_eq!(Header::decode(&bytes), None, "byte {at}");
        }
        assert_eq!(Header::decode(&[0; HEADER_BYTES]), None);
    }
}
