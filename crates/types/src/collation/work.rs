//! Looks at the interrupt flag in loops over characters.

use base::sync::interrupt;

/// Characters compared between two checks whether the statement is to end.
const WORK_BETWEEN_LOOKS: usize = 1 << 15;

/// Counts compared characters.
#[derive(Default)]
pub(super) struct Work(usize);

impl Work {
    /// Counts `characters` that are to be compared; now and then, whether that is to end instead.
    #[inline]
    pub(super) fn ends(&mut self, characters: usize) -> bool {
        self.0 += characters;
        self.0 >= WORK_BETWEEN_LOOKS && self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        self.0 = 0;
        interrupt::is_requested()
    }
}
