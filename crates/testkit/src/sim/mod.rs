//! The whole engine in simulations, one a seed: several sessions on a simulated disk until something ends
//! them, a startup on what is left, a comparison with what was answered, and on from there, until enough was
//! done.
//!
//! ```text
//!  seed --> round: start (verify.rs) --> sessions (workload.rs) --> power failure, fault (faults.rs), kill or shutdown
//!             ^                                                                  |
//!             '---- disk as the machine finds it -------------------------------'
//!  at last: a damage of pages, if the seed wants one; else shutdown and a check of all files
//! ```
//! What must be found is in model.rs. Where the schedule, the faults and what survives come from:
//! docs/testing.md.

mod coverage;
mod definer;
mod extra;
mod faults;
mod model;
mod notes;
mod reader;
mod tables;
mod verify;
mod workload;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use base::prng::Prng;
use base::sync::{PlantedBug, sim};
use engine::{Engine, EngineConfig, LogConfig, StartupLog};
use env::{Disk, SimDisk, Simulated, simulate_with};

pub use coverage::{Coverage, Event};
use faults::Plan;
use notes::{Notes, Stop, lock};

const DATADIR: &str = "/data";

/// A simulation that continues for longer is stuck.
const STEPS_MAX: u64 = 3_000_000;

/// Every seed does at least so much.
const OPERATIONS_MIN: u64 = 500;

/// A seed whose rounds all end at once continues without faults.
const ROUNDS_WITH_FAULTS: u64 = 20;

/// Disk operations after which a fault has come to most rounds.
const SOON: u64 = 700;

/// Runs one seed of an engine that makes the `planted` mistake, if any.
///
/// # Errors
/// What was lost, does not agree, or panicked.
pub fn run(seed: u64, planted: Option<PlantedBug>) -> Result<Coverage, String> {
    let mut seed = Seed::new(seed, planted);
    let done = catch_unwind(AssertUnwindSafe(|| seed.work())).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        Err(message.unwrap_or_else(|| "a panic".to_owned()))
    });
    done.map_err(|error| format!("{error}; rounds: {}", seed.story.join(", ")))?;
    Ok(lock(&seed.notes).coverage.clone())
}

/// How an engine is started.
#[derive(Clone, Copy, Debug)]
struct Shape {
    frames: usize,
    log: LogConfig,
    background: bool,
    writers: u64,
    /// Bytes of undo in memory from which on it is swapped, also by recovery.
    undo_memory_bytes: u64,
}

impl Shape {
    fn draw(prng: &mut Prng, tight: bool, undo_memory_bytes: u64) -> Self {
        let pick = |prng: &mut Prng, of: [u64; 4]| of[prng.below(4) as usize];
        let log = LogConfig {
            capacity_bytes: pick(prng, if tight { [384, 512, 768, 1024] } else { [8192; 4] }) << 10,
            buffer_bytes: pick(prng, [4, 16, 64, 256]) as usize * 1024,
            file_bytes_min: 64 << 10,
        };
        Shape {
            frames: pick(prng, [32, 40, 64, 400]) as usize,
            log,
            background: true,
            writers: 1 + prng.below(writer::WRITERS_MAX),
            undo_memory_bytes,
        }
    }

    fn config(self, disk: &SimDisk, startup_log: Arc<dyn StartupLog>) -> EngineConfig {
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        EngineConfig {
            pool_bytes: self.frames << 14,
            background: self.background,
            log: self.log,
            startup_log,
            undo_memory_bytes: self.undo_memory_bytes as usize,
            ..EngineConfig::new(disk, DATADIR)
        }
    }
}

/// Counts starts that roll transactions back, and hears of damages.
#[derive(Clone)]
struct Listener(Notes);

