//! Running the matrix.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::cell::{Bench, stop_flag};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::journal::{Cell, Figures, Header, Journal, Outcome, RowKey};
use crate::machine::today;
use crate::process;
use crate::progress::Progress;
use crate::report;
use crate::stats::Random;
use crate::sysbench;
use crate::tables;
use crate::target::Target;
use crate::verify;
use crate::workload::{Data, Kind, Workload};

/// Rounds without which a row cannot be compared.
const ROUNDS_MIN: usize = 3;
/// Blocks of rounds in each of the two stages.
const BLOCKS: usize = 5;
/// Share of the time left that the first rounds may take; the rest is for rows that look different.
const FIRST_SHARE: f64 = 0.6;

/// Measures all that is not in the journal yet, in the time that the configuration gives. What is measured
/// when Ctrl-C comes is kept; the error says so.
pub fn run(config: &Config) -> Result<Journal> {
    let mut run = Matrix::begin(config, stop_flag()?)?;
    let outcome = run.measure_all();
    for target in run.targets.values() {
        target.leave();
    }
    run.progress.finish();
    outcome.map(|()| run.journal)
}

struct Matrix<'a> {
    config: &'a Config,
    /// Those that answer, by name.
    targets: HashMap<String, Target>,
    /// Why others have no numbers.
    down: HashMap<String, String>,
    /// Targets whose answers to a workload are not the base's.
    wrong: HashMap<(String, String), String>,
    journal: Journal,
    bench: Bench<'a>,
    progress: Progress,
    random: Random,
    /// Whether a write workload has run on the tables that are there.
    is_written: bool,
    /// When all is to be over.
    end: Option<Instant>,
    /// What a row of a block took lately.
    row_time: Duration,
}

