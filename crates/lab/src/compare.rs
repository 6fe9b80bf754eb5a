//! Running the matrix.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use indicatif::{ProgressBar, ProgressStyle};

use crate::cell::{Bench, stop_flag};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::journal::{Cell, Figures, Header, Journal, Outcome, RowKey};
use crate::machine::today;
use crate::process;
use crate::report;
use crate::stats::Random;
use crate::tables;
use crate::target::Target;
use crate::verify;
use crate::workload::Workload;

/// Measures all that is not in the journal yet. What is measured when Ctrl-C comes is kept; the error says so.
pub fn run(config: &Config) -> Result<Journal> {
    let mut run = Matrix::begin(config, stop_flag()?)?;
    let outcome = run.measure_all();
    for target in run.targets.values() {
        target.leave();
    }
    run.progress.finish_and_clear();
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
    progress: ProgressBar,
    random: Random,
}

impl<'a> Matrix<'a> {
    fn begin(config: &'a Config, stop: Arc<AtomicBool>) -> Result<Matrix<'a>> {
        let (mut targets, mut down, mut versions) = (HashMap::new(), HashMap::new(), Vec::new());
        for target in &config.targets {
            match Target::reach(target) {
                Ok(reached) => {
                    versions.push(reached.version.clone());
                    targets.insert(target.name.clone(), reached);
                }
                // Without the base there is nothing to compare to, and a bad address is a mistake of the configuration.
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
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} cells, {eta} left: {msg}");
        let progress = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let random = Random(config.run.seed);
        Ok(Matrix { config, targets, down, wrong: HashMap::new(), journal, bench, progress, random })
    }

    fn measure_all(&mut self) -> Result<()> {
        if self.config.run.realtime {
            // Among what it measures, not above it: it looks at the clock and at /proc when a second is over.
            process::make_realtime(std::process::id())?;
        }
        let (first, fresh) = (self.config.run.repetitions, self.config.run.confirmations);
        self.measure_rows(&self.pending_rows(0..first, None), 0..first)?;
        let unsure = report::unsure(&self.journal.header, &self.journal.cells);
        let fresh = first..first + fresh;
        self.measure_rows(&self.pending_rows(fresh.clone(), Some(&unsure)), fresh)
    }

    /// Loads the tables and measures these rows, as far as they are not in the journal.
    fn measure_rows(&mut self, rows: &[(Workload, RowKey)], rounds: Range<usize>) -> Result<()> {
        self.progress.inc_length((rows.len() * rounds.len() * self.config.targets.len()) as u64);
        if rows.is_empty() {
            return Ok(());
        }
        self.load_all(&self.config.targets.iter().map(|t| t.name.clone()).collect::<Vec<_>>())?;
        self.look_for_wrong_answers(rows)?;
        for (workload, key) in rows {
            for round in rounds.clone() {
                self.measure_round(workload, key, round)?;
            }
        }
        Ok(())
    }

    /// Rows with a cell missing in these rounds; of `chosen` ones, if any are named.
    fn pending_rows(&self, rounds: Range<usize>, chosen: Option<&[RowKey]>) -> Vec<(Workload, RowKey)> {
        let mut rows = Vec::new();
        for workload in self.config.workloads() {
            for setting in self.config.setting_names(workload.kind) {
                for &threads in &self.config.run.threads {
                    let key = RowKey { workload: workload.name.clone(), threads, setting: setting.clone() };
                    let mut cells = rounds
                        .clone()
                        .flat_map(|round| self.config.targets.iter().map(move |t| (round, &t.name)));
                    let is_chosen = chosen.is_none_or(|chosen| chosen.contains(&key));
                    if is_chosen && !cells.all(|(round, name)| self.journal.has(&key, round, name)) {
                        rows.push((workload.clone(), key));
                    }
                }
            }
        }
        rows
    }

    /// Makes the tables anew on these targets. One that cannot is out.
    fn load_all(&mut self, names: &[String]) -> Result<()> {
        for name in names {
            self.bench.check_stop()?;
            self.awake_only(name);
            let Some(target) = self.targets.get(name).filter(|t| t.config.replays.is_none()) else {
                continue;
            };
            self.progress.set_message(format!("loading {name}"));
            if let Err(error) = tables::load(target, &self.config.run) {
                eprintln!("lab: {name}: the tables cannot be loaded: {error}");
                self.down.insert(name.clone(), error.to_string());
            }
        }
        Ok(())
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
                self.progress.set_message(format!("comparing answers: {}", workload.name));
                let queries = verify::queries(workload, self.config.run.tables, self.config.run.table_rows);
                for (name, why) in verify::differences(&targets, &self.config.run.database, &queries)? {
                    eprintln!("lab: {}: {name}: {why}", workload.name);
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
            self.progress.set_message(text);
            let outcome = match self.reason_against(workload, &name) {
                Some(reason) => Outcome::Failed(reason),
                None => match self.measure(workload, key, &name) {
                    Ok(figures) => Outcome::Measured(Box::new(figures)),
                    Err(Error::Interrupted) => return Err(Error::Interrupted),
                    Err(error) => {
                        eprintln!("lab: {}: {name}: {error}", key.workload);
                        Outcome::Failed(error.to_string())
                    }
                },
            };
            self.journal.add(Cell { row: key.clone(), round, target: name, outcome })?;
            self.progress.inc(1);
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
