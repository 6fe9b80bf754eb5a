//! Collecting entries, writing runs when the memory is full, and merging all there is.

use std::collections::VecDeque;

use super::entry::EntryLens;
use super::layout::Layout;
use super::memory::{Charged, Division, SortMemory};
use super::merge::Merge;
use super::open_block::OpenBlock;
use super::run_file::{Run, RunFile, RunReader, RunWriter};
use super::totals::{SortCounters, SortTotals};
use crate::error::{Result, fail_if_interrupted};
use crate::temp_file::TempFolder;

/// Where a sort may write, and what it is counted in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortPlace<'e> {
    pub(crate) folder: &'e TempFolder,
    /// A name for the file that no other statement uses.
    pub(crate) name: &'e str,
    pub(crate) counters: &'e SortCounters,
}

/// The sorted runs so far.
#[derive(Debug)]
struct Sorted {
    /// Sorted blocks of each index.
    blocks: Vec<Vec<Vec<u8>>>,
    /// Runs of each index.
    runs: Vec<Vec<Run>>,
    /// The file of the runs, if there are any.
    file: Option<RunFile>,
}

/// A sort that entries are added to.
#[derive(Debug)]
pub(crate) struct IndexSort<'e> {
    place: SortPlace<'e>,
    /// By index.
    layouts: Vec<Layout>,
    division: Division,
    charged: Charged,
    open: OpenBlock,
    sorted: Sorted,
    /// Bytes of sorted blocks.
    block_bytes: usize,
}

impl<'e> IndexSort<'e> {
    /// A sort of the entries of indexes with these layouts.
    ///
    /// # Errors
    /// [`crate::Error::Memory`].
    pub(crate) fn new(place: SortPlace<'e>, layouts: Vec<Layout>, memory: &SortMemory) -> Result<Self> {
        let (division, charged) = (Division::of(memory), Charged::new(memory));
        charged.set(division.working)?;
        let indexes = layouts.len();
        let sorted =
            Sorted { blocks: vec![Vec::new(); indexes], runs: vec![Vec::new(); indexes], file: None };
        let open = OpenBlock::new(&layouts, &division);
        Ok(IndexSort { place, layouts, division, charged, open, sorted, block_bytes: 0 })
    }

    /// Adds an entry of `index`: `encode` appends its key and its payload.
    ///
    /// # Errors
    /// Those of `encode`; [`space::Error::RecordTooLarge`], [`crate::Error::Memory`],
    /// [`crate::Error::TempFile`], [`trx::Error::Interrupted`].
    #[inline]
    pub(crate) fn add(
        &mut self,
        index: usize,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<EntryLens>,
    ) -> Result<()> {
        self.open.add(index, encode)?;
        if self.open.is_full() { self.sort_block() } else { Ok(()) }
    }

    /// Makes room for `rows` entries of each index at once; false: they would fill too much of a block, or no
    /// index has short keys.
    ///
    /// # Errors
    /// Those of [`IndexSort::add`].
    pub(crate) fn makes_room(&mut self, rows: usize) -> Result<bool> {
        let has_short_keys = self.layouts.iter().any(|layout| matches!(layout, Layout::Short(_)));
        if !has_short_keys || !self.open.is_large_for(rows) {
            return Ok(false);
        }
        if !self.open.has_room(rows) {
            self.sort_block()?;
        }
        Ok(true)
    }

    /// Adds keys of `index` for which there is room: `fill` appends them as numbers. False, with nothing
    /// added: its layout is another.
    #[inline]
    pub(crate) fn add_numbers(&mut self, index: usize, fill: impl FnOnce(&mut Vec<u128>)) -> bool {
        self.open.add_numbers(index, fill)
    }