impl<'a> Matrix<'a> {
    fn begin(config: &'a Config, stop: Arc<AtomicBool>) -> Result<Matrix<'a>> {
        sysbench::look_for()?;
        let end = config.run.budget_seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let (mut targets, mut down, mut versions) = (HashMap::new(), HashMap::new(), Vec::new());
        for target in &config.targets {
            match Target::reach(target) {
                Ok(reached) => {
                    versions.push(reached.version.clone());
                    targets.insert(target.name.clone(), reached);
                }
                // Without the base there is nothing to compare to, and a bad address is a mistake of the
                // configuration.
                Err(error) if target.name == config.targets[0].name || matches!(error, Error::Config(_)) => {
                    return Err(error);
                }
                Err(error) => {
                    eprintln!("lab: {error}");
                    versions.push(String::new());
                    down.insert(target.name.clone(), error.to_string());
                }
            }
        }
        let journal = Journal::open(&config.run.out, Header::new(config, versions, today()))?;
        let bench = Bench::new(&config.run, stop)?;
        Ok(Matrix {
            config,
            targets,
            down,
            wrong: HashMap::new(),
            journal,
            bench,
            progress: Progress::new("cells", end),
            random: Random(config.run.seed),
            is_written: false,
            end,
            row_time: Duration::ZERO,
        })
    }

    fn measure_all(&mut self) -> Result<()> {
        if self.config.run.realtime {
            // Among what it measures, not above it: it reads the clock and at /proc when a second is over.
            process::make_realtime(std::process::id())?;
        }
        let (first, fresh) = (self.config.run.repetitions, self.config.run.confirmations);
        self.measure_rounds(0..first, None, FIRST_SHARE)?;
        let unsure = report::unsure(&self.journal.header, &self.journal.cells);
        self.measure_rounds(first..first + fresh, Some(&unsure), 1.0)
    }

    /// Measures these rounds of all rows or of some, as far as they are not in the journal, in this share of
    /// the time left. Each block of rounds begins with servers that are started and tables that are loaded
    /// again: what one start and one load happen to be like is not taken for a difference.
    fn measure_rounds(&mut self, rounds: Range<usize>, chosen: Option<&[RowKey]>, share: f64) -> Result<()> {
        let mut rows = self.pending_rows(rounds.clone(), chosen);
        self.progress.expect(rows.iter().map(|(_, key)| self.missing(key, rounds.clone())).sum());
        let end = self.end.map(|end| Instant::now() + time_until(end).mul_f64(share));
        let size = rounds.len().div_ceil(BLOCKS).max(1);
        let (mut done, mut took) = (0, Duration::ZERO);
        for begin in rounds.clone().step_by(size) {
            let block = begin..rounds.end.min(begin + size);
            rows.retain(|(_, key)| self.missing(key, block.start..rounds.end) > 0);
            if rows.is_empty() || rows.iter().all(|(_, key)| self.missing(key, block.clone()) == 0) {
                continue;
            }
            if done >= ROUNDS_MIN && end.is_some_and(|end| took > time_until(end)) {
                let left = rows.iter().map(|(_, key)| self.missing(key, block.start..rounds.end)).sum();
                self.progress.drop_steps(left);
                break;
            }
            let began = Instant::now();
            // What is left for it in which all rows have rounds enough.
            let blocks = ROUNDS_MIN.saturating_sub(done).div_ceil(block.len()).max(1) as u32;
            let block_end = end.filter(|_| done == 0).map(|end| began + time_until(end) / blocks);
            let measured = self.measure_block(&rows, block.clone(), done == 0, block_end)?;
            self.leave_out(rows.split_off(measured), block.start..rounds.end);
            (done, took) = (done + block.len(), began.elapsed());
        }
        Ok(())
    }

    /// Reports rows without time to measure them.
    fn leave_out(&mut self, rows: Vec<(Workload, RowKey)>, rounds: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        self.progress.drop_steps(rows.iter().map(|(_, key)| self.missing(key, rounds.clone())).sum());
        let names = rows.iter().map(|(_, key)| &key.workload[..]).collect::<Vec<_>>().join(", ");
        self.progress.note(&format!("no time was left for {names}; the same call measures on"));
    }

    /// Measures a block of rounds, row by row; returns how many rows were measured in time.
    fn measure_block(
        &mut self,
        rows: &[(Workload, RowKey)],
        rounds: Range<usize>,
        is_first: bool,
        end: Option<Instant>,
    ) -> Result<usize> {
        if !is_first {
            self.start_again()?;
        }
        self.load_all(rows)?;
        if is_first {
            self.look_for_wrong_answers(rows)?;
        }
        for (at, (workload, key)) in rows.iter().enumerate() {
            if at > 0 && end.is_some_and(|end| self.row_time > time_until(end)) {
                return Ok(at);
            }
            if self.missing(key, rounds.clone()) == 0 {
                continue;
            }
            if workload.reads_written_tables() && !self.is_written {
                self.write_again()?;
            }
            let began = Instant::now();
            for round in rounds.clone() {
                self.measure_round(workload, key, round)?;
                self.is_written =
                    workload.kind == Kind::Write || (self.is_written && workload.kind == Kind::Read);
            }
            self.row_time = began.elapsed();
        }
        Ok(rows.len())
    }

    /// Stops and starts the servers that were started here. One that does not come back is out.
    fn start_again(&mut self) -> Result<()> {
        for config in &self.config.targets {
            self.bench.check_stop()?;
            let Some(target) = self.targets.get_mut(&config.name) else { continue };
            self.progress.tell(&format!("starting {} again", config.name));
            if let Err(error) = target.start_again() {
                self.progress.note(&format!("{}: {error}", config.name));
                self.down.insert(config.name.clone(), error.to_string());
            }
        }
        Ok(())
    }

    /// Runs every write workload once on each target, unmeasured: those measured before wrote to tables that
    /// are gone.
    fn write_again(&mut self) -> Result<()> {
        let threads = self.config.run.threads.iter().copied().max().unwrap_or(1);
        let setting = self.config.setting_names(Kind::Write).swap_remove(0);
        for workload in self.config.workloads().iter().filter(|w| w.kind == Kind::Write) {
            let key = RowKey { workload: workload.name.clone(), threads, setting: setting.clone() };
            for target in &self.config.targets {
                let name = &target.name;
                if target.replays.is_some() || self.reason_against(workload, name).is_some() {
                    continue;
                }
                self.progress.tell(&format!("writing again: {}, {name}", workload.name));
                match self.measure(workload, &key, name) {
                    Ok(_) => {}
                    Err(Error::Interrupted) => return Err(Error::Interrupted),
                    Err(error) => self.progress.note(&format!("{}: {name}: {error}", workload.name)),
                }
            }
        }
        self.is_written = true;
        Ok(())
    }

    /// Cells of a row that are not in the journal.
    fn missing(&self, key: &RowKey, rounds: Range<usize>) -> usize {
        let cells = rounds.flat_map(|round| self.config.targets.iter().map(move |t| (round, &t.name)));
        cells.filter(|(round, name)| !self.journal.has(key, *round, name)).count()
    }

    /// Rows with a cell missing in these rounds; of `chosen` ones, if any are named.
    fn pending_rows(&self, rounds: Range<usize>, chosen: Option<&[RowKey]>) -> Vec<(Workload, RowKey)> {
        let mut rows = Vec::new();
        for workload in self.config.workloads() {
            for setting in self.config.setting_names(workload.kind) {
                for &threads in &self.config.run.threads {
                    let key = RowKey { workload: workload.name.clone(), threads, setting: setting.clone() };
                    let is_chosen = chosen.is_none_or(|chosen| chosen.contains(&key));
                    if is_chosen && self.missing(&key, rounds.clone()) > 0 {
                        rows.push((workload.clone(), key));
                    }
                }
            }
        }
        rows
    }

    /// Makes the tables of these rows again on all targets. One that cannot is out.
    fn load_all(&mut self, rows: &[(Workload, RowKey)]) -> Result<()> {
        self.is_written = false;
        for config in &self.config.targets {
            let name = &config.name;
            self.bench.check_stop()?;
            self.awake_only(name);
            if config.replays.is_some() || self.down.contains_key(name) {
                continue;
            }
            let loaded = self.load(name);
            if let Some(why) = self.reason_not_loaded(name, loaded)? {
                self.down.insert(name.clone(), why);
                continue;
            }
            for data in [Data::Employees, Data::Groups] {
                let mut readers = rows.iter().map(|(w, _)| w).filter(|w| w.data == data).peekable();
                if readers.peek().is_none() {
                    continue;
                }
                self.progress.tell(&format!("loading {name}, {data:?}"));
                let bench = &self.bench;
                let target = &self.targets[name];
                let loaded = tables::load_data(target, &self.config.run, data, &mut || bench.check_stop());
                if let Some(why) = self.reason_not_loaded(name, loaded)? {
                    self.wrong.extend(readers.map(|w| ((w.name.clone(), name.clone()), why.clone())));
                }
            }
        }
        Ok(())
    }

    fn load(&mut self, name: &str) -> Result<()> {
        let (progress, bench) = (&mut self.progress, &self.bench);
        tables::load(&self.targets[name], &self.config.run, &mut |percent| {
            progress.tell(&format!("loading {name}, {percent} %"));
            bench.check_stop()
        })
    }

    /// None: it is loaded.
    fn reason_not_loaded(&self, name: &str, loaded: Result<()>) -> Result<Option<String>> {
        match loaded {
            Ok(()) => Ok(None),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) => {
                let why = format!("the tables cannot be loaded: {error}");
                self.progress.note(&format!("{name}: {why}"));
                Ok(Some(why))
            }
        }
    }

