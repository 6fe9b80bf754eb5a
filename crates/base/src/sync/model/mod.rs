//! Models of the protocols, explored by the checker `loom`: compiled under `--cfg loom` only
//! (`cargo xtask loom`).
//!
//! [`explore`] runs a few threads in every order, up to a number of preemptions, and with every value that
//! the memory model lets a load return. What runs are the real functions: their atomics, mutexes and parking
//! come through [`super::atomic`], [`super::plain`] and [`super::park`], and here those are the checker's.
//!
//! A model that cannot fail proves nothing. So each access whose ordering is stronger than Relaxed notes
//! where it is in the source, and each run can make one of them weaker ([`weakened`]); as can be planted
//! bugs ([`super::planted`]). `cargo xtask loom` tries them all and wants each to make a model fail.
//!
//! # What the checker does not know
//! - It knows no order among sequentially consistent accesses, and passes over some orders of threads:
//!   [`atomic`] adds both.
//! - Its sequentially consistent fences, and waking a parked thread, order more than the language promises.
//! - A compare-and-exchange that may fail without cause does not.

pub mod atomic;
pub(super) mod cell;
pub(super) mod park;
pub mod plain;

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::{Mutex, OnceLock};

pub use loom::cell::UnsafeCell;
pub use loom::thread::{JoinHandle, spawn, yield_now};

use super::atomic::Ordering;
use super::planted_bug::PlantedBug;

/// What one run does wrong on purpose, from the environment: `MODEL_WEAKEN=file:line:column=ordering`,
/// `MODEL_PLANT=name`.
#[derive(Debug, Default)]
struct Mistake {
    place: Option<(String, Ordering)>,
    bug: Option<String>,
}

/// What [`explore`] prints of what it came by, a line each.
static MET: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn mistake() -> &'static Mistake {
    static MISTAKE: OnceLock<Mistake> = OnceLock::new();
    MISTAKE.get_or_init(|| {
        let place = std::env::var("MODEL_WEAKEN").ok().map(|text| {
            let (place, ordering) = text.split_once('=').expect("a place and an ordering");
            (place.to_owned(), ordering_named(ordering))
        });
        Mistake { place, bug: std::env::var("MODEL_PLANT").ok() }
    })
}

fn ordering_named(name: &str) -> Ordering {
    match name {
        "Relaxed" => Ordering::Relaxed,
        "Acquire" => Ordering::Acquire,
        "Release" => Ordering::Release,
        "AcqRel" => Ordering::AcqRel,
        _ => panic!("no ordering that could be weaker: {name}"),
    }
}

fn note(line: impl FnOnce() -> String) {
    let mut met = MET.lock().expect("nothing panics while it is held");
    met.insert(line());
}

/// Whether this run has the planted bug.
pub(super) fn planted(bug: PlantedBug) -> bool {
    note(|| format!("bug {bug:?}"));
    mistake().bug.as_ref().is_some_and(|planted| *planted == format!("{bug:?}"))
}

/// The ordering that the access at `place` has in this run.
fn weakened(ordering: Ordering, place: &'static Location<'static>) -> Ordering {
    if ordering == Ordering::Relaxed {
        return ordering;
    }
    note(|| format!("place {place} {ordering:?}"));
    match &mistake().place {
        Some((at, weaker)) if *at == place.to_string() => *weaker,
        _ => ordering,
    }
}

/// Explores `model` with at most `preemptions` switches away from a thread that could continue, and prints
/// how many executions that took and which places it came by. `MODEL_PREEMPTIONS` adds to them.
///
/// # Panics
/// When an assertion of an execution fails, when two accesses to plain memory race, or when no thread can
/// run.
pub fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let more = std::env::var("MODEL_PREEMPTIONS").map_or(0, |more| more.parse().expect("a number"));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions + more);
    builder.max_branches = 20_000;
    let executions = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&executions);
    builder.check(move || {
        park::forget_all();
        count.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let mut met = MET.lock().expect("nothing panics while it is held");
    println!("executions {}", executions.load(Ordering::Relaxed));
    for line in std::mem::take(&mut *met) {
        println!("{line}");
    }
}
