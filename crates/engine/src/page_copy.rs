//! Copies of leaves, which scans and lookups keep: memory that a thread uses again and again.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

use page::{PAGE_SIZE, PageBytes};

thread_local! {
    /// The copy that this thread has given up last.
    static SPARE: Cell<Option<Box<PageBytes>>> = const { Cell::new(None) };
}

/// Memory for a page, whose contents mean nothing until there is one. Cost: none where the thread has given
/// one up before, else an allocation, which is cleared.
#[derive(Debug)]
pub(crate) struct PageCopy {
    /// `None` once it is given up.
    page: Option<Box<PageBytes>>,
}

impl PageCopy {
    pub(crate) fn new() -> Self {
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        PageCopy { page: Some(spare.unwrap_or_else(|| Box::new([0; PAGE_SIZE]))) }
    }
}

impl Deref for PageCopy {
    type Target = PageBytes;

    #[inline]
    fn deref(&self) -> &PageBytes {
        self.page.as_ref().expect("not given up")
    }
}

impl DerefMut for PageCopy {
    #[inline]
    fn deref_mut(&mut self) -> &mut PageBytes {
        self.page.as_mut().expect("not given up")
    }
}

impl Drop for PageCopy {
    fn drop(&mut self) {
        let page = self.page.take();
        // At the end of the thread there is no place for it.
        let _ = SPARE.try_with(|spare| spare.set(page));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_uses_the_copy_again_that_it_gave_up_last() {
        let place = |copy: &PageCopy| copy.as_ptr().addr();
        let (first, second) = (PageCopy::new(), PageCopy::new());
        let (one, other) = (place(&first), place(&second));
        assert_ne!(one, other);
        drop(first);
        drop(second);
        let again = PageCopy::new();
        assert_eq!(place(&again), other);
        assert_ne!(place(&PageCopy::new()), other, "it is in use");
    }
}
