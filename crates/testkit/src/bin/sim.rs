//! `sim [--seeds N] [--seed S] [--planted N]`: the seeds kept in `tests/sim/seeds`, then N simulations from
//! seed S on (100 from 0). A seed that fails is named and kept. With `--planted` each planted bug instead,
//! until a seed finds it.
//!
//! Simulations that end in a power failure leave threads that never run again, so children do the work, a few
//! seeds each.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use base::sync::PlantedBug;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use testkit::flags;
use testkit::sim::{Coverage, run};

const USAGE: &str = "usage: sim [--seeds N] [--seed S] [--planted N]";

/// The seeds that have failed once.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/sim/seeds");

/// Seeds a child.
const SEEDS_EACH: u64 = 20;

/// From this number of seeds on, every event must have occurred.
const COMPLETE: u64 = 1000;

/// Every round has its own engine: a child asks the kernel for the memory of the first and uses it for all.
const KEEP_MEMORY: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_MMAP_THRESHOLD_", "1073741824"),
    ("MALLOC_TRIM_THRESHOLD_", "1073741824"),
];

/// What a child says before a seed, of a seed that failed, and at its end.
const BEGINS: &str = "begins ";
const FAILED: &str = "failed ";
const CAME_TO: &str = "came to ";

fn main() -> ExitCode {
    flags::ending(work())
}

fn work() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (mut seeds, mut first, mut planted, mut child, mut bug) = (100, 0, 0, 0, 0);
    let mut known = [
        ("--seeds", &mut seeds),
        ("--seed", &mut first),
        ("--planted", &mut planted),
        ("--child", &mut child),
        ("--bug", &mut bug),
    ];
    flags::numbers(&args, &mut known).ok_or(USAGE)?;
    if child > 0 {
        be_child(first, seeds, PlantedBug::ALL.get(bug.wrapping_sub(1) as usize).copied());
        return Ok(());
    }
    if planted > 0 {
        return find_planted(planted);
    }
    let kept = kept()?;
    let outcome = Outcome::default();
    for &seed in &kept {
        outcome.run(seed, 1)?;
    }
    outcome.run_all(first, seeds)?;
    outcome.report(seeds, &kept)
}

/// Runs seeds and says how it went, a line each.
fn be_child(first: u64, seeds: u64, planted: Option<PlantedBug>) {
    let mut total = Coverage::default();
    for seed in first..first + seeds {
        println!("{BEGINS}{seed}");
        match run(seed, planted) {
            Ok(one) => total.merge(&one),
            Err(error) => {
                println!("{FAILED}{seed} {}", error.replace('\n', " "));
                if planted.is_some() {
                    return;
                }
            }
        }
    }
    println!("{CAME_TO}{}", total.line());
}

/// What a child has said.
struct Said {
    coverage: Option<Coverage>,
    failed: Vec<(u64, String)>,
    /// The seed at which it broke off, if it did.
    broke_off: Option<u64>,
}

fn child(first: u64, seeds: u64, bug: usize) -> Result<Said, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(&program);
    let numbers = [first, seeds, bug as u64].map(|number| number.to_string());
    command.args(["--child", "1", "--seed", &numbers[0], "--seeds", &numbers[1], "--bug", &numbers[2]]);
    command.envs(KEEP_MEMORY);
    // What a planted bug panics with is nobody's concern.
    let errors = if bug > 0 { Stdio::null() } else { Stdio::inherit() };
    let output = command.stdin(Stdio::null()).stderr(errors).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = |word: &'static str| text.lines().filter_map(move |line| line.strip_prefix(word));
    let number = |line: &str| line.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(first);
    let failed = lines(FAILED).map(|line| (number(line), line.to_owned())).collect();
    let broke_off = if output.status.success() { None } else { lines(BEGINS).next_back().map(number) };
    Ok(Said { coverage: lines(CAME_TO).next().and_then(Coverage::parse), failed, broke_off })
}

/// What came of all seeds so far.
#[derive(Default)]
struct Outcome {
    coverage: Mutex<Coverage>,
    failed: Mutex<Vec<(u64, String)>>,
}

