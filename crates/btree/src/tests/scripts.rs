//! Golden scripts of trees (`tests/trees`): inserts, removals and builds, and the pages that they leave.
//!
//! Keys of runs are `k00000` and so on. A script ends with a check of the tree and of the extent map: each
//! allocated page belongs to the tree, or to a value.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::prng::Prng;
use base::{Lsn, PageNo, TrxId};
use goldenscript::{Context, Runner};
use log::{LogReader, Part};
use page::{OverflowRef, PAGE_SIZE, PageRef};
use space::check::PageSet;

use super::*;

#[derive(goldenscript::Command)]
enum Command {
    /// Inserts a record with a payload of `bytes`.
    Insert { key: String, bytes: usize },
    /// Inserts records `from..to`, each `step`-th, in the given order: ascending, descending or random.
    Load {
        from: u32,
        to: u32,
        bytes: usize,
        #[arg(key)]
        step: Option<u32>,
        #[arg(key)]
        order: Option<String>,
        /// Bytes that each key has before its number.
        #[arg(key, optional)]
        pad: usize,
    },
    /// Builds the tree, which is empty, from records `from..to`.
    Build { from: u32, to: u32, bytes: usize },
    /// Replaces a payload.
    Replace { key: String, bytes: usize },
    /// Removes a record, and shrinks the tree if its leaf is sparse then.
    Remove { key: String },
    /// Removes records `from..to`, each `step`-th.
    RemoveRun {
        from: u32,
        to: u32,
        #[arg(key)]
        step: Option<u32>,
    },
    /// Looks a record up.
    Get { key: String },
    /// Looks records `from..to` up, each `step`-th, `times` times.
    Lookup {
        from: u32,
        to: u32,
        times: u32,
        #[arg(key)]
        step: Option<u32>,
    },
    /// Shows up to `count` keys from `key` on.
    Scan { key: String, count: usize },
    /// Writes a value to pages of its own.
    Write { name: String, bytes: usize },
    /// Reads a value back.
    Read { name: String },
    /// Frees a value's pages.
    Free { name: String },
    /// Shows the leaf directory.
    Directory,
    /// Shows the log since the last time: of each frame the pages and operations.
    Frames,
    /// Shows all pages of the tree.
    Show,
    /// Counts pages, records and changes of shape.
    Count,
}

type Answer<T = String> = std::result::Result<T, Box<dyn std::error::Error>>;

struct Trees {
    disk: SimDisk,
    store: Store,
    tree: Tree,
    values: BTreeMap<String, OverflowRef>,
    /// Frames below have been shown.
    shown: Lsn,
}

fn key_of(n: u32) -> String {
    format!("k{n:05}")
}

fn text(bytes: &[u8]) -> String {
    match bytes.len() {
        0..=24 => format!("\"{}\"", bytes.escape_ascii()),
        len => format!("\"{}...{}\"", bytes[..4].escape_ascii(), bytes[len - 8..].escape_ascii()),
    }
}

/// The bytes before the zeros at the end.
fn without_zeros(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

fn value(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 31 % 251) as u8).collect()
}

impl Trees {
    fn new() -> Self {
        let disk = SimDisk::new();
        let store = new_store(&disk, 1024);
        let tree = Tree::create(&store, INDEX, VARIABLE).unwrap();
        let shown = store.log().current();
        Trees { disk, store, tree, values: BTreeMap::new(), shown }
    }

    fn insert(&self, key: &str, bytes: usize) -> Answer<()> {
        let mut edit = self.tree.edit(&self.store, key.as_bytes(), key.len() + bytes)?;
        if edit.found() {
            return Err(format!("{key} is there").into());
        }
        edit.insert(&vec![b'.'; bytes], SlotFlags::NONE).map_err(|need| format!("{need:?}"))?;
        edit.commit();
        Ok(())
    }

    fn remove(&self, key: &str) -> Answer<()> {
        let mut edit = self.tree.edit(&self.store, key.as_bytes(), 0)?;
        if !edit.found() {
            return Err(format!("{key} is not there").into());
        }
        edit.remove();
        let is_sparse = edit.is_sparse();
        edit.commit();
        if is_sparse {
            self.tree.shrink(&self.store, key.as_bytes())?;
        }
        Ok(())
    }

    fn load(&self, mut numbers: Vec<u32>, bytes: usize, order: &str, pad: usize) -> Answer<()> {
        match order {
            "ascending" => {}
            "descending" => numbers.reverse(),
            "random" => {
                let mut prng = Prng::new(1);
                numbers.sort_by_cached_key(|_| prng.next_u64());
            }
            _ => return Err("ascending, descending or random".into()),
        }
        numbers.iter().try_for_each(|&n| self.insert(&("p".repeat(pad) + &key_of(n)), bytes))
    }

