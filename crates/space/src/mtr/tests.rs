//! Golden scripts of mini-transactions (`tests/mtrs`): what one latches, changes and logs, and what recovery
//! does with its frame.
//!
//! LSNs are shown as distances from the end of the log when the script begins. A script ends with checks: the
//! extent map has the pages that were allocated and no others, and each page is sound.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use base::{IndexId, Lsn};
use buffer::PoolConfig;
use env::{Disk, OpenOptions, SimDisk};
use goldenscript::{Context, Runner};
use log::{Frame, LogConfig, LogReader, Part};
use page::{FormatPage, PAGE_SIZE, PageBytes, SlotFlags};

use super::*;
use crate::check::PageSet;
use crate::{Locality, StoreConfig, recover};

mod words;

const DATA: &str = "data.pages";
const IDENTITY: [u8; 16] = [7; 16];

#[derive(goldenscript::Command)]
enum Command {
    /// Latches pages; the first command of a mini-transaction begins it.
    Latch(Vec<u32>),
    /// Takes pages for a tree and latches them. `own`: from an extent of the tree's own.
    Allocate {
        index: u32,
        count: u32,
        #[arg(key, optional)]
        own: bool,
    },
    /// Takes consecutive pages for a tree, which are not latched.
    AllocateRun {
        index: u32,
        count: u32,
        #[arg(key, optional)]
        own: bool,
    },
    /// Gets ready to free latched pages.
    PrepareFree(Vec<u32>),
    /// Frees a page.
    Free { page: u32 },
    /// Makes an empty B-tree page.
    Format {
        page: u32,
        index: u32,
        #[arg(key, optional)]
        level: u8,
        #[arg(key, optional)]
        lower: String,
        #[arg(key)]
        upper: Option<String>,
    },
    /// Makes `page` an image of the slots `first..end` of `from`.
    Image {
        page: u32,
        from: u32,
        first: usize,
        end: usize,
        #[arg(key, optional)]
        lower: String,
        #[arg(key)]
        upper: Option<String>,
    },
    /// Inserts records: `insert 2 a=1 b=2`.
    Insert(u32, Vec<(String, String)>),
    /// Inserts a record with a payload of `bytes`.
    InsertLong { page: u32, key: String, bytes: usize },
    /// Inserts a separator.
    Child { page: u32, key: String, child: u32 },
    /// Removes a record or separator.
    Remove { page: u32, key: String },
    /// Marks a record as deleted, and its extent as one with garbage.
    Mark { page: u32, key: String },
    /// Removes all slots from `from` on.
    Truncate { page: u32, from: u16 },
    /// Gives a page new fences.
    Fences { page: u32, lower: String, upper: Option<String> },
    /// Sets a right sibling.
    Right { page: u32, right: u32 },
    /// Shows what the open mini-transaction holds, and the redo it has made.
    Held,
    /// Commits, and shows the frame as it is in the log.
    Commit,
    /// Drops the mini-transaction without a commit.
    Drop,
    /// Shows pages as they are in the pool.
    Pages(Vec<u32>),
    /// Shows the extents that are in use.
    Extents,
    /// Writes all changed pages to the file.
    Flush,
    /// Records that recovery begins here.
    Checkpoint,
    /// Ends the process: what is in memory is gone. Then opens the file again.
    Crash,
}

type Answer<T = String> = std::result::Result<T, Box<dyn Error>>;

/// A store at work. It is leaked, so that a mini-transaction may be kept from one command to the next.
struct Mtrs {
    disk: SimDisk,
    store: &'static Store,
    mtr: Option<Mtr<'static>>,
    /// Where the log ended when the script began.
    origin: Lsn,
    /// Pages given out.
    taken: BTreeSet<PageNo>,
    /// Pages that the open mini-transaction takes, and those that it frees.
    changes: (Vec<PageNo>, Vec<PageNo>),
}

fn config() -> StoreConfig {
    StoreConfig {
        pool: PoolConfig { bytes: 64 * PAGE_SIZE, background: false },
        log: LogConfig { buffer_bytes: 1 << 20, ..LogConfig::default() },
        direct: false,
        doublewrite: false,
        identity: IDENTITY,
        forced: false,
    }
}