/// How a round ended, for its story.
fn how_ended(ended: &Simulated<notes::Result<()>>, disk: &SimDisk) -> &'static str {
    match (&ended.result, &ended.stopped) {
        (Some(Ok(())), _) => "shut down",
        (Some(Err(_)), _) => "refused",
        (None, Some(_)) => "given up",
        (None, None) if disk.is_powered_off() => "powered off",
        (None, None) => "killed",
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

impl StartupLog for Listener {
    fn note(&self, line: &str) {
        let rolls_back = line.contains("rolling back");
        let mut shared = lock(&self.0);
        shared.coverage.add(Event::RolledBackAtStart, u64::from(rolls_back));
        shared.coverage.add(Event::UndoSetAside, u64::from(line.contains("recovery.undo")));
        shared.coverage.add(Event::SpillsRead, u64::from(line.contains("spilled undo of")));
        shared.damage_told |= line.contains("data.pages");
    }
}

/// How a round that nothing else ends is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Shutdown,
    Kill,
}

/// A seed under way.
struct Seed {
    number: u64,
    planted: Option<PlantedBug>,
    prng: Prng,
    disk: SimDisk,
    notes: Notes,
    /// Whether the log is short.
    tight: bool,
    /// As [`Shape::undo_memory_bytes`].
    undo_memory_bytes: u64,
    /// How each round went.
    story: Vec<String>,
}

impl Seed {
    fn new(number: u64, planted: Option<PlantedBug>) -> Self {
        let (mut prng, disk) = (Prng::new(number ^ 0x5eed), SimDisk::seeded(number));
        let tight = prng.below(2) == 0;
        let undo_memory_bytes =
            [u64::MAX, 128 << 10, 64 << 10, 0][Prng::new(number ^ 0x5a9).below(4) as usize];
        let (notes, story) = (Notes::default(), Vec::new());
        Seed { number, planted, prng, disk, notes, tight, undo_memory_bytes, story }
    }

    fn work(&mut self) -> Result<(), String> {
        let mut rounds = 0;
        while lock(&self.notes).coverage.of(Event::Operations) < OPERATIONS_MIN {
            let plan = if rounds < ROUNDS_WITH_FAULTS { Plan::draw(&mut self.prng) } else { Plan::Nothing };
            self.round(rounds, plan, OPERATIONS_MIN)?;
            rounds += 1;
        }
        if self.prng.below(4) == 0 { self.damage(rounds) } else { self.close(rounds) }
    }

    /// Starts, works and ends in one way or another. The disk is then as the next startup finds it.
    fn round(&mut self, number: u64, plan: Plan, operations: u64) -> Result<(), String> {
        let shape = Shape::draw(&mut self.prng, self.tight, self.undo_memory_bytes);
        let end = if self.prng.below(3) == 0 { End::Kill } else { End::Shutdown };
        let ended = self.simulate(number, shape, plan, operations, end);
        let was_off = self.disk.is_powered_off();
        self.disk.set_capacity(u64::MAX);
        let failed = |message: String| Err(format!("round {number}, {plan:?}, {shape:?}: {message}"));
        match (ended.result, ended.stopped) {
            (Some(Ok(())), _) => {
                self.disk = self.disk.crash();
                match self.check_closed() {
                    // The next startup purges what a full disk had no log for, and undoes what was not read
                    // back.
                    Err(error) if plan.leaves_work() && error.contains("not shut down cleanly") => {}
                    checked => {
                        lock(&self.notes).coverage.add(Event::CleanShutdowns, 1);
                        checked.or_else(failed)?;
                    }
                }
                return Ok(());
            }
            (Some(Err(Stop::Wrong(wrong))), _) => return failed(wrong),
            (Some(Err(Stop::Refused(error))), _) => self.refused(plan, &error.to_string()).or_else(failed)?,
            (None, Some(why)) => self.refused(plan, &why).or_else(failed)?,
            (None, None) => self.count_end(was_off),
        }
        // The end of a process alone leaves what was written; a machine may fail right after it.
        let keeps = !was_off && self.prng.below(2) == 0;
        self.disk = if keeps { self.disk.crash_keeping(|_, _| true) } else { self.disk.crash() };
        Ok(())
    }

