//! Golden scripts of pages (`tests/pages`): commands that change pages, and what the pages hold then.
//!
//! A command's prefix names the page that it works on, `page` if there is none. Each change is a [`PageOp`]
//! that is also encoded, decoded and applied to a copy of the page: redo must make the same bytes. A script
//! ends with [`check::check_page`] of every page.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use base::{IndexId, PageNo, ROW_HEADER_BYTES, TrxId};
use goldenscript::{Context, Runner};

use super::show;
use crate::*;

#[derive(goldenscript::Command)]
enum Command {
    /// Makes an empty page: `format lower=ab upper=b fixed=4 level=1 right=10`.
    Format {
        #[arg(key, optional)]
        lower: String,
        #[arg(key)]
        upper: Option<String>,
        #[arg(key)]
        fixed: Option<u16>,
        #[arg(key, optional)]
        level: u8,
        #[arg(key, optional)]
        right: u32,
    },
    /// Formats the page with the slots `first..end` of the page `from`.
    Copy {
        from: String,
        first: usize,
        end: usize,
        #[arg(key, optional)]
        lower: String,
        #[arg(key)]
        upper: Option<String>,
    },
    /// Inserts a record at its place. `begin`: the transaction id that ends the key.
    Insert {
        key: String,
        payload: String,
        #[arg(key)]
        begin: Option<u64>,
    },
    /// Inserts a row of transaction `trx` with an empty undo pointer.
    InsertRow { key: String, trx: u64, body: String },
    /// Appends records in one operation: `append a=1 b=2`.
    Append(Vec<(String, String)>),
    /// Inserts a separator and its child.
    Child { key: String, page: u32 },
    /// Inserts `k0000`, `k0001` and so on with payloads of `bytes` until the page is full.
    Fill {
        #[arg(key)]
        bytes: usize,
        /// Number of the first key.
        #[arg(key, optional)]
        from: usize,
    },
    /// Replaces a payload.
    Replace { key: String, payload: String },
    /// Overwrites payload bytes from `offset` on.
    Patch { key: String, offset: u16, bytes: String },
    /// Overwrites the row header and bytes from `offset` of the body on.
    PatchRow { key: String, trx: u64, offset: u16, bytes: String },
    /// Marks a record as deleted.
    Mark { key: String },
    /// Clears the marks of a record.
    Unmark { key: String },
    /// Marks a row as deleted by a transaction.
    DeleteRow { key: String, trx: u64 },
    /// Closes a secondary entry.
    Close { key: String, trx: u64 },
    /// Takes a close back.
    Reopen { key: String },
    /// Removes a record or separator.
    Remove { key: String },
    /// Removes a slot.
    RemoveSlot { slot: u16 },
    /// Removes all slots from `from` on.
    Truncate { from: u16 },
    /// Squeezes dead cells out.
    Reorganize,
    /// Gives the page new fences.
    Fences { lower: String, upper: Option<String> },
    /// Sets the right sibling.
    Right { page: u32 },
    /// Says where a search ends.
    Search { key: String },
    /// Says whether a record with a payload of `bytes` goes in.
    Fits { key: String, bytes: usize },
    /// Flips the highest bit of the byte at `offset` in a copy of the page, and says what a read from disk
    /// and CHECK TABLE find. `stamped`: the copy's checksum is made after the damage.
    Damage {
        offset: usize,
        #[arg(key, optional)]
        stamped: bool,
    },
    /// Shows header, fences and slots; of many slots the first and the last `slots`. `rows`: payloads begin
    /// with a row header.
    Show {
        #[arg(key)]
        slots: Option<usize>,
        #[arg(key, optional)]
        rows: bool,
    },
    /// Shows what each byte of the heap belongs to.
    Heap,
    /// Shows heads and hints.
    Hints,
}

type Answer = Result<String, Box<dyn Error>>;

#[derive(Default)]
struct Pages(BTreeMap<String, Box<PageBytes>>);

/// The bytes of a key that may end with a begin id.
fn key_bytes(key: &str, begin: Option<u64>) -> (Vec<u8>, SlotFlags) {
    let id = begin.map(|id| id.to_be_bytes()[8 - TRX_ID_BYTES..].to_vec());
    let flags = if id.is_some() { SlotFlags::HAS_BEGIN } else { SlotFlags::NONE };
    ([key.as_bytes(), &id.unwrap_or_default()].concat(), flags)
}

/// The row header of transaction `trx`, whose row has no version before it.
fn row_header(trx: u64) -> [u8; ROW_HEADER_BYTES] {
    let mut header = [0; ROW_HEADER_BYTES];
    header[..TRX_ID_BYTES].copy_from_slice(&trx.to_le_bytes()[..TRX_ID_BYTES]);
    header
}