    /// The commands that change the tree.
    fn change(&mut self, command: &Command) -> Answer {
        match *command {
            Command::Insert { ref key, bytes } => self.insert(key, bytes)?,
            Command::Load { from, to, bytes, step, ref order, pad } => {
                let numbers = (from..to).step_by(step.unwrap_or(1) as usize).collect();
                self.load(numbers, bytes, order.as_deref().unwrap_or("ascending"), pad)?;
            }
            Command::Build { from, to, bytes } => {
                let mut build = BulkBuild::new(&self.store, &self.tree, TrxId(9))?;
                for n in from..to {
                    build.push(key_of(n).as_bytes(), &vec![b'.'; bytes], SlotFlags::NONE)?;
                }
                build.finish()?;
            }
            Command::Replace { ref key, bytes } => {
                let mut edit = self.tree.edit(&self.store, key.as_bytes(), key.len() + bytes)?;
                edit.replace_payload(&vec![b'+'; bytes]).map_err(|need| format!("{need:?}"))?;
                edit.commit();
            }
            Command::Remove { ref key } => self.remove(key)?,
            Command::RemoveRun { from, to, step } => {
                for n in (from..to).step_by(step.unwrap_or(1) as usize) {
                    self.remove(&key_of(n))?;
                }
            }
            Command::Write { ref name, bytes } => {
                let reference = self.tree.write_overflow(&self.store, &value(bytes), |_| [])?;
                self.values.insert(name.clone(), reference);
                let OverflowRef { first, pages, len, version, .. } = reference;
                return Ok(format!(
                    "{name}: {len} bytes on {pages} pages from {first} on, version {version}"
                ));
            }
            Command::Free { ref name } => {
                let reference = self.values.remove(name).ok_or("no such value")?;
                self.store.free_overflow(&reference, &[])?;
            }
            _ => return self.ask(command),
        }
        Ok(String::new())
    }

    /// The commands that change nothing.
    fn ask(&mut self, command: &Command) -> Answer {
        match *command {
            Command::Get { ref key } => {
                let found = self.tree.point(&self.store, key.as_bytes())?;
                Ok(found.map_or(format!("{key}: none"), |at| {
                    format!(
                        "{key}: {} bytes at slot {} of {}",
                        at.record().payload().len(),
                        at.slot(),
                        at.page().page_no()
                    )
                }))
            }
            Command::Lookup { from, to, times, step } => {
                let numbers = (from..to).step_by(step.unwrap_or(1) as usize);
                for n in (0..times).flat_map(|_| numbers.clone()) {
                    self.tree.point(&self.store, key_of(n).as_bytes())?.ok_or("no such key")?;
                }
                Ok(String::new())
            }
            Command::Scan { ref key, count } => self.scan(key, count),
            Command::Read { ref name } => {
                let reference = self.values.get(name).ok_or("no such value")?;
                let mut out = Vec::new();
                self.store.read_overflow(reference, &mut out)?;
                Ok(format!(
                    "{name}: {} bytes, {}",
                    out.len(),
                    if out == value(out.len()) { "as written" } else { "others" }
                ))
            }
            Command::Directory => Ok(self.directory()),
            Command::Frames => self.frames(),
            Command::Show => self.show(),
            Command::Count => Ok(self.count()),
            _ => unreachable!("every other command changes the tree"),
        }
    }

    fn scan(&self, key: &str, count: usize) -> Answer {
        let mut keys = Vec::new();
        let mut cursor = self.tree.seek(&self.store, key.as_bytes(), Seek::AtOrAfter)?;
        while let Some(at) = cursor.take().filter(|_| keys.len() < count) {
            keys.push(String::from_utf8(at.page().key(at.slot()))?);
            cursor = at.next()?;
        }
        Ok(keys.join(" "))
    }

    fn directory(&self) -> String {
        let entries = self.tree.directory.entries();
        let mut out = format!("{} leaves known\n", entries.len());
        for (start, page_no) in entries {
            let start = start.to_be_bytes();
            let _ = writeln!(out, "  {page_no} from {} on", text(without_zeros(&start)));
        }
        out
    }