    fn count_end(&self, was_off: bool) {
        let mut shared = lock(&self.notes);
        let event = match (was_off, shared.started) {
            (true, true) => Event::PowerFailures,
            (true, false) => Event::PowerFailuresAtStart,
            (false, _) => Event::Kills,
        };
        shared.coverage.add(event, 1);
    }

    /// The engine has given up with an error.
    fn refused(&self, plan: Plan, error: &str) -> Result<(), String> {
        let mut shared = lock(&self.notes);
        let at_start = !shared.started;
        shared.coverage.add(Event::RefusedStarts, u64::from(at_start));
        if plan.is_full_disk() && !at_start {
            return Err(format!("a full disk has ended the engine: {error}"));
        }
        if plan.has_come(&self.disk) {
            return Ok(());
        }
        Err(format!("an error without a cause: {error}"))
    }

    /// The simulation of a round.
    fn simulate(
        &mut self,
        number: u64,
        shape: Shape,
        plan: Plan,
        operations: u64,
        end: End,
    ) -> Simulated<notes::Result<()>> {
        let at_start = self.prng.below(4) == 0;
        let mut arming = Prng::new(self.prng.next_u64());
        {
            let mut shared = lock(&self.notes);
            shared.begin(operations, &self.disk);
        }
        if at_start {
            plan.arm(&self.disk, &mut arming, SOON / 4);
        }
        let (disk, notes) = (self.disk.clone(), Arc::clone(&self.notes));
        let seed = self.number.wrapping_add(number << 32);
        self.story.push(format!("{plan:?}{}", if at_start { " from the start on" } else { "" }));
        let ended = simulate_with(seed, STEPS_MAX, self.planted, move || {
            let engine = Engine::open(shape.config(&disk, Arc::new(Listener(Arc::clone(&notes)))))?;
            engine.set_undo_memory(shape.undo_memory_bytes);
            lock(&notes).engine = Arc::downgrade(&engine);
            verify::start(&engine, &notes)?;
            let checks_first = arming.below(2) == 0;
            if checks_first {
                verify::check(&engine)?;
            }
            let is_unfinished = engine.unfinished_transactions() > 0;
            {
                let mut shared = lock(&notes);
                shared.started = true;
                shared.coverage.add(Event::WorkBesideRollbacks, u64::from(is_unfinished));
            }
            if !at_start {
                plan.arm(&disk, &mut arming, SOON);
            }
            let worked = workload::work(&engine, &notes, shape.writers);
            lock(&notes).take_stats(&engine);
            worked?;
            if !checks_first {
                let checked = verify::check(&engine);
                // A read that went wrong is a finding.
                if !plan.has_come(&disk) {
                    checked?;
                }
            }
            if end == End::Kill {
                sim::halt();
            }
            Ok(engine.shutdown()?)
        });
        let mut shared = lock(&self.notes);
        if let Some(engine) = shared.engine.upgrade() {
            shared.take_stats(&engine);
            // Its threads stand still: nobody may wait for them.
            std::mem::forget(engine);
        }
        faults::count(plan, &self.disk, &mut shared.coverage);
        let how = how_ended(&ended, &self.disk);
        let when = if shared.started { "" } else { " at start" };
        self.story.extend([format!("{how}{when}")]);
        ended
    }

