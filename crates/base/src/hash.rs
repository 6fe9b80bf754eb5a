//! The hash function of tables whose keys clients choose: seeded once per process.
//!
//! A server draws the seed from the operating system's randomness before it serves clients. Simulations and
//! the instruction ledger set a seed of theirs, so that runs are alike. No answer depends on it.

use std::sync::OnceLock;

use foldhash::SharedSeed;
pub use foldhash::fast::SeedableRandomState as HashState;

static SEED: OnceLock<SharedSeed> = OnceLock::new();

/// Seed of processes that set none: tests and tools.
static UNSET: SharedSeed = SharedSeed::from_u64(0x5261_7463_6865_7401);

/// Sets the process's seed; false if it was set before, which stays.
pub fn set_seed(seed: u64) -> bool {
    SEED.set(SharedSeed::from_u64(seed)).is_ok()
}

/// A state of the hash function with the process's seed: equal keys have equal hashes as long as the process
/// runs, once the seed is set. Cost: two loads.
#[inline]
pub fn state() -> HashState {
    HashState::with_seed(0, SEED.get().unwrap_or(&UNSET))
}
