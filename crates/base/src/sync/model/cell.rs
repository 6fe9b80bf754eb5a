//! Bytes whose accesses the checker follows.

use loom::cell::UnsafeCell;

/// One cell a byte.
#[derive(Debug)]
pub(crate) struct Cells(Box<[UnsafeCell<()>]>);

impl Cells {
    pub(crate) fn new(bytes: usize) -> Self {
        Cells((0..bytes).map(|_| UnsafeCell::new(())).collect())
    }

    #[track_caller]
    pub(crate) fn read(&self, at: usize, bytes: usize) {
        self.0[at..at + bytes].iter().for_each(|cell| cell.with(|_| ()));
    }

    #[track_caller]
    pub(crate) fn write(&self, at: usize, bytes: usize) {
        self.0[at..at + bytes].iter().for_each(|cell| cell.with_mut(|_| ()));
    }
}
