//! Simulations: threads, time and randomness that one seed decides, to be used with a [`crate::SimDisk`].
//!
//! Inside of [`simulate`], [`crate::spawn`] starts simulated threads (`base::sync::sim`), clocks show
//! simulated time, [`crate::random_bytes`] draws from the seed, and a disk whose power goes off ends the
//! simulation on the spot. Threads started in any other way must not meet the simulated ones.

use std::time::Instant;

use base::sync::PlantedBug;
use base::sync::sim::{ENABLED, End, Scheduler, SimOptions, Trace};

use crate::thread::spawn_member;

/// How a simulation came out.
#[derive(Debug)]
pub struct Simulated<T> {
    /// What `main` returned; `None` if the power went off before, or the process ended
    /// ([`crate::end_process`]).
    pub result: Option<T>,
    /// Why the process ended, if it did.
    pub stopped: Option<String>,
    /// The trace of the threads; the same for the same seed.
    pub trace: Trace,
}

/// [`simulate_with`] no planted bug.
///
/// # Panics
/// As that does.
pub fn simulate<T: Send + 'static>(
    seed: u64,
    steps_max: u64,
    main: impl FnOnce() -> T + Send + 'static,
) -> Simulated<T> {
    simulate_with(seed, steps_max, None, main)
}

/// Runs `main` as the first thread of a simulation that `seed` decides, and returns when it has ended.
/// Threads that are left then never run again; what they hold is not freed. All of them make the `planted`
/// mistake.
///
/// # Panics
/// If a thread of the simulation panics, none can run, or after `steps_max` steps. If threads cannot be
/// simulated (`base::sync::sim::ENABLED`).
#[expect(clippy::assertions_on_constants, reason = "the constant differs between builds")]
pub fn simulate_with<T: Send + 'static>(
    seed: u64,
    steps_max: u64,
    planted: Option<PlantedBug>,
    main: impl FnOnce() -> T + Send + 'static,
) -> Simulated<T> {
    assert!(ENABLED, "threads can be simulated where debug assertions are on");
    let scheduler = Scheduler::new(SimOptions { seed, steps_max, epoch: Instant::now(), planted });
    let first = Scheduler::register(&scheduler, "main");
    let thread = spawn_member("main", Some(first), main).expect("a thread can be started");
    let (end, trace) = scheduler.wait();
    let (result, stopped) = match end {
        End::Returned => (thread.join(), None),
        End::Halted => (None, None),
        End::Stopped(why) => (None, Some(why)),
        End::Panicked => panic!("simulation {seed}: a thread panicked"),
        End::Stuck(why) => panic!("simulation {seed}: {why}"),
    };
    Simulated { result, stopped, trace }
}

#[cfg(all(test, debug_assertions))]
mod tests;
