//! What has been measured: one JSON line per cell, appended as soon as it is known.
//!
//! A run that ended early continues where it ended; what was measured on other servers or another data set is
//! refused rather than mixed in.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::json_lines::JsonLines;
use crate::machine::Machine;
use crate::sysbench::Latency;

/// A row of the matrix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RowKey {
    /// The workload's name.
    pub workload: String,
    /// Client threads.
    pub threads: usize,
    /// Name of the setting; empty: as the servers are.
    pub setting: String,
}

/// One measurement of one target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// The row.
    pub row: RowKey,
    /// The round, from 0.
    pub round: usize,
    /// The target's name.
    pub target: String,
    /// The numbers, or what went wrong.
    pub outcome: Outcome,
}

/// What came of a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Measured.
    Measured(Box<Figures>),
    /// Not measured, for this reason.
    Failed(String),
}

/// The numbers of a cell. Per operation means per query as sysbench counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Queries a second.
    pub qps: f64,
    /// Median latency of an event, ms.
    pub p50_ms: f64,
    /// 95 of 100 events are faster, ms.
    pub p95_ms: f64,
    /// 99 of 100 events are faster, ms.
    pub p99_ms: f64,
    /// Microseconds of the server's CPU in user mode per operation; NaN (null) where its process cannot be
    /// seen.
    #[serde(with = "nullable")]
    pub user_us: f64,
    /// The same in the kernel.
    #[serde(with = "nullable")]
    pub system_us: f64,
    /// Context switches of the server's threads by their own doing, per operation.
    #[serde(with = "nullable")]
    pub voluntary_switches: f64,
    /// Context switches forced on them, per operation.
    #[serde(with = "nullable")]
    pub involuntary_switches: f64,
    /// Bytes the server had written to storage per operation.
    #[serde(with = "nullable")]
    pub disk_bytes: f64,
    /// Bytes of redo log per operation, by the server's own counter.
    #[serde(with = "nullable")]
    pub log_bytes: f64,
    /// Syncs of the redo log per operation, by the server's own counter.
    #[serde(with = "nullable")]
    pub log_syncs: f64,
    /// Largest resident set of the server so far, bytes.
    #[serde(with = "nullable")]
    pub peak_rss_bytes: f64,
    /// Most bytes that the server had in temporary files at once; of workloads that are known to make some.
    #[serde(with = "nullable", default = "unknown")]
    pub temp_bytes: f64,
    /// Cores kept busy by neither server nor client.
    pub other_cores: f64,
    /// Errors that were tried again, per operation.
    pub retried: f64,
}

impl Figures {
    /// Microseconds of the server's CPU per operation.
    pub fn cpu_us(&self) -> f64 {
        self.user_us + self.system_us
    }

    /// Takes the latencies over.
    pub(crate) fn set_latency(&mut self, latency: Latency) {
        (self.p50_ms, self.p95_ms, self.p99_ms) = (latency.p50, latency.p95, latency.p99);
    }
}

fn unknown() -> f64 {
    f64::NAN
}

/// JSON has no NaN: null stands for it.
mod nullable {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
    }
}

/// What all cells of a journal have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Names and versions of the targets; the first is the base. A target that was down has no version.
    pub targets: Vec<(String, String)>,
    /// Tables, and rows in each.
    pub data: (usize, usize),
    /// Measured seconds a cell.
    pub seconds: u64,
    /// Rounds of every row; later ones are those that confirm.
    pub repetitions: usize,
    /// Those: how many, at most.
    #[serde(default)]
    pub confirmations: usize,
    /// Settings and their variables, in words.
    pub settings: Vec<(String, String)>,
    /// Where it was measured.
    pub machine: Machine,
    /// Day of the beginning, UTC, as YYYY-MM-DD.
    pub date: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Run(Header),
    Cell(Cell),
}

/// The file's name.
const NAME: &str = "results.jsonl";
/// How its first line begins.
const BEGINNING: &str = "{\"run\":";

/// All cells so far.
#[derive(Debug)]
pub struct Journal {
    file: JsonLines,
    /// The first line.
    pub header: Header,
    /// Cells in order of measurement.
    pub cells: Vec<Cell>,
    /// Row, round and target of measurements that had failed before the journal was opened.
    to_retry: HashSet<(RowKey, usize, String)>,
}

impl Cell {
    fn is(&self, row: &RowKey, round: usize, target: &str) -> bool {
        self.round == round && self.target == target && self.row == *row
    }

    fn key(&self) -> (RowKey, usize, String) {
        (self.row.clone(), self.round, self.target.clone())
    }
}

impl Journal {
    /// Opens the journal in a folder, or begins it. Cells measured before are there again; those that failed
    /// are to be tried again.
    pub fn open(folder: &Path, header: Header) -> Result<Journal> {
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let (mut file, lines) = JsonLines::open(&folder.join(NAME), BEGINNING)?;
        let Some((earlier, cells)) = sorted(lines) else {
            file.append(&Line::Run(header.clone()))?;
            return Ok(Journal { file, header, cells: Vec::new(), to_retry: HashSet::new() });
        };
        if let Some(what) = difference(&earlier, &header) {
            let path = file.path().display();
            return Err(Error::Config(format!("{path} was measured with {what}: choose another folder")));
        }
        let failed = cells.iter().filter(|cell| matches!(cell.outcome, Outcome::Failed(_)));
        let to_retry = failed.map(Cell::key).collect();
        Ok(Journal { file, header: earlier, cells, to_retry })
    }

    /// Reads a journal for a report.
    pub fn read(folder: &Path) -> Result<(Header, Vec<Cell>)> {
        let path = folder.join(NAME);
        let lines = JsonLines::read(&path, BEGINNING)?;
        sorted(lines).ok_or_else(|| Error::Config(format!("{} is not there", path.display())))
    }

