//! Planted bugs: mistakes that a simulation can be asked to make, to show that it would find them if they
//! were real.
//!
//! The place that has to do the right thing asks [`planted`] and does the wrong one instead. That is a
//! constant `false` where threads cannot be simulated, so release builds have nothing of it; elsewhere it is
//! a property of the simulation that the thread belongs to, and of nothing else.

use super::planted_bug::PlantedBug;
use super::sim;

/// Whether the calling thread's simulation, or the model that it belongs to, has this mistake. Cost: none
/// where threads cannot be simulated.
#[inline(always)]
pub fn planted(bug: PlantedBug) -> bool {
    #[cfg(loom)]
    if super::model::planted(bug) {
        return true;
    }
    sim::ENABLED && sim::planted_bug() == Some(bug)
}
