//! Sorted sources, in memory or in the file, as one.

use std::fmt::Debug;

use base::loser_tree::LoserTree;

use super::entry::Entry;
use super::key_order::head_of;
use super::layout::{Layout, ShortKeys};
use super::run_file::RunReader;
use crate::error::Result;

/// How the entries of a merge are laid out and compared.
pub(crate) trait EntryForm: Copy {
    /// The beginning of a key as a number, which decides most comparisons.
    type Head: Copy + Ord + Debug;

    /// No head is greater: that of a source at its end.
    const END: Self::Head;

    /// Bytes of the entry that `rest` begins with, and its head.
    fn look(self, rest: &[u8]) -> (usize, Self::Head);

    /// The key of the entry whose bytes these are.
    fn key(self, entry: &[u8]) -> &[u8];
}

/// Entries with headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headed;

impl EntryForm for Headed {
    type Head = u64;

    const END: u64 = u64::MAX;

    #[inline(always)]
    fn look(self, rest: &[u8]) -> (usize, u64) {
        let entry = Entry::at_start_of(rest);
        (entry.bytes().len(), head_of(entry.key()))
    }

    #[inline]
    fn key(self, entry: &[u8]) -> &[u8] {
        Entry::new(entry).key()
    }
}

impl EntryForm for ShortKeys {
    type Head = u128;

    const END: u128 = u128::MAX;

    #[inline(always)]
    fn look(self, rest: &[u8]) -> (usize, u128) {
        (self.len, self.first_number(rest))
    }

    #[inline]
    fn key(self, entry: &[u8]) -> &[u8] {
        entry
    }
}

/// Entries in the order of their keys, and the current one among them.
#[derive(Debug)]
struct Source<'f, F: EntryForm> {
    form: F,
    block: Vec<u8>,
    /// Where the current entry begins and ends; the block's end at the end of the source.
    at: usize,
    end: usize,
    /// The position after the block.
    rest: Option<RunReader<'f>>,
}

impl<'f, F: EntryForm> Source<'f, F> {
    /// The entries of a sorted block.
    fn in_memory(form: F, block: Vec<u8>) -> Self {
        Source { form, block, at: 0, end: 0, rest: None }
    }

    /// The entries of a run. Reads its first block.
    fn in_file(form: F, mut run: RunReader<'f>) -> Result<Self> {
        let mut block = Vec::new();
        let at = run.read(&mut block)?;
        Ok(Source { form, block, at, end: at, rest: Some(run) })
    }

    /// The bytes of the current entry.
    #[inline]
    fn bytes(&self) -> Option<&[u8]> {
        (self.at < self.end).then(|| &self.block[self.at..self.end])
    }

    /// Finds the end of the entry that begins at `at`; returns its head, [`EntryForm::END`] at the end.
    #[inline(always)]
    fn look(&mut self) -> F::Head {
        if self.at == self.block.len() {
            self.end = self.at;
            return F::END;
        }
        let (len, head) = self.form.look(&self.block[self.at..]);
        self.end = self.at + len;
        head
    }

    /// Goes to the next entry, and returns its head as [`Source::look`] does; there is a current one.
    #[inline(always)]
    fn advance(&mut self) -> Result<F::Head> {
        self.at = self.end;
        if self.at == self.block.len() {
            self.read_on()?;
        }
        Ok(self.look())
    }

    #[cold]
    #[inline(never)]
    fn read_on(&mut self) -> Result<()> {
        if let Some(run) = &mut self.rest {
            self.at = run.read(&mut self.block)?;
        }
        Ok(())
    }

    /// Whether the current entry comes before that of `other`, where their heads are equal.
    #[inline(never)]
    fn is_less_beyond_head(&self, other: &Self) -> bool {
        match (self.bytes(), other.bytes()) {
            (Some(own), Some(theirs)) => self.form.key(own) < self.form.key(theirs),
            (own, _) => own.is_some(),
        }
    }
}

/// The entries of several sources in the order of their keys.
#[derive(Debug)]
pub(crate) struct MergeOf<'f, F: EntryForm> {
    sources: Vec<Source<'f, F>>,
    order: LoserTree<F::Head>,
    /// Whether the current entry of the winner was returned.
    is_taken: bool,
}