fn shared(disk: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

fn locality(own: bool) -> Locality {
    if own { Locality::Own } else { Locality::Shared }
}

/// What each page in memory or in the file holds.
type Images = BTreeMap<PageNo, Box<PageBytes>>;

impl Mtrs {
    fn new() -> Self {
        let disk = SimDisk::new();
        let store = Box::leak(Box::new(Store::create(&shared(&disk), Path::new(DATA), config()).unwrap()));
        let origin = store.log.current();
        Mtrs { disk, store, mtr: None, origin, taken: BTreeSet::new(), changes: Default::default() }
    }

    fn mtr(&mut self) -> &mut Mtr<'static> {
        let store = self.store;
        self.mtr.get_or_insert_with(|| Mtr::new(store))
    }

    fn latched(&mut self, page: u32) -> Answer<Latched> {
        Ok(self.mtr().find(PageNo(page)).ok_or_else(|| format!("page {page} is not latched"))?)
    }

    fn apply(&mut self, page: u32, op: &PageOp<'_>) -> Answer {
        let at = self.latched(page)?;
        let redo_bytes = self.mtr().redo.len();
        let applied = self.mtr().try_apply(at, op);
        applied.map_err(|error| {
            let grown = self.mtr().redo.len() - redo_bytes.max(PART_HEADER_BYTES);
            format!("{error:?}, {grown} bytes of redo")
        })?;
        Ok(String::new())
    }

    fn slot(&mut self, page: u32, key: &str) -> Answer<u16> {
        let at = self.latched(page)?;
        Ok(self.mtr().page(at).search(key.as_bytes()).slot as u16)
    }

    fn insert(&mut self, page: u32, key: &str, payload: &[u8]) -> Answer {
        let slot = self.slot(page, key)?;
        let op = PageOp::Insert { slot, flags: SlotFlags::NONE, key: key.as_bytes(), payload };
        self.apply(page, &op)
    }

    fn lsn(&self, lsn: Lsn) -> String {
        if lsn == Lsn(0) { "0".to_owned() } else { format!("{:+}", lsn.0 as i64 - self.origin.0 as i64) }
    }

    /// The commands that take and give back pages.
    fn allocate(&mut self, command: &Command) -> Answer {
        match *command {
            Command::Latch(ref pages) => {
                for &page in pages {
                    self.mtr().latch(PageNo(page))?;
                }
                Ok(String::new())
            }
            Command::Allocate { index, count, own } => {
                let (mtr, index, locality) = (self.mtr(), IndexId(index), locality(own));
                let new = match count {
                    1 => mtr.allocate::<1>(index, locality)?.to_vec(),
                    2 => mtr.allocate::<2>(index, locality)?.to_vec(),
                    3 => mtr.allocate::<3>(index, locality)?.to_vec(),
                    _ => return Err("a mini-transaction takes one to three pages".into()),
                };
                self.changes.0.extend(new.iter().map(|new| new.page_no));
                let lines = new.iter().map(|new| format!("{}, version {}", new.page_no, new.version));
                Ok(lines.collect::<Vec<_>>().join("\n"))
            }
            Command::AllocateRun { index, count, own } => {
                let run = self.mtr().allocate_run(IndexId(index), count, locality(own))?;
                let pages = run.first.0..run.first.0 + count;
                self.changes.0.extend(pages.map(PageNo));
                Ok(format!("{} and {} behind it, version {}", run.first, count - 1, run.version))
            }
            Command::PrepareFree(ref pages) => {
                for &page in pages {
                    let at = self.latched(page)?;
                    self.mtr().prepare_free(at)?;
                }
                Ok(String::new())
            }
            Command::Free { page } => {
                let at = self.latched(page)?;
                self.mtr().free(at);
                self.changes.1.push(PageNo(page));
                Ok(String::new())
            }
            _ => self.change(command),
        }
    }
}

