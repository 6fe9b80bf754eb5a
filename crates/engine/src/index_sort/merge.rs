//! Sorted sources, in memory or in the file, as one.

use base::loser_tree::LoserTree;

use super::entry::Entry;
use super::run_file::RunReader;
use crate::error::Result;

/// Entries in the order of their keys, and the current one among them.
#[derive(Debug)]
pub(super) struct Source<'f> {
    /// [`Entry::head`] of the current entry, the greatest number at the end.
    head: u64,
    block: Vec<u8>,
    /// Where the current entry begins and ends; the block's end at the end of the source.
    at: usize,
    end: usize,
    /// The position after the block.
    rest: Option<RunReader<'f>>,
}

impl<'f> Source<'f> {
    /// The entries of a sorted block.
    pub(super) fn in_memory(block: Vec<u8>) -> Self {
        let mut source = Source { head: 0, block, at: 0, end: 0, rest: None };
        source.look();
        source
    }

    /// The entries of a run. Reads its first block.
    pub(super) fn in_file(mut run: RunReader<'f>) -> Result<Self> {
        let mut block = Vec::new();
        let at = run.read(&mut block)?;
        let mut source = Source { head: 0, block, at, end: at, rest: Some(run) };
        source.look();
        Ok(source)
    }

    /// The current entry.
    #[inline]
    fn entry(&self) -> Option<Entry<'_>> {
        (self.at < self.end).then(|| Entry::new(&self.block[self.at..self.end]))
    }

    /// Finds the end of the entry that begins at `at`.
    #[inline]
    fn look(&mut self) {
        let entry = (self.at < self.block.len()).then(|| Entry::at_start_of(&self.block[self.at..]));
        (self.head, self.end) =
            entry.map_or((u64::MAX, self.at), |entry| (entry.head(), self.at + entry.bytes().len()));
    }

    /// Goes to the next entry; there is a current one.
    #[inline]
    fn advance(&mut self) -> Result<()> {
        self.at = self.end;
        if self.at == self.block.len() {
            self.read_on()?;
        }
        self.look();
        Ok(())
    }

    #[cold]
    fn read_on(&mut self) -> Result<()> {
        if let Some(run) = &mut self.rest {
            self.at = run.read(&mut self.block)?;
        }
        Ok(())
    }

    #[inline]
    fn is_less(&self, other: &Self) -> bool {
        if self.head == other.head { self.is_less_beyond_head(other) } else { self.head < other.head }
    }

    fn is_less_beyond_head(&self, other: &Self) -> bool {
        match (self.entry(), other.entry()) {
            (Some(own), Some(other)) => own.key() < other.key(),
            (own, _) => own.is_some(),
        }
    }
}

/// The entries of several sources in the order of their keys.
#[derive(Debug)]
pub(crate) struct Merge<'f> {
    sources: Vec<Source<'f>>,
    order: LoserTree,
    /// Whether the current entry of the winner was returned.
    is_taken: bool,
}

impl<'f> Merge<'f> {
    pub(super) fn new(mut sources: Vec<Source<'f>>) -> Self {
        if sources.is_empty() {
            sources.push(Source::in_memory(Vec::new()));
        }
        let order = LoserTree::new(sources.len(), |a, b| sources[a].is_less(&sources[b]));
        Merge { sources, order, is_taken: false }
    }

    /// The next entry; `None` at the end. Cost: log2(sources) comparisons, mostly of two integers.
    ///
    /// # Errors
    /// [`crate::Error::TempFile`], [`trx::Error::Interrupted`].
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Entry<'_>>> {
        let Merge { sources, order, is_taken } = self;
        if *is_taken {
            sources[order.winner()].advance()?;
            order.replay(|a, b| sources[a].is_less(&sources[b]));
        }
        *is_taken = true;
        Ok(sources[order.winner()].entry())
    }
}
