//! Rounds on several servers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use serde::{Deserialize, Serialize};

use crate::cell::stop_flag;
use crate::config::TargetConfig;
use crate::error::{Error, Result};
use crate::json_lines::JsonLines;
use crate::machine::{Machine, today};
use crate::process;
use crate::sample::Follower;
use crate::stats::Random;
use crate::target::Target;
use crate::tpcc::check::check_consistency;
use crate::tpcc::dialect::Dialect;
use crate::tpcc::load::load;
use crate::tpcc::measure::{Figures, Load, measure};
use crate::tpcc::scale::Scale;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Servers.
    pub targets: Vec<TargetConfig>,
    /// Rows of the tables.
    pub scale: Scale,
    /// Numbers of terminals.
    pub terminals: Vec<usize>,
    /// Threads of the client, which share the terminals.
    pub client_threads: usize,
    /// Values of `innodb_flush_log_at_trx_commit`.
    pub flush: Vec<u8>,
    /// Dialects.
    pub dialects: Vec<Dialect>,
    /// Whether each terminal has a home warehouse.
    pub is_bound: bool,
    /// Seconds before each measurement that do not count.
    pub warmup_seconds: u64,
    /// Seconds measured.
    pub seconds: u64,
    /// Rounds; in each, every server is measured once, in random order.
    pub rounds: usize,
    /// Database that is dropped and made.
    pub database: String,
    /// Whether tables of this scale that are there are used as they are.
    pub keeps_tables: bool,
    /// Of the rows, the terminals' choices and the order of servers.
    pub seed: u64,
    /// Client and servers in the round-robin real-time class.
    pub realtime: bool,
    /// Folder of `tpcc.jsonl` and `tpcc.md`.
    pub out: PathBuf,
}

/// How a server was used in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// `innodb_flush_log_at_trx_commit`.
    pub flush: u8,
    /// Terminals.
    pub terminals: usize,
    /// How transactions were put into statements.
    pub dialect: Dialect,
}

/// One run of one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The server's name.
    pub target: String,
    /// From 0.
    pub round: usize,
    /// How it was used.
    pub setting: Setting,
    /// What it came to; none after an error.
    pub figures: Option<Figures>,
    /// CPU seconds of the server a second; NaN (`null`) of a server elsewhere.
    #[serde(deserialize_with = "nan_of_null")]
    pub cores: f64,
    /// What went wrong: an error, or consistency conditions that are violated.
    pub faults: Vec<String>,
}

/// What was measured.
#[derive(Debug)]
pub struct Results {
    /// Names and versions of the servers.
    pub servers: Vec<(String, String)>,
    /// Where.
    pub machine: Machine,
    /// When.
    pub date: String,
    /// Faults of the thorough checks at the end, each with its server's name.
    pub faults: Vec<String>,
    /// In the order in which they were made.
    pub runs: Vec<Run>,
}

impl Results {
    /// Whether any run failed or left tables inconsistent.
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty() || self.runs.iter().any(|run| !run.faults.is_empty())
    }
}

fn nan_of_null<'de, D: serde::Deserializer<'de>>(number: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::deserialize(number)?.unwrap_or(f64::NAN))
}

/// Loads the tables and measures. Each run is a line of `tpcc.jsonl` as soon as it is over.
pub fn run(plan: &Plan) -> Result<Results> {
    plan.look_through()?;
    std::fs::create_dir_all(&plan.out).map_err(Error::file(&plan.out))?;
    let stop = stop_flag()?;
    let targets: Vec<Target> = plan.targets.iter().map(Target::reach).collect::<Result<_>>()?;
    let mut bench = Bench {
        plan,
        results: Results {
            servers: targets.iter().map(|t| (t.config.name.clone(), t.version.clone())).collect(),
            machine: Machine::this(),
            date: today(),
            faults: Vec::new(),
            runs: Vec::new(),
        },
        targets,
        random: Random(plan.seed),
        lines: lines(&plan.out)?,
        stop,
    };
    let outcome = bench.measure_all();
    bench.targets.iter().for_each(Target::leave);
    outcome.map(|()| bench.results)
}

fn lines(out: &Path) -> Result<JsonLines> {
    let path = out.join("tpcc.jsonl");
    JsonLines::open::<serde_json::Value>(&path, "{\"target\":").map(|(lines, _)| lines)
}

impl Plan {
    fn look_through(&self) -> Result<()> {
        let refuse = |text: &str| Err(Error::Config(text.to_owned()));
        let is_plain = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        match () {
            () if self.targets.is_empty() => {
                refuse("a server is needed: [NAME=]mysql://user:password@host:port")
            }
            () if self.scale.warehouses == 0 => refuse("warehouses must be 1 or more"),
            () if self.seconds == 0 || self.rounds == 0 => refuse("seconds and rounds must be 1 or more"),
            () if self.terminals.is_empty() || self.terminals.contains(&0) => {
                refuse("terminals must be 1 or more")
            }
            () if self.client_threads == 0 => refuse("client threads must be 1 or more"),
            () if self.flush.is_empty() || self.flush.iter().any(|&flush| flush > 2) => {
                refuse("innodb_flush_log_at_trx_commit is 0, 1 or 2")
            }
            () if self.database.is_empty() || !is_plain(&self.database) => {
                refuse(&format!("database {:?} is not a plain name", self.database))
            }
            () => Ok(()),
        }
    }

    fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for &flush in &self.flush {
            for &terminals in &self.terminals {
                let of_dialect = |&dialect| Setting { flush, terminals, dialect };
                settings.extend(self.dialects.iter().map(of_dialect));
            }
        }
        settings
    }
}

struct Bench<'a> {
    plan: &'a Plan,
    targets: Vec<Target>,
    results: Results,
    random: Random,
    lines: JsonLines,
    stop: Arc<AtomicBool>,
}

impl Bench<'_> {
    fn measure_all(&mut self) -> Result<()> {
        if self.plan.realtime {
            process::make_realtime(std::process::id())?;
        }
        for at in 0..self.targets.len() {
            self.load(at)?;
        }
        for setting in self.plan.settings() {
            for round in 0..self.plan.rounds {
                let mut order: Vec<usize> = (0..self.targets.len()).collect();
                self.random.shuffle(&mut order);
                for at in order {
                    self.measure(at, setting, round)?;
                }
            }
        }
        for at in 0..self.targets.len() {
            self.wake_only(at);
            let target = &self.targets[at];
            let name = &target.config.name;
            let faults = self.violations(target, true)?;
            self.results.faults.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
        }
        Ok(())
    }

    /// Lets one server run and stops the processes of the others.
    fn wake_only(&self, at: usize) {
        for (other, target) in self.targets.iter().enumerate() {
            if let Some(pid) = target.pid {
                process::set_paused(pid, other != at);
            }
        }
    }

    fn load(&self, at: usize) -> Result<()> {
        self.wake_only(at);
        let (target, plan) = (&self.targets[at], self.plan);
        if plan.keeps_tables && self.has_tables(target)? {
            return Ok(());
        }
        let begin = Instant::now();
        load(&target.address, &plan.database, &plan.scale, plan.seed).map_err(|e| target.refused(&e))?;
        eprintln!("lab: {}: loaded in {:.0} s", target.config.name, begin.elapsed().as_secs_f64());
        match self.violations(target, true)?.first() {
            None => Ok(()),
            Some(violation) => {
                let what = format!("inconsistent after the load: {violation}");
                Err(Error::Server { target: target.config.name.clone(), what })
            }
        }
    }

    fn has_tables(&self, target: &Target) -> Result<bool> {
        let (database, scale) = (&self.plan.database, &self.plan.scale);
        let mut connection = target.connect()?;
        let mut count = |table: &str| {
            let found: std::result::Result<Option<usize>, _> =
                connection.query_first(format!("SELECT COUNT(*) FROM {database}.{table}"));
            found.ok().flatten()
        };
        Ok(count("warehouse") == Some(scale.warehouses) && count("item") == Some(scale.items))
    }

    fn violations(&self, target: &Target, is_thorough: bool) -> Result<Vec<String>> {
        let refused = |e: mysql::Error| target.refused(&e);
        let mut connection = target.connect()?;
        connection.query_drop(format!("USE {}", self.plan.database)).map_err(refused)?;
        check_consistency(&mut connection, is_thorough).map_err(refused)
    }

    fn measure(&mut self, at: usize, setting: Setting, round: usize) -> Result<()> {
        self.wake_only(at);
        let (target, plan) = (&self.targets[at], self.plan);
        target.execute(&[format!("SET GLOBAL innodb_flush_log_at_trx_commit = {}", setting.flush)])?;
        if let (true, Some(pid)) = (plan.realtime, target.pid) {
            process::make_realtime(pid)?;
        }
        let load = Load {
            scale: plan.scale,
            database: plan.database.clone(),
            dialect: setting.dialect,
            terminals: setting.terminals,
            client_threads: plan.client_threads.min(setting.terminals),
            is_bound: plan.is_bound,
            warmup: Duration::from_secs(plan.warmup_seconds),
            measured: Duration::from_secs(plan.seconds),
            seed: self.random.bits(),
        };
        let (begin, before) = (Instant::now(), cpu_seconds(target));
        let outcome = measure(&target.address, &load, &self.stop);
        let cores = (cpu_seconds(target) - before) / begin.elapsed().as_secs_f64();
        let (figures, mut faults) = match outcome {
            _ if self.stop.load(Ordering::Relaxed) => return Err(Error::Interrupted),
            Ok(figures) => (Some(figures), Vec::new()),
            Err(error) => (None, vec![error]),
        };
        faults.extend(self.violations(target, false)?);
        let run = Run { target: target.config.name.clone(), round, setting, figures, cores, faults };
        eprintln!("lab: {}", in_words(&run));
        self.lines.append(&run)?;
        self.results.runs.push(run);
        Ok(())
    }
}

/// NaN of a server elsewhere.
fn cpu_seconds(target: &Target) -> f64 {
    let sample = target.pid.and_then(|pid| Follower::new(pid).look());
    sample.map_or(f64::NAN, |sample| sample.user_seconds + sample.system_seconds)
}

fn in_words(run: &Run) -> String {
    let Setting { flush, terminals, dialect } = run.setting;
    let what = match &run.figures {
        Some(figures) => format!("{:.0} tpmC, {:.2} cores", figures.tpm_c, run.cores),
        None => "failed".to_owned(),
    };
    let faults = run.faults.iter().map(|fault| format!("; {fault}")).collect::<String>();
    let (name, round) = (&run.target, run.round + 1);
    format!("flush {flush}, {terminals} terminals, {}, round {round}: {name}: {what}{faults}", dialect.name())
}