    fn frames(&mut self) -> Answer {
        self.store.log().flush()?;
        let mut reader = LogReader::open(&shared(&self.disk), Path::new("redo"), config(0).identity)?;
        let mut frames: Vec<(String, usize)> = Vec::new();
        while let Some(frame) = reader.next_frame()? {
            for part in frame.parts() {
                let Part::Changes(changes) = part? else { continue };
                if frame.range.start < self.shown {
                    continue;
                }
                let line = operations(changes);
                match frames.last_mut().filter(|last| last.0 == line) {
                    Some((_, times)) => *times += 1,
                    None => frames.push((line, 1)),
                }
            }
        }
        self.shown = self.store.log().current();
        let line = |(line, times): &(String, usize)| match times {
            1 => format!("frame: {line}"),
            times => format!("{times} frames: {line}"),
        };
        Ok(frames.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    fn show(&self) -> Answer {
        let mut out = String::new();
        let mut first = Some(self.tree.root);
        while let Some(mut page_no) = first {
            let guard = self.store.pool().shared(page_no)?;
            let _ = writeln!(out, "level {}", guard.page().level());
            first = (!guard.page().is_leaf()).then(|| guard.page().child(0));
            drop(guard);
            while !page_no.is_none() {
                let guard = self.store.pool().shared(page_no)?;
                let _ = writeln!(out, "  {}", line_of(guard.page()));
                page_no = guard.page().right();
            }
        }
        Ok(out)
    }

    fn count(&self) -> String {
        let report = self.tree.check(&self.store);
        let (splits, merges) = self.store.splits_and_merges();
        let fill = report.leaf_bytes_used * 100 / (report.leaf_pages * PAGE_SIZE) as u64;
        format!(
            "{} levels, {} inner pages, {} leaves {fill} % full, {} records; {splits} splits, {merges} merges; {} pages used",
            report.levels,
            report.inner_pages,
            report.leaf_pages,
            report.records,
            self.store.space_report().pages_used
        )
    }
}

/// The pages that a frame changes, each with the names of its operations, in order.
fn operations(mut changes: &[u8]) -> String {
    let mut pages: Vec<(PageNo, Vec<String>)> = Vec::new();
    while !changes.is_empty() {
        let (page_no, op) = page::op::decode_change(&mut changes).unwrap();
        let name = format!("{op:?}").chars().take_while(|c| c.is_alphanumeric()).collect();
        match pages.last_mut().filter(|last| last.0 == page_no) {
            Some((_, ops)) => ops.push(name),
            None => pages.push((page_no, vec![name])),
        }
    }
    let page = |(page, ops): &(PageNo, Vec<String>)| format!("{page} {}", ops.join(", "));
    pages.iter().map(page).collect::<Vec<_>>().join("; ")
}

/// A page: number, fences, what it holds, its prefix, how full it is.
fn line_of(page: PageRef<'_>) -> String {
    let upper = page.upper_fence().map_or("no bound".to_owned(), text);
    let mut out = format!("{}: [{}, {upper})", page.page_no(), text(page.lower_fence()));
    let count = page.count();
    let _ = match (page.is_leaf(), count) {
        (false, _) => write!(out, ", {count} children"),
        (true, 0) => write!(out, ", empty"),
        (true, _) => {
            write!(out, ", {count} records {} to {}", text(&page.key(0)), text(&page.key(count - 1)))
        }
    };
    let _ = write!(out, ", prefix {}, {} % full", text(page.prefix()), page.used_bytes() * 100 / PAGE_SIZE);
    out
}

impl Runner for Trees {
    type Command = Command;

    fn run(&mut self, command: &Command, _: &Context) -> Answer {
        self.change(command)
    }

    fn end_script(&mut self) -> Answer<()> {
        let mut claimed = PageSet::new(&self.store);
        let report = self.tree.check_with(&self.store, &mut claimed, &mut |_, _, _| {});
        assert!(report.problems.is_empty() && !report.is_partial, "{report:?}");
        for value in self.values.values() {
            for page in value.first.0..value.first.0 + value.pages {
                assert!(claimed.claim(PageNo(page)), "page {page} belongs to one value");
            }
        }
        let problems = self.store.check_space(&claimed, |index| index == INDEX);
        assert!(problems.is_empty(), "{problems:?}");
        Ok(())
    }
}

#[test]
fn every_script_of_trees_shows_what_was_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/trees");
    let mut scripts: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    for script in scripts {
        let text = std::fs::read_to_string(&script).unwrap();
        assert!(text.starts_with("# "), "{}: the first line says what the script shows", script.display());
        let ran = goldenscript::run(&mut Trees::new(), &script);
        ran.unwrap_or_else(|error| panic!("{}: {error}", script.display()));
    }
}