impl Mtrs {
    /// The commands that change pages.
    fn change(&mut self, command: &Command) -> Answer {
        match *command {
            Command::Format { page, index, level, ref lower, ref upper } => {
                let at = self.latched(page)?;
                let format = FormatPage {
                    page_no: PageNo(page),
                    level,
                    index_id: IndexId(index),
                    version: self.version_of(PageNo(page)),
                    format_version: 1,
                    fixed_key_len: None,
                    lower: lower.as_bytes(),
                    upper: upper.as_ref().map(String::as_bytes),
                    right: PageNo::NONE,
                };
                self.mtr().apply(at, &PageOp::Format(format));
                Ok(String::new())
            }
            Command::Image { page, from, first, end, ref lower, ref upper } => {
                let from = self.latched(from)?;
                let version = self.version_of(PageNo(page));
                let old = self.mtr().page(from);
                let format = FormatPage {
                    page_no: PageNo(page),
                    level: old.level(),
                    index_id: old.index_id(),
                    version,
                    format_version: old.format_version(),
                    fixed_key_len: None,
                    lower: lower.as_bytes(),
                    upper: upper.as_ref().map(String::as_bytes),
                    right: old.right(),
                };
                let mut image = Box::new([0; PAGE_SIZE]);
                let made = PageMut::new(&mut image).format_with(&format, old, first..end);
                made.map_err(|full| format!("{full:?}"))?;
                self.apply(page, &PageOp::image_of(PageRef::new(&image)))
            }
            Command::Insert(page, ref records) => {
                let inserted = records
                    .iter()
                    .try_for_each(|(key, payload)| self.insert(page, key, payload.as_bytes()).map(drop));
                inserted.map(|()| String::new())
            }
            Command::InsertLong { page, ref key, bytes } => self.insert(page, key, &vec![b'.'; bytes]),
            Command::Child { page, ref key, child } => {
                let at = self.latched(page)?;
                let count = self.mtr().page(at).count();
                let slot = if count == 0 { 0 } else { self.slot(page, key)? };
                self.apply(page, &PageOp::InsertChild { slot, child: PageNo(child), key: key.as_bytes() })
            }
            Command::Remove { page, ref key } => {
                let slot = self.slot(page, key)?;
                self.apply(page, &PageOp::Remove { slot })
            }
            Command::Mark { page, ref key } => {
                let slot = self.slot(page, key)?;
                self.mtr().note_garbage(PageNo(page))?;
                self.apply(page, &PageOp::SetFlags { slot, flags: SlotFlags::DELETED })
            }
            Command::Truncate { page, from } => self.apply(page, &PageOp::Truncate { from }),
            Command::Fences { page, ref lower, ref upper } => {
                let upper = upper.as_ref().map(String::as_bytes);
                self.apply(page, &PageOp::SetFences { lower: lower.as_bytes(), upper })
            }
            Command::Right { page, right } => self.apply(page, &PageOp::SetRight(PageNo(right))),
            _ => self.end(command),
        }
    }

    /// The version that the map says pages of the extent get; that of a page that the tree has stays.
    fn version_of(&mut self, page: PageNo) -> u32 {
        if self.changes.0.contains(&page) {
            return self.mtr().space().get(crate::extent_no::extent_of(page)).version;
        }
        let at = self.mtr().find(page).expect("the page is latched");
        self.mtr().page(at).version()
    }

    /// The commands that end a mini-transaction, and those that need none.
    fn end(&mut self, command: &Command) -> Answer {
        match *command {
            Command::Held => Ok(self.held()),
            Command::Commit => {
                let mtr = self.mtr.take().ok_or("no mini-transaction is open")?;
                let (taken, freed) = std::mem::take(&mut self.changes);
                self.taken.extend(taken);
                self.taken.retain(|page| !freed.contains(page));
                match mtr.commit() {
                    Some(range) => self.frame(range),
                    None => Ok("nothing was changed: no frame".to_owned()),
                }
            }
            Command::Drop => {
                self.changes = Default::default();
                drop(self.mtr.take());
                Ok(String::new())
            }
            Command::Pages(ref pages) => {
                let lines: Result<Vec<String>> = pages.iter().map(|&page| self.page(PageNo(page))).collect();
                Ok(lines?.join("\n"))
            }
            Command::Extents => Ok(self.extents()),
            Command::Flush => {
                self.store.pool.flush_all()?;
                Ok(String::new())
            }
            Command::Checkpoint => {
                let redo = self.store.pool.sync_below(self.store.log.safe_lsn())?;
                self.store.checkpoint(redo, Vec::new())?;
                Ok(format!("recovery begins at {}", self.lsn(redo)))
            }
            Command::Crash => self.crash(),
            _ => unreachable!("every other command makes a change"),
        }
    }