fn start<'k>(lower: &'k str, upper: Option<&'k String>) -> FormatPage<'k> {
    FormatPage {
        page_no: PageNo(9),
        level: 0,
        index_id: IndexId(70),
        version: 1,
        format_version: 1,
        fixed_key_len: None,
        lower: lower.as_bytes(),
        upper: upper.map(String::as_bytes),
        right: PageNo::NONE,
    }
}

impl Pages {
    fn page(&self, name: &str) -> Result<PageRef<'_>, Box<dyn Error>> {
        Ok(PageRef::new(self.0.get(name).ok_or_else(|| format!("there is no page {name}"))?))
    }

    /// The slot of a record or separator; of entries that differ in their begin ids the oldest.
    fn slot(&self, name: &str, key: &str) -> Result<u16, Box<dyn Error>> {
        let page = self.page(name)?;
        let at = page.search(key.as_bytes());
        let is_entry =
            page.is_leaf() && at.slot < page.count() && page.record(at.slot).has_key(key.as_bytes());
        if at.found || is_entry { Ok(at.slot as u16) } else { Err(format!("no key {key:?}").into()) }
    }

    /// Applies `op` to the page and, as redo does, to a copy of it.
    fn apply(&mut self, name: &str, op: PageOp<'_>) -> Answer {
        let bytes = self.0.entry(name.to_owned()).or_insert_with(|| Box::new([0; PAGE_SIZE]));
        let (before, page_no) = (bytes.clone(), PageNo(9));
        let checked = op.check_for(PageRef::new(bytes), page_no);
        let applied = checked.and_then(|()| op.apply(&mut PageMut::new(bytes)));
        if let Err(error) = applied {
            assert!(before == *bytes, "a refused operation leaves the page alone");
            let what = if error == OpError::Full { "PageFull" } else { "malformed operation" };
            return Err(what.into());
        }
        let (mut logged, mut again) = (Vec::new(), before);
        op.encode(&mut logged);
        PageOp::decode(&mut &logged[..]).unwrap().apply(&mut PageMut::new(&mut again)).unwrap();
        assert!(again == *bytes, "redo makes the same bytes");
        let page = PageRef::new(bytes);
        // An inner page without children is one in the making.
        assert!(page.count() == 0 || check::check_structure(page).is_ok(), "reading the page accepts it");
        Ok(String::new())
    }

    fn fill(&mut self, name: &str, bytes: usize, from: usize) -> Answer {
        let payload = vec![b'.'; bytes];
        for n in from.. {
            let key = format!("k{n:04}");
            let slot = self.page(name)?.search(key.as_bytes()).slot as u16;
            let op = PageOp::Insert { slot, flags: SlotFlags::NONE, key: key.as_bytes(), payload: &payload };
            if let Err(error) = self.apply(name, op) {
                return Ok(format!("{error} at {key}"));
            }
        }
        unreachable!("a page has an end")
    }

    /// The commands that make pages or whole runs of records.
    fn make(&mut self, name: &str, command: &Command) -> Answer {
        match command {
            Command::Format { lower, upper, fixed, level, right } => {
                let format = FormatPage {
                    level: *level,
                    fixed_key_len: *fixed,
                    right: PageNo(*right),
                    ..start(lower, upper.as_ref())
                };
                self.apply(name, PageOp::Format(format))
            }
            Command::Copy { from, first, end, lower, upper } => {
                let mut bytes = Box::new([0; PAGE_SIZE]);
                let old = self.page(from)?;
                let format = FormatPage {
                    level: old.level(),
                    fixed_key_len: old.fixed_key_len(),
                    ..start(lower, upper.as_ref())
                };
                let made = PageMut::new(&mut bytes).format_with(&format, old, *first..*end);
                made.map_err(|PageFull| "PageFull")?;
                self.0.insert(name.to_owned(), bytes);
                Ok(String::new())
            }
            Command::Insert { key, payload, begin } => {
                let (key, flags) = key_bytes(key, *begin);
                let slot = self.page(name)?.search(&key).slot as u16;
                self.apply(name, PageOp::Insert { slot, flags, key: &key, payload: payload.as_bytes() })
            }
            Command::InsertRow { key, trx, body } => {
                let slot = self.page(name)?.search(key.as_bytes()).slot as u16;
                let payload = [&row_header(*trx), body.as_bytes()].concat();
                self.apply(name, PageOp::InsertRow { slot, key: key.as_bytes(), payload: &payload })
            }
            Command::Append(records) => {
                let mut batch = Vec::new();
                for (key, payload) in records {
                    Batch::push_record(&mut batch, key.as_bytes(), payload.as_bytes(), SlotFlags::NONE);
                }
                self.apply(name, PageOp::Append(Batch(&batch)))
            }
            Command::Child { key, page } => {
                let view = self.page(name)?;
                let slot = if view.count() == 0 { 0 } else { view.search(key.as_bytes()).slot as u16 };
                self.apply(name, PageOp::InsertChild { slot, child: PageNo(*page), key: key.as_bytes() })
            }
            Command::Fill { bytes, from } => self.fill(name, *bytes, *from),
            other => self.change(name, other),
        }
    }

    /// The commands that change records in place.
    fn change(&mut self, name: &str, command: &Command) -> Answer {
        let header;
        let op = match command {
            Command::Replace { key, payload } => {
                PageOp::ReplacePayload { slot: self.slot(name, key)?, payload: payload.as_bytes() }
            }
            Command::Patch { key, offset, bytes } => {
                PageOp::Patch { slot: self.slot(name, key)?, offset: *offset, bytes: bytes.as_bytes() }
            }
            Command::PatchRow { key, trx, offset, bytes } => PageOp::PatchRow(RowPatch {
                slot: self.slot(name, key)?,
                offset: ROW_HEADER_BYTES as u16 + *offset,
                header: row_header(*trx),
                bytes: bytes.as_bytes(),
            }),
            Command::Mark { key } => {
                PageOp::SetFlags { slot: self.slot(name, key)?, flags: SlotFlags::DELETED }
            }
            Command::Unmark { key } => {
                PageOp::SetFlags { slot: self.slot(name, key)?, flags: SlotFlags::NONE }
            }
            Command::DeleteRow { key, trx } => {
                header = row_header(*trx);
                PageOp::DeleteRow { slot: self.slot(name, key)?, header: &header }
            }
            Command::Close { key, trx } => PageOp::Close { slot: self.slot(name, key)?, trx: TrxId(*trx) },
            Command::Reopen { key } => PageOp::Reopen { slot: self.slot(name, key)? },
            Command::Remove { key } => PageOp::Remove { slot: self.slot(name, key)? },
            Command::RemoveSlot { slot } => PageOp::Remove { slot: *slot },
            Command::Truncate { from } => PageOp::Truncate { from: *from },
            Command::Reorganize => PageOp::Reorganize,
            Command::Fences { lower, upper } => {
                PageOp::SetFences { lower: lower.as_bytes(), upper: upper.as_ref().map(String::as_bytes) }
            }
            Command::Right { page } => PageOp::SetRight(PageNo(*page)),
            other => return self.ask(name, other),
        };
        self.apply(name, op)
    }

    /// The commands that change nothing.
    fn ask(&self, name: &str, command: &Command) -> Answer {
        let page = self.page(name)?;
        Ok(match command {
            Command::Search { key } => {
                let at = page.search(key.as_bytes());
                let where_to = if page.is_leaf() {
                    String::new()
                } else {
                    format!(", child {}", page.child(page.child_for(key.as_bytes())).0)
                };
                format!("{key}: slot {}{}{where_to}", at.slot, if at.found { ", found" } else { "" })
            }
            Command::Fits { key, bytes } => {
                let fit = match page.fits(key.as_bytes(), *bytes) {
                    Fit::Now => "fits as the page is",
                    Fit::AfterReorganize => "fits once dead cells are squeezed out",
                    Fit::No => "does not fit",
                };
                format!("{fit}; room for a cell of {} bytes", page.free_for(key.as_bytes()))
            }
            Command::Damage { offset, stamped } => damage(page, *offset, *stamped),
            Command::Show { slots, rows } => show::page(page, slots.unwrap_or(usize::MAX), *rows),
            Command::Heap => show::heap(page),
            Command::Hints => show::hints(page),
            _ => unreachable!("every other command changes a page"),
        })
    }
}