impl<'f, F: EntryForm> MergeOf<'f, F> {
    fn new(form: F, mut sources: Vec<Source<'f, F>>) -> Self {
        if sources.is_empty() {
            sources.push(Source::in_memory(form, Vec::new()));
        }
        let heads: Vec<F::Head> = sources.iter_mut().map(Source::look).collect();
        let order = LoserTree::new(heads, |a, b| sources[a].is_less_beyond_head(&sources[b]));
        MergeOf { sources, order, is_taken: false }
    }

    fn in_memory(form: F, blocks: Vec<Vec<u8>>) -> Self {
        MergeOf::new(form, blocks.into_iter().map(|block| Source::in_memory(form, block)).collect())
    }

    fn in_file(form: F, runs: impl Iterator<Item = RunReader<'f>>) -> Result<Self> {
        Ok(MergeOf::new(form, runs.map(|run| Source::in_file(form, run)).collect::<Result<_>>()?))
    }

    /// The source whose current entry is the next one.
    #[inline(always)]
    fn next_source(&mut self) -> Result<&Source<'f, F>> {
        let MergeOf { sources, order, is_taken } = self;
        if *is_taken {
            let head = sources[order.winner()].advance()?;
            order.replay(head, |a, b| sources[a].is_less_beyond_head(&sources[b]));
        }
        *is_taken = true;
        Ok(&sources[order.winner()])
    }
}

impl MergeOf<'_, Headed> {
    /// The next entry; `None` at the end. Cost: log2(sources) comparisons, mostly of two numbers.
    ///
    /// # Errors
    /// [`crate::Error::TempFile`], [`trx::Error::Interrupted`].
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Result<Option<Entry<'_>>> {
        Ok(self.next_source()?.bytes().map(Entry::new))
    }
}

impl MergeOf<'_, ShortKeys> {
    /// How the keys are.
    pub(crate) fn keys(&self) -> ShortKeys {
        self.sources[0].form
    }

    /// The next key as a number, zero padded; `None` at the end. Cost: log2(sources) comparisons of two
    /// numbers.
    ///
    /// # Errors
    /// [`crate::Error::TempFile`], [`trx::Error::Interrupted`].
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Result<Option<u128>> {
        let source = self.next_source()?;
        let is_there = source.at < source.end;
        Ok(is_there.then(|| self.order.head()))
    }
}

/// The entries of an index in the order of their keys.
#[derive(Debug)]
pub(crate) enum Merge<'f> {
    Headed(MergeOf<'f, Headed>),
    Short(MergeOf<'f, ShortKeys>),
}

impl<'f> Merge<'f> {
    /// The entries of sorted blocks.
    pub(super) fn in_memory(layout: Layout, blocks: Vec<Vec<u8>>) -> Self {
        match layout {
            Layout::Headed => Merge::Headed(MergeOf::in_memory(Headed, blocks)),
            Layout::Short(keys) => Merge::Short(MergeOf::in_memory(keys, blocks)),
        }
    }

    /// The entries of runs.
    ///
    /// # Errors
    /// [`crate::Error::TempFile`], [`trx::Error::Interrupted`].
    pub(super) fn in_file(layout: Layout, runs: impl Iterator<Item = RunReader<'f>>) -> Result<Self> {
        Ok(match layout {
            Layout::Headed => Merge::Headed(MergeOf::in_file(Headed, runs)?),
            Layout::Short(keys) => Merge::Short(MergeOf::in_file(keys, runs)?),
        })
    }

    /// Those of an index whose entries have headers.
    pub(crate) fn headed(self) -> Option<MergeOf<'f, Headed>> {
        match self {
            Merge::Headed(merge) => Some(merge),
            Merge::Short(_) => None,
        }
    }

    /// The bytes of the next entry; `None` at the end.
    ///
    /// # Errors
    /// [`crate::Error::TempFile`], [`trx::Error::Interrupted`].
    #[inline]
    pub(super) fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        Ok(match self {
            Merge::Headed(merge) => merge.next_source()?.bytes(),
            Merge::Short(merge) => merge.next_source()?.bytes(),
        })
    }
}