    /// Pages in the order of their latches, the allocation state, and the redo so far.
    fn held(&mut self) -> String {
        let mtr = self.mtr();
        let mut out = String::new();
        let rest = mtr.rest.iter().flat_map(|rest| &rest.pages);
        for page in mtr.first.iter().chain(rest) {
            let _ = writeln!(out, "{}{}", page.guard.page_no(), if page.changed { ", changed" } else { "" });
        }
        if mtr.rest.as_ref().is_some_and(|rest| rest.space.is_some()) {
            out.push_str("the allocation state\n");
        }
        let redo = mtr.redo.get(PART_HEADER_BYTES..).unwrap_or_default();
        let _ = writeln!(out, "{} bytes of redo", redo.len());
        for line in words::changes(redo) {
            let _ = writeln!(out, "  {line}");
        }
        out
    }

    /// A frame, read from the log.
    fn frame(&self, range: FrameRange) -> Answer {
        self.store.log.flush()?;
        let mut reader = LogReader::open(&shared(&self.disk), Path::new("redo"), IDENTITY)?;
        while let Some(frame) = reader.next_frame()? {
            if frame.range != range {
                continue;
            }
            let mut out = format!("frame {} to {}\n", self.lsn(range.start), self.lsn(range.end));
            for part in frame.parts() {
                let Part::Changes(changes) = part? else { continue };
                for line in words::changes(changes) {
                    let _ = writeln!(out, "  {line}");
                }
            }
            return Ok(out);
        }
        Err("the frame is not in the log".into())
    }

    fn page(&self, page_no: PageNo) -> Result<String> {
        let guard = self.store.pool.shared(page_no)?;
        Ok(format!("{page_no} at {}: {}", self.lsn(guard.page().lsn()), words::page(guard.page())))
    }

    fn extents(&self) -> String {
        let space = self.store.space.lock();
        let mut out = String::new();
        let is_new = |entry: &page::ExtentEntry| *entry == page::ExtentEntry::default();
        for (number, entry) in space.iter().enumerate().filter(|(_, entry)| !is_new(entry)) {
            let _ = writeln!(out, "extent {number}: {}", words::extent(entry));
        }
        let _ = writeln!(out, "{} extents never used", space.iter().filter(|entry| is_new(entry)).count());
        out
    }

    /// Ends the process and starts it again. Shows what the redo in the log will do with each page.
    fn crash(&mut self) -> Answer {
        self.forget_changes();
        let before = self.images();
        let mut out = self.redo_to_come()?;
        let store = Store::open(&shared(&self.disk), Path::new(DATA), config(), &mut ())?;
        self.store = Box::leak(Box::new(store));
        let after = self.images();
        // The checksum is made when a page is written.
        let bytes = |images: &Images, page: &PageNo| images.get(page).map(|image| image[4..].to_vec());
        let changed: Vec<_> =
            before.keys().filter(|page| bytes(&before, page) != bytes(&after, page)).collect();
        for page in &changed {
            let _ = writeln!(out, "{page} is not what it was in memory");
        }
        if changed.is_empty() {
            out.push_str("all pages are, byte for byte, what they were in memory\n");
        }
        Ok(out)
    }

    /// Drops the open mini-transaction as the end of the process does.
    fn forget_changes(&mut self) {
        self.changes = Default::default();
        if let Some(mut mtr) = self.mtr.take() {
            mtr.redo.clear();
        }
    }

    /// The pages given out, as they are in the pool; those of a run that no thread has written yet are left
    /// out.
    fn images(&self) -> Images {
        let image = |&page| Some((page, Box::new(*self.store.pool.shared(page).ok()?.page().bytes())));
        self.taken.iter().filter_map(image).collect()
    }