    /// Adds a cell, in place of one that failed; it is in the file when this returns.
    pub fn add(&mut self, cell: Cell) -> Result<()> {
        self.file.append(&Line::Cell(cell.clone()))?;
        self.to_retry.remove(&cell.key());
        put(&mut self.cells, cell);
        Ok(())
    }

    /// Whether a cell has been measured, or tried since the journal was opened.
    pub fn has(&self, row: &RowKey, round: usize, target: &str) -> bool {
        self.cells.iter().any(|cell| cell.is(row, round, target) && !self.to_retry.contains(&cell.key()))
    }
}

/// The run and its cells; none without a run.
fn sorted(lines: Vec<Line>) -> Option<(Header, Vec<Cell>)> {
    let (mut header, mut cells) = (None, Vec::new());
    for line in lines {
        match line {
            Line::Run(run) => header = Some(run),
            Line::Cell(cell) => put(&mut cells, cell),
        }
    }
    Some((header?, cells))
}

/// Adds a cell, in place of the same one of an earlier try.
fn put(cells: &mut Vec<Cell>, cell: Cell) {
    match cells.iter_mut().find(|earlier| earlier.is(&cell.row, cell.round, &cell.target)) {
        Some(earlier) => *earlier = cell,
        None => cells.push(cell),
    }
}

/// What differs so much that cells may not be compared.
fn difference(before: &Header, now: &Header) -> Option<&'static str> {
    let names = |h: &Header| h.targets.iter().map(|t| t.0.clone()).collect::<Vec<_>>();
    let versions: HashMap<_, _> = before.targets.iter().cloned().collect();
    let changed = |(name, version): &(String, String)| {
        let earlier = versions.get(name).map(String::as_str).unwrap_or_default();
        !version.is_empty() && !earlier.is_empty() && version != earlier
    };
    match () {
        () if names(before) != names(now) => Some("other targets"),
        () if now.targets.iter().any(changed) => Some("another version of a target"),
        () if before.data != now.data => Some("other tables"),
        () if before.seconds != now.seconds => Some("cells of another length"),
        () if before.repetitions != now.repetitions => Some("another number of repetitions"),
        () if before.settings != now.settings => Some("other settings"),
        () if before.machine != now.machine => Some("another machine"),
        () => None,
    }
}

impl Header {
    /// For a run of this configuration; `versions` in the order of its targets.
    pub fn new(config: &Config, versions: Vec<String>, date: String) -> Header {
        let in_words = |set: &std::collections::BTreeMap<String, String>| {
            set.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
        };
        Header {
            targets: config.targets.iter().map(|t| t.name.clone()).zip(versions).collect(),
            data: (config.run.tables, config.run.table_rows),
            seconds: config.run.seconds,
            repetitions: config.run.repetitions,
            confirmations: config.run.confirmations,
            settings: config.settings.iter().map(|s| (s.name.clone(), in_words(&s.set))).collect(),
            machine: Machine::this(),
            date,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            targets: vec![("a".into(), "1".into()), ("b".into(), "2".into())],
            data: (2, 1000),
            seconds: 5,
            repetitions: 5,
            confirmations: 10,
            settings: Vec::new(),
            machine: Machine::this(),
            date: "2026-01-02".into(),
        }
    }

    fn cell(round: usize) -> Cell {
        let row = RowKey { workload: "scan".into(), threads: 1, setting: String::new() };
        let figures = Figures { qps: 10.0, user_us: f64::NAN, ..Figures::default() };
        Cell { row, round, target: "a".into(), outcome: Outcome::Measured(Box::new(figures)) }
    }

    #[test]
    fn what_was_measured_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        Journal::open(folder.path(), header()).unwrap().add(cell(0)).unwrap();
        let journal = Journal::open(folder.path(), header()).unwrap();
        assert!(journal.has(&cell(0).row, 0, "a") && !journal.has(&cell(0).row, 1, "a"));
        let Outcome::Measured(figures) = &journal.cells[0].outcome else { panic!("measured") };
        assert!(figures.qps == 10.0 && figures.user_us.is_nan());
    }

    #[test]
    fn what_failed_is_tried_again_by_the_next_run_only_and_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let failed = || Cell { outcome: Outcome::Failed("is down".into()), ..cell(0) };
        let has = |journal: &Journal| journal.has(&cell(0).row, 0, "a");
        let mut journal = Journal::open(folder.path(), header()).unwrap();
        journal.add(failed()).unwrap();
        assert!(has(&journal));
        let mut journal = Journal::open(folder.path(), header()).unwrap();
        assert!(!has(&journal) && journal.cells.len() == 1);
        journal.add(failed()).unwrap();
        assert!(has(&journal));
        let mut journal = Journal::open(folder.path(), header()).unwrap();
        journal.add(cell(0)).unwrap();
        let journal = Journal::open(folder.path(), header()).unwrap();
        assert!(has(&journal) && matches!(journal.cells[..], [Cell { outcome: Outcome::Measured(_), .. }]));
    }

    #[test]
    fn cells_of_another_data_set_or_server_are_not_mixed_in() {
        let folder = tempfile::tempdir().unwrap();
        Journal::open(folder.path(), header()).unwrap();
        let mut other = header();
        other.targets[1].1 = "3".into();
        let error = Journal::open(folder.path(), other).unwrap_err().to_string();
        assert!(error.contains("another version"), "{error}");
        let error =
            Journal::open(folder.path(), Header { data: (1, 1), ..header() }).unwrap_err().to_string();
        assert!(error.contains("other tables"), "{error}");
        let mut down = header();
        down.targets[1].1 = String::new();
        Journal::open(folder.path(), down).unwrap();
    }
}