fn damage(page: PageRef<'_>, offset: usize, stamped: bool) -> String {
    let mut copy = Box::new(*page.bytes());
    check::stamp_checksum(&mut copy);
    copy[offset] ^= 0x80;
    if stamped {
        check::stamp_checksum(&mut copy);
    }
    let words = |found: Result<(), Corruption>| found.map_or_else(|found| found.what.words(), |()| "passes");
    let read = words(verify_on_read(&copy, page.page_no()));
    let checked = words(check::check_page(PageRef::new(&copy)));
    format!("byte {offset}: read: {read}; check: {checked}")
}

impl Runner for Pages {
    type Command = Command;

    fn run(&mut self, command: &Command, context: &Context) -> Answer {
        self.make(context.prefix.as_deref().unwrap_or("page"), command)
    }

    fn end_script(&mut self) -> Result<(), Box<dyn Error>> {
        for (name, bytes) in &self.0 {
            check::check_page(PageRef::new(bytes)).map_err(|corruption| format!("{name}: {corruption}"))?;
        }
        Ok(())
    }
}

#[test]
fn every_script_of_pages_shows_what_was_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/pages");
    let mut scripts: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    for script in scripts {
        let text = std::fs::read_to_string(&script).unwrap();
        assert!(text.starts_with("# "), "{}: the first line says what the script shows", script.display());
        let ran = goldenscript::run(&mut Pages::default(), &script);
        ran.unwrap_or_else(|error| panic!("{}: {error}", script.display()));
    }
}