    /// Asks every target what it answers to each read workload, before anything is changed.
    fn look_for_wrong_answers(&mut self, rows: &[(Workload, RowKey)]) -> Result<()> {
        self.awake_all();
        let comparable = |t: &&Target| t.config.replays.is_none() && !self.down.contains_key(&t.config.name);
        let base = &self.config.targets[0].name;
        let mut targets: Vec<&Target> = self.targets.values().filter(comparable).collect();
        targets.sort_by_key(|t| (t.config.name != *base, t.config.name.clone()));
        let mut asked = HashSet::new();
        let mut wrong = Vec::new();
        for (workload, _) in rows {
            if asked.insert(&workload.name) {
                self.progress.tell(&format!("comparing answers: {}", workload.name));
                let queries = verify::queries(workload, self.config.run.tables, self.config.run.table_rows);
                for (name, why) in verify::differences(&targets, &self.config.run.database, &queries) {
                    self.progress.note(&format!("{}: {name}: {why}", workload.name));
                    wrong.push(((workload.name.clone(), name), why));
                }
                self.bench.check_stop()?;
            }
        }
        self.wrong.extend(wrong);
        Ok(())
    }

    fn measure_round(&mut self, workload: &Workload, key: &RowKey, round: usize) -> Result<()> {
        let mut names: Vec<String> = self.config.targets.iter().map(|t| t.name.clone()).collect();
        self.random.shuffle(&mut names);
        names.retain(|name| !self.journal.has(key, round, name));
        for name in names {
            let setting = if key.setting.is_empty() { String::new() } else { format!(", {}", key.setting) };
            let text = format!("{}, {} threads{setting}: {name}", key.workload, key.threads);
            self.progress.tell(&text);
            let outcome = match self.reason_against(workload, &name) {
                Some(reason) => Outcome::Failed(reason),
                None => match self.measure(workload, key, &name) {
                    Ok(figures) => Outcome::Measured(Box::new(figures)),
                    Err(Error::Interrupted) => return Err(Error::Interrupted),
                    Err(error) => {
                        self.progress.note(&format!("{}: {name}: {error}", key.workload));
                        self.targets.get_mut(&name).map(Target::look_for_process);
                        Outcome::Failed(error.to_string())
                    }
                },
            };
            self.journal.add(Cell { row: key.clone(), round, target: name, outcome })?;
            self.progress.step();
            self.bench.check_stop()?;
        }
        Ok(())
    }

    fn reason_against(&self, workload: &Workload, name: &str) -> Option<String> {
        let wrong = self.wrong.get(&(workload.name.clone(), name.to_owned()));
        wrong.or_else(|| self.down.get(name)).cloned()
    }

    fn measure(&self, workload: &Workload, key: &RowKey, name: &str) -> Result<Figures> {
        let Some(target) = self.targets.get(name) else {
            return Err(Error::Server { target: name.to_owned(), what: "is down".to_owned() });
        };
        self.awake_only(name);
        let setting = self.config.settings.iter().find(|s| s.name == key.setting);
        self.bench.measure(target, workload, key.threads, setting)
    }

    /// Lets run only the processes that this target's measurement needs.
    fn awake_only(&self, name: &str) {
        if !self.config.run.pause_others {
            return;
        }
        let behind = self.targets.get(name).and_then(|t| t.config.replays.as_deref());
        for (other, target) in &self.targets {
            if let Some(pid) = target.pid {
                process::set_paused(pid, other != name && Some(&other[..]) != behind);
            }
        }
    }

    fn awake_all(&self) {
        for pid in self.targets.values().filter_map(|t| t.pid) {
            process::set_paused(pid, false);
        }
    }
}

fn time_until(end: Instant) -> Duration {
    end.saturating_duration_since(Instant::now())
}