    /// Ends the collection.
    ///
    /// # Errors
    /// Those of [`IndexSort::add`].
    pub(crate) fn finish(mut self) -> Result<SortedEntries<'e>> {
        self.sort_block()?;
        if self.sorted.file.is_some() {
            self.write_runs()?;
        }
        let IndexSort { place, layouts, division, charged, open, sorted, block_bytes } = self;
        drop(open);
        charged.set(block_bytes)?;
        Ok(SortedEntries { counters: place.counters, layouts, division, charged, sorted })
    }

    fn sort_block(&mut self) -> Result<()> {
        fail_if_interrupted()?;
        let bytes = self.open.len();
        if self.block_bytes + bytes > self.division.sorted {
            self.write_runs()?;
        }
        self.block_bytes += bytes;
        self.charged.set(self.division.working + self.block_bytes)?;
        for (index, block) in self.open.sorted() {
            self.sorted.blocks[index].push(block);
        }
        self.place.counters.add(SortTotals { keys: self.open.count() as u64, ..SortTotals::default() });
        self.open.clear();
        Ok(())
    }

    /// Makes a run of the sorted blocks of each index, which frees their memory.
    fn write_runs(&mut self) -> Result<()> {
        let Sorted { blocks, runs, file } = &mut self.sorted;
        let file = match file {
            Some(file) => file,
            none => {
                let new = self.place.folder.create(self.place.name)?;
                none.insert(RunFile::new(new, self.division.file_block))
            }
        };
        for ((blocks, runs), &layout) in blocks.iter_mut().zip(runs).zip(&self.layouts) {
            if blocks.is_empty() {
                continue;
            }
            runs.push(write_run(file, Merge::in_memory(layout, std::mem::take(blocks)))?);
            self.place.counters.add(SortTotals { sorts: 1, runs: 1, ..SortTotals::default() });
        }
        self.block_bytes = 0;
        self.charged.set(self.division.working)
    }
}

/// Entries of several indexes, each of which can be read in order.
#[derive(Debug)]
pub(crate) struct SortedEntries<'e> {
    counters: &'e SortCounters,
    /// By index.
    layouts: Vec<Layout>,
    division: Division,
    charged: Charged,
    sorted: Sorted,
}

impl SortedEntries<'_> {
    /// The entries of `index`, once.
    ///
    /// # Errors
    /// [`crate::Error::Memory`], [`crate::Error::TempFile`], [`trx::Error::Interrupted`].
    pub(crate) fn take(&mut self, index: usize) -> Result<Merge<'_>> {
        let Sorted { blocks, runs, file } = &mut self.sorted;
        let layout = self.layouts[index];
        let Some(file) = file else {
            self.counters.add(SortTotals { sorts: 1, ..SortTotals::default() });
            return Ok(Merge::in_memory(layout, std::mem::take(&mut blocks[index])));
        };
        let mut runs = VecDeque::from(std::mem::take(&mut runs[index]));
        let buffers = runs.len().min(self.division.sources) + 1;
        self.charged.set(buffers * self.division.file_block)?;
        while runs.len() > self.division.sources {
            let count = merged_at_once(runs.len(), self.division.sources);
            let some: Vec<Run> = runs.drain(..count).collect();
            runs.push_back(write_run(file, merge_of(file, layout, some.iter().copied())?)?);
            for run in some {
                file.discard(run);
            }
            self.counters.add(SortTotals { merge_passes: 1, ..SortTotals::default() });
        }
        merge_of(file, layout, runs)
    }
}

/// How many of `runs` runs become one, so that in the end as many are left as are merged at a time,
/// `sources`: fewer in the first merge, so that few entries are written again.
fn merged_at_once(runs: usize, sources: usize) -> usize {
    match 1 + (runs - 1) % (sources - 1) {
        1 => sources,
        count => count,
    }
}

fn merge_of(file: &RunFile, layout: Layout, runs: impl IntoIterator<Item = Run>) -> Result<Merge<'_>> {
    Merge::in_file(layout, runs.into_iter().map(|run| RunReader::new(file, run)))
}

fn write_run(file: &RunFile, mut entries: Merge<'_>) -> Result<Run> {
    let mut writer = RunWriter::new(file);
    while let Some(entry) = entries.next_bytes()? {
        writer.push(entry)?;
    }
    writer.finish()
}
