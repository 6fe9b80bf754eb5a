//! Sorted sources, in memory or in the file, as one.

use base::loser_tree::LoserTree;

use super::key_order::head_of;
use super::layout::{Layout, SortedEntry};
use super::run_file::RunReader;
use crate::error::Result;

/// Entries in the order of their keys, and the current one among them.
#[derive(Debug)]
pub(super) struct Source<'f> {
    /// [`head_of`] the current entry's key, the greatest number at the end.
    head: u64,
    layout: Layout,
    block: Vec<u8>,
    /// Where the current entry begins and ends; the block's end at the end of the source.
    at: usize,
    end: usize,
    /// The position after the block.
    rest: Option<RunReader<'f>>,
}

impl<'f> Source<'f> {
    /// The entries of a sorted block.
    pub(super) fn in_memory(layout: Layout, block: Vec<u8>) -> Self {
        let mut source = Source { head: 0, layout, block, at: 0, end: 0, rest: None };
        source.look();
        source
    }

    /// The entries of a run. Reads its first block.
    pub(super) fn in_file(layout: Layout, mut run: RunReader<'f>) -> Result<Self> {
        let mut block = Vec::new();
        let at = run.read(&mut block)?;
        let mut source = Source { head: 0, layout, block, at, end: at, rest: Some(run) };
        source.look();
        Ok(source)
    }

    /// The bytes of the current entry.
    #[inline]
    fn bytes(&self) -> Option<&[u8]> {
        (self.at < self.end).then(|| &self.block[self.at..self.end])
    }

    /// The current entry.
    #[inline]
    fn entry(&self) -> Option<SortedEntry<'_>> {
        self.bytes().map(|bytes| self.layout.entry(bytes))
    }

    /// Finds the end of the entry that begins at `at`.
    #[inline(always)]
    fn look(&mut self) {
        if self.at == self.block.len() {
            (self.head, self.end) = (u64::MAX, self.at);
            return;
        }
        let rest = &self.block[self.at..];
        let entry = &rest[..self.layout.entry_len(rest)];
        (self.head, self.end) = (head_of(self.layout.entry(entry).key()), self.at + entry.len());
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
            sources.push(Source::in_memory(Layout::Headed, Vec::new()));
        }
        let order = LoserTree::new(sources.len(), |a, b| sources[a].is_less(&sources[b]));
        Merge { sources, order, is_taken: false }
    }

    /// The next entry; `None` at the end. Cost: log2(sources) comparisons, mostly of two numbers.
    ///
    /// # Errors
    /// [`crate::Error::TempFile`], [`trx::Error::Interrupted`].
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<SortedEntry<'_>>> {
        Ok(self.next_source()?.entry())
    }

    /// The bytes of the next entry; `None` at the end.
    ///
    /// # Errors
    /// Those of [`Merge::next`].
    #[inline]
    pub(super) fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.next_source()?.bytes())
    }

    /// The source whose current entry is the next one.
    #[inline(always)]
    fn next_source(&mut self) -> Result<&Source<'f>> {
        let Merge { sources, order, is_taken } = self;
        if *is_taken {
            sources[order.winner()].advance()?;
            order.replay(|a, b| sources[a].is_less(&sources[b]));
        }
        *is_taken = true;
        Ok(&sources[order.winner()])
    }
}