    /// What recovery will do with each page of each frame since the checkpoint, by the rules of
    /// `recover/apply.rs`.
    fn redo_to_come(&self) -> Answer {
        let disk = shared(&self.disk);
        let open = || LogReader::open(&disk, Path::new("redo"), IDENTITY);
        let (_, freed) = recover::analyse(open()?, true, &mut ())?;
        let (mut reader, mut lsns, mut out) = (open()?, BTreeMap::new(), String::new());
        while let Some(frame) = reader.next_frame()? {
            let FrameRange { start, end } = frame.range;
            let mut lines = String::new();
            for (page, is_created) in pages_of(&frame)? {
                if freed.is_freed_after(page, end) {
                    let _ = writeln!(lines, "  {page} is left out: it is freed later");
                    continue;
                }
                let is_first = !lsns.contains_key(&page);
                let lsn = match lsns.get(&page) {
                    Some(&lsn) => lsn,
                    None if is_created => Lsn(0),
                    None => self.lsn_on_disk(page)?,
                };
                let line = if is_first && is_created {
                    "is made anew, unread".to_owned()
                } else {
                    format!("is at {}: {}", self.lsn(lsn), if lsn >= end { "passed over" } else { "applied" })
                };
                let _ = writeln!(lines, "  {page} {line}");
                lsns.insert(page, end.max(lsn));
            }
            // The file's own first frames are before the script.
            if start >= self.origin && !lines.is_empty() {
                let _ = write!(out, "frame {} to {}\n{lines}", self.lsn(start), self.lsn(end));
            }
        }
        Ok(out)
    }

    fn lsn_on_disk(&self, page: PageNo) -> Answer<Lsn> {
        let file = self.disk.open(Path::new(DATA), OpenOptions::default())?;
        let mut image = Box::new([0; PAGE_SIZE]);
        file.read_exact_at(&mut image[..], u64::from(page.0) * PAGE_SIZE as u64)?;
        Ok(PageRef::new(&image).lsn())
    }
}

/// The pages that a frame changes, in order; whether the first operation of each creates it again.
fn pages_of(frame: &Frame<'_>) -> Answer<Vec<(PageNo, bool)>> {
    let mut pages: Vec<(PageNo, bool)> = Vec::new();
    for part in frame.parts() {
        let Part::Changes(mut changes) = part? else { continue };
        while !changes.is_empty() {
            let (page, op) = page::op::decode_change(&mut changes).expect("the redo that Mtr makes");
            if !pages.iter().any(|(seen, _)| *seen == page) {
                pages.push((page, op.is_self_contained()));
            }
        }
    }
    Ok(pages)
}

impl Drop for Mtrs {
    fn drop(&mut self) {
        // A script that failed leaves changes behind.
        self.forget_changes();
    }
}

impl Runner for Mtrs {
    type Command = Command;

    fn run(&mut self, command: &Command, _: &Context) -> Answer {
        self.allocate(command)
    }

    fn end_script(&mut self) -> Answer<()> {
        assert!(self.mtr.is_none(), "a script ends its mini-transactions");
        let mut claimed = PageSet::new(self.store);
        for &page_no in &self.taken {
            assert!(claimed.claim(page_no), "{page_no} is given out once");
            // No thread writes the pages of a run here.
            let Ok(guard) = self.store.pool.shared(page_no) else { continue };
            if guard.page().page_type() == page::PageType::BTree {
                page::check::check_page(guard.page())?;
            }
        }
        let problems = self.store.check_space(&claimed, |_| true);
        assert!(problems.is_empty(), "{problems:?}");
        Ok(())
    }
}

#[test]
fn every_script_of_mini_transactions_shows_what_was_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mtrs");
    let mut scripts: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    for script in scripts {
        let text = std::fs::read_to_string(&script).unwrap();
        assert!(text.starts_with("# "), "{}: the first line says what the script shows", script.display());
        let ran = goldenscript::run(&mut Mtrs::new(), &script);
        ran.unwrap_or_else(|error| panic!("{}: {error}", script.display()));
    }
}