impl Outcome {
    /// Runs seeds in a child, or several if one breaks off.
    fn run(&self, mut first: u64, seeds: u64) -> Result<(), String> {
        let end = first + seeds;
        while first < end {
            let said = child(first, end - first, 0)?;
            let mut failed = self.failed.lock().map_err(|e| e.to_string())?;
            for (seed, message) in &said.failed {
                println!("seed {seed} failed: {message}");
            }
            failed.extend(said.failed);
            let total = &mut *self.coverage.lock().map_err(|e| e.to_string())?;
            said.coverage.iter().for_each(|coverage| total.merge(coverage));
            let Some(seed) = said.broke_off else { break };
            println!("seed {seed} failed: its process has ended");
            failed.push((seed, "its process has ended".to_owned()));
            first = seed + 1;
        }
        Ok(())
    }

    /// Runs seeds in as many children at once as the machine has processors.
    fn run_all(&self, first: u64, seeds: u64) -> Result<(), String> {
        let next = AtomicU64::new(first);
        let end = first + seeds;
        let work = |processor| {
            stay_on(processor);
            loop {
                let from = next.fetch_add(SEEDS_EACH, Ordering::Relaxed);
                if from >= end {
                    return Ok(());
                }
                self.run(from, SEEDS_EACH.min(end - from))?;
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..env::processors()).map(|processor| scope.spawn(move || work(processor))).collect();
            workers
                .into_iter()
                .try_for_each(|worker| worker.join().map_err(|_| "a worker panicked".to_owned())?)
        })
    }

    /// Prints what happened, keeps seeds that failed, and fails if any has or something never happened.
    fn report(self, seeds: u64, kept: &BTreeSet<u64>) -> Result<(), String> {
        let coverage = self.coverage.into_inner().map_err(|e| e.to_string())?;
        let failed = self.failed.into_inner().map_err(|e| e.to_string())?;
        println!("{seeds} seeds:\n{coverage}");
        let new: BTreeSet<u64> =
            failed.iter().map(|(seed, _)| *seed).filter(|seed| !kept.contains(seed)).collect();
        keep(&new)?;
        for (seed, _) in &failed {
            println!("to run seed {seed} again: cargo xtask sim --seeds 1 --seed {seed}");
        }
        let missing = coverage.missing();
        if !failed.is_empty() {
            return Err(format!("{} seeds have failed", failed.len()));
        }
        if seeds >= COMPLETE && !missing.is_empty() {
            return Err(format!("{seeds} seeds never came to: {}", missing.join(", ")));
        }
        Ok(())
    }
}

/// Keeps this thread and its children on one processor, if the machine lets it: of a simulation's threads one
/// runs at a time, and to wake the next costs less there.
fn stay_on(processor: usize) {
    let allowed = sched_getaffinity(None).unwrap_or_default();
    let mut one = CpuSet::new();
    if let Some(id) = (0..CpuSet::MAX_CPU).filter(|id| allowed.is_set(*id)).nth(processor) {
        one.set(id);
        let _ = sched_setaffinity(None, &one);
    }
}

/// The seeds that have failed once.
fn kept() -> Result<BTreeSet<u64>, String> {
    let text = fs::read_to_string(KEPT).map_err(|error| format!("{KEPT}: {error}"))?;
    Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
}

/// Adds seeds to those kept.
fn keep(new: &BTreeSet<u64>) -> Result<(), String> {
    let mut text = fs::read_to_string(KEPT).map_err(|error| format!("{KEPT}: {error}"))?;
    for seed in new {
        text.push_str(&format!("{seed}\n"));
    }
    if new.is_empty() { Ok(()) } else { fs::write(KEPT, text).map_err(|error| format!("{KEPT}: {error}")) }
}

/// Looks for each planted bug in up to `seeds` seeds.
fn find_planted(seeds: u64) -> Result<(), String> {
    let mut missed = Vec::new();
    for (at, bug) in PlantedBug::ALL.iter().enumerate() {
        let mut found = None;
        for first in (0..seeds).step_by(SEEDS_EACH as usize) {
            let said = child(first, SEEDS_EACH.min(seeds - first), at + 1)?;
            let broke_off = said.broke_off.map(|seed| (seed, format!("{seed} its process has ended")));
            found = said.failed.into_iter().next().or(broke_off);
            if found.is_some() {
                break;
            }
        }
        match found {
            Some((_, message)) => println!("{bug:?} is found by seed {message:.300}"),
            None => missed.push(format!("{bug:?}")),
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("not found by {seeds} seeds: {}", missed.join(", "))) }
}
