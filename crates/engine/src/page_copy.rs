//! Copies of leaves, which scans and lookups keep: memory that a thread uses again and again.

use std::cell::Cell;

use page::{PAGE_SIZE, PageBytes};

thread_local! {
    /// The page buffer that this thread freed last.
    static SPARE: Cell<Option<Box<PageBytes>>> = const { Cell::new(None) };
}

/// Memory for a page, once it is needed.
#[derive(Debug, Default)]
pub(crate) struct PageCopy(Option<Box<PageBytes>>);

impl PageCopy {
    /// The page that was put there last; `None`: the memory was not needed so far.
    #[inline]
    pub(crate) fn get(&self) -> Option<&PageBytes> {
        self.0.as_deref()
    }

    /// The memory, with unspecified contents until the first write. Cost the first time: none if the thread
    /// has freed some before, else a cleared allocation.
    #[inline]
    pub(crate) fn get_or_make(&mut self) -> &mut PageBytes {
        self.0.get_or_insert_with(make)
    }
}

#[cold]
fn make() -> Box<PageBytes> {
    let spare = SPARE.try_with(Cell::take).ok().flatten();
    spare.unwrap_or_else(|| Box::new([0; PAGE_SIZE]))
}

impl Drop for PageCopy {
    #[inline]
    fn drop(&mut self) {
        if let Some(page) = self.0.take() {
            give_up(page);
        }
    }
}

#[cold]
fn give_up(page: Box<PageBytes>) {
    // At the end of the thread there is no place for it.
    let _ = SPARE.try_with(|spare| spare.set(Some(page)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_uses_the_memory_again_that_it_gave_up_last() {
        let place = |copy: &mut PageCopy| copy.get_or_make().as_ptr().addr();
        let (mut first, mut second) = (PageCopy::default(), PageCopy::default());
        assert!(first.get().is_none(), "nothing is needed so far");
        let (one, other) = (place(&mut first), place(&mut second));
        assert_ne!(one, other);
        drop(first);
        drop(second);
        let mut again = PageCopy::default();
        assert_eq!(place(&mut again), other);
        assert_ne!(place(&mut PageCopy::default()), other, "it is in use");
    }
}
