//! How a wait on a condition variable ended, the same in a model.

/// Whether a wait ended by its timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitResult(pub(super) bool);

impl WaitResult {
    /// Whether the time ran out.
    pub fn timed_out(self) -> bool {
        self.0
    }
}
