//! Running the matrix.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::config::{Config, Setting};
use crate::error::{Error, Result};
use crate::journal::{Cell, Figures, Header, Journal, Outcome, RowKey};
use crate::machine::today;
use crate::process;
use crate::report;
use crate::sample::{Follower, Sample, machine_busy_seconds};
use crate::stats::Random;
use crate::sysbench::{Load, Scripts, Second};
use crate::tables;
use crate::target::Target;
use crate::verify;
use crate::workload::{Kind, Workload};

/// Fewer queries than this in the counted seconds, and the whole run is counted instead: whole queries would be too coarse.
const COARSE_QUERIES: f64 = 500.0;

/// Measures all that is not in the journal yet. What is measured when Ctrl-C comes is kept; the error says so.
pub fn run(config: &Config) -> Result<Journal> {
    let stop = Arc::new(AtomicBool::new(false));
    let handler = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stop));
    handler.map_err(|e| Error::Config(format!("Ctrl-C cannot be caught: {e}")))?;
    let mut run = Matrix::begin(config, stop)?;
    let outcome = run.measure_all();
    for target in run.targets.values() {
        target.leave();
    }
    run.progress.finish_and_clear();
    outcome.map(|()| run.journal)
}

struct Matrix<'a> {
    config: &'a Config,
    stop: Arc<AtomicBool>,
    /// Those that answer, by name.
    targets: HashMap<String, Target>,
    /// Why others have no numbers.
    down: HashMap<String, String>,
    /// Targets whose answers to a workload are not the base's.
    wrong: HashMap<(String, String), String>,
    journal: Journal,
    scripts: Scripts,
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
        let scripts = Scripts::write_below(&config.run.out)?;
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} cells, {eta} left: {msg}");
        let progress = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let random = Random(config.run.seed);
        Ok(Matrix { config, stop, targets, down, wrong: HashMap::new(), journal, scripts, progress, random })
    }

    fn measure_all(&mut self) -> Result<()> {
        if self.config.run.realtime {
            process::make_self_prompt()?;
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
            self.check_stop()?;
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
                self.check_stop()?;
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
            self.check_stop()?;
        }
        Ok(())
    }

    fn reason_against(&self, workload: &Workload, name: &str) -> Option<String> {
        let wrong = self.wrong.get(&(workload.name.clone(), name.to_owned()));
        wrong.or_else(|| self.down.get(name)).cloned()
    }

    fn measure(&self, workload: &Workload, key: &RowKey, name: &str) -> Result<Figures> {
        let run = &self.config.run;
        let Some(target) = self.targets.get(name) else {
            return Err(Error::Server { target: name.to_owned(), what: "is down".to_owned() });
        };
        self.awake_only(name);
        if target.config.replays.is_none() {
            if let Some(setting) = self.config.settings.iter().find(|s| s.name == key.setting) {
                target.execute(&set_statements(setting))?;
            }
            if workload.kind == Kind::Consume {
                tables::load(target, &self.config.run)?;
            }
        }
        let core = run.pin_single.then(|| last_core(key.threads));
        let prefix = prepare_processes(target, core.as_deref(), run.realtime)?;
        let load = Load {
            address: &target.address,
            database: &run.database,
            tables: run.tables,
            rows: run.table_rows,
            threads: key.threads,
            prefix: &prefix,
        };
        let mut meter = Meter::new(target, run.warmup_seconds);
        let seconds = run.warmup_seconds + run.seconds;
        let report = load.run(&self.scripts, workload, seconds, &mut |second| {
            meter.second_over(second);
            !self.stop.load(Ordering::Relaxed)
        })?;
        let mut figures = meter.figures(target, report.queries_per_second, report.queries);
        figures.set_latency(report.latency);
        Ok(figures)
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

    fn check_stop(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Counts what a server uses in the seconds that count.
struct Meter {
    follower: Option<Follower>,
    warmup: u64,
    seconds: u64,
    queries: f64,
    retried: f64,
    begin: Option<(Instant, Sample, Counters)>,
    end: Option<(Instant, Sample)>,
    machine_before: f64,
}

/// The server's own counters, where it has them.
#[derive(Clone, Copy, Default)]
struct Counters {
    log_bytes: Option<f64>,
    log_syncs: Option<f64>,
}

impl Counters {
    fn of(target: &Target) -> Counters {
        if target.config.replays.is_some() {
            return Counters::default();
        }
        Counters {
            log_bytes: target.status("Innodb_os_log_written"),
            log_syncs: target.status("Innodb_os_log_fsyncs"),
        }
    }

    fn since(before: Option<f64>, now: Option<f64>) -> f64 {
        before.zip(now).map_or(f64::NAN, |(before, now)| now - before)
    }
}

impl Meter {
    fn new(target: &Target, warmup: u64) -> Meter {
        let mut meter = Meter {
            follower: target.pid.map(Follower::new),
            warmup,
            seconds: 0,
            queries: 0.0,
            retried: 0.0,
            begin: None,
            end: None,
            machine_before: machine_busy_seconds(),
        };
        let counters = Counters::of(target);
        meter.begin = Some((Instant::now(), meter.look(), counters));
        meter
    }

    fn look(&mut self) -> Sample {
        self.follower.as_mut().and_then(Follower::look).unwrap_or_default()
    }

    fn second_over(&mut self, second: Second) {
        let sample = self.look();
        self.seconds += 1;
        if self.seconds <= self.warmup {
            let counters = self.begin.map(|b| b.2).unwrap_or_default();
            self.begin = Some((Instant::now(), sample, counters));
            self.machine_before = machine_busy_seconds();
            return;
        }
        self.queries += second.queries;
        self.retried += second.errors;
        self.end = Some((Instant::now(), sample));
    }

    /// Seconds that count.
    fn counted(&self) -> u64 {
        self.seconds.saturating_sub(self.warmup)
    }

    /// `whole_qps` and `whole_queries` are those of the whole run.
    fn figures(self, target: &Target, whole_qps: f64, whole_queries: f64) -> Figures {
        let unseen = Figures { qps: whole_qps, ..Figures::default() };
        let (Some((began, before, counters)), Some((ended, after))) = (self.begin, self.end) else {
            return unseen;
        };
        let elapsed = (ended - began).as_secs_f64();
        let per_query =
            |amount: f64| if self.follower.is_some() { amount / self.queries.max(1.0) } else { f64::NAN };
        let now = Counters::of(target);
        let count = |before: u64, after: u64| per_query(after.saturating_sub(before) as f64);
        let of_all = |amount: f64| amount / whole_queries.max(1.0);
        let (user, system) =
            (after.user_seconds - before.user_seconds, after.system_seconds - before.system_seconds);
        Figures {
            qps: if self.queries < COARSE_QUERIES { whole_qps } else { self.queries / self.counted() as f64 },
            user_us: per_query(user * 1e6),
            system_us: per_query(system * 1e6),
            voluntary_switches: count(before.voluntary_switches, after.voluntary_switches),
            involuntary_switches: count(before.involuntary_switches, after.involuntary_switches),
            disk_bytes: count(before.written_bytes, after.written_bytes),
            log_bytes: of_all(Counters::since(counters.log_bytes, now.log_bytes)),
            log_syncs: of_all(Counters::since(counters.log_syncs, now.log_syncs)),
            peak_rss_bytes: if after.peak_rss_bytes > 0 { after.peak_rss_bytes as f64 } else { f64::NAN },
            other_cores: ((machine_busy_seconds() - self.machine_before - user - system) / elapsed).max(0.0),
            retried: self.retried / self.queries.max(1.0),
            ..unseen
        }
    }
}

fn set_statements(setting: &Setting) -> Vec<String> {
    setting.set.iter().map(|(name, value)| format!("SET GLOBAL {name} = {value}")).collect()
}

/// With one client thread the last core, else all.
fn last_core(threads: usize) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if threads == 1 { format!("{}", cores - 1) } else { format!("0-{}", cores - 1) }
}

/// Puts the server's threads where they belong; returns what the client is to be started by.
fn prepare_processes(target: &Target, cores: Option<&str>, realtime: bool) -> Result<Vec<String>> {
    let mut prefix = Vec::new();
    if let Some(cores) = cores {
        target.pid.map_or(Ok(()), |pid| process::pin(pid, cores))?;
        prefix.extend(["taskset", "-c", cores].map(str::to_owned));
    }
    if realtime {
        target.pid.map_or(Ok(()), process::make_realtime)?;
        prefix.extend(["chrt", "-r", "1"].map(str::to_owned));
    }
    Ok(prefix)
}