    /// A last round in which pages are damaged. Nothing wrong may be shown; what is damaged must be named.
    fn damage(&mut self, number: u64) -> Result<(), String> {
        let plan = Plan::draw_damage(&mut self.prng);
        let mut shape = Shape::draw(&mut self.prng, self.tight, self.undo_memory_bytes);
        // Many reads.
        shape.frames = 32;
        let operations = lock(&self.notes).coverage.of(Event::Operations) + 200;
        let ended = self.simulate(number, shape, plan, operations, End::Shutdown);
        let failed = |message: String| Err(format!("round {number}, {plan:?}, {shape:?}: {message}"));
        let error = match (ended.result, ended.stopped) {
            // A check of a table has met the page.
            (Some(Err(Stop::Wrong(wrong))), _) if wrong.contains("data.pages is corrupt") => Some(wrong),
            (Some(Err(Stop::Wrong(wrong))), _) => return failed(wrong),
            (Some(Err(Stop::Refused(error))), _) => Some(error.to_string()),
            (_, why) => why,
        };
        if let Some(error) = error {
            self.named(plan, &error).or_else(failed)?;
        }
        let happened = !self.disk.happened().is_empty();
        self.disk = self.disk.crash();
        if !happened {
            return self.close(number + 1);
        }
        let ended = self.simulate(number + 1, shape, Plan::Nothing, 0, End::Shutdown);
        let error = match (ended.result, ended.stopped) {
            (Some(Err(Stop::Wrong(wrong))), _)
                if !wrong.contains("data.pages") && !wrong.contains("page") =>
            {
                return failed(format!("after the damage: {wrong}"));
            }
            (Some(Err(Stop::Wrong(named))), _) => named,
            (Some(Err(Stop::Refused(error))), _) => error.to_string(),
            (_, Some(why)) => why,
            _ => return self.check_damaged(),
        };
        self.named(plan, &error).or_else(|error| failed(format!("after the damage: {error}")))
    }

    /// A directory with damaged pages was closed: what a check of it finds is named.
    fn check_damaged(&mut self) -> Result<(), String> {
        let findings = verify::check_closed(&self.disk.crash())?;
        lock(&self.notes).coverage.add(Event::DamageNamed, findings.len() as u64);
        Ok(())
    }

    /// A damage was found: its place must be told, by the error or, when a rollback that nobody waited for
    /// met it and others have waited for that one's locks, by the log.
    fn named(&self, plan: Plan, error: &str) -> Result<(), String> {
        if !error.contains("data.pages") && !lock(&self.notes).damage_told {
            return Err(format!("{plan:?} has no place: {error}"));
        }
        lock(&self.notes).coverage.add(Event::DamageNamed, 1);
        Ok(())
    }

    /// A last start and shutdown without faults, and a check of all files.
    fn close(&mut self, number: u64) -> Result<(), String> {
        let shape =
            Shape { background: false, ..Shape::draw(&mut self.prng, self.tight, self.undo_memory_bytes) };
        let ended = self.simulate(number, shape, Plan::Nothing, 0, End::Shutdown);
        match (ended.result, ended.stopped) {
            (Some(Ok(())), _) => {}
            (Some(Err(Stop::Wrong(wrong))), _) => return Err(format!("last start, {shape:?}: {wrong}")),
            (Some(Err(Stop::Refused(error))), _) => return Err(format!("last start, {shape:?}: {error}")),
            (None, why) => return Err(format!("last start, {shape:?}: {why:?}")),
        }
        self.disk = self.disk.crash();
        self.check_closed()
    }

    /// What a check of the files finds after a shutdown.
    fn check_closed(&self) -> Result<(), String> {
        let findings = verify::check_closed(&self.disk)?;
        if findings.is_empty() { Ok(()) } else { Err(format!("check of the closed files: {findings:?}")) }
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn what_was_answered_survives_what_seeds_do_to_it() {
        let mut total = Coverage::default();
        for seed in 0..6 {
            let one = run(seed, None).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert!(one.of(Event::Operations) >= OPERATIONS_MIN);
            total.merge(&one);
        }
        assert!(total.of(Event::PowerFailures) + total.of(Event::Kills) > 2, "{total}");
    }

    #[test]
    fn a_log_that_is_not_synced_is_found_out() {
        let found = (0..20).find(|seed| run(*seed, Some(PlantedBug::UnsyncedLog)).is_err());
        assert!(found.is_some());
    }

    #[test]
    fn one_seed_is_one_run() {
        assert_eq!(run(3, None), run(3, None));
    }
}
