//! What a journal says: comparisons per row and target, and the figures behind them.

use std::path::Path;

use crate::error::{Error, Result};
use crate::journal::{Cell, Figures, Header, Journal, Outcome, RowKey};
use crate::ledger::History;
use crate::stats::{self, Comparison, Estimate, Reached, Rounds, median};

mod html;
mod markdown;
mod number;
mod row;
mod standing;
mod summary;
mod tsv;

pub use html::{Extras, Profile, html, profiles, relative};
pub use markdown::markdown;
pub use row::{Row, TargetResult};
pub use tsv::tsv;

/// The seed of the arithmetic: the same journal always says the same.
const SEED: u64 = 1;

/// Rounds by what they are for.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    First,
    Fresh,
}

/// Reports of a folder, as they were written.
#[derive(Debug)]
pub struct Written {
    /// The rows.
    pub rows: Vec<Row>,
    /// The report for people, in Markdown.
    pub markdown: String,
}

/// Writes the reports of a folder beside its journal: `report.md`, `report.html`, `relative.svg`,
/// `results.tsv`. The page shows the ledger's history, too, if one is given.
pub fn write(folder: &Path, history: Option<History>) -> Result<Written> {
    let (header, cells) = Journal::read(folder)?;
    let rows = rows(&header, &cells);
    let markdown = markdown(&header, &rows);
    let page = html(&header, &rows, &Extras { history, profiles: profiles(folder)? });
    let (table, picture) = (tsv(&header, &rows), relative(&header, &rows));
    let files = [
        ("report.md", &markdown),
        ("report.html", &page),
        ("results.tsv", &table),
        ("relative.svg", &picture),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|source| Error::File { path, source })?;
    }
    Ok(Written { rows, markdown })
}

/// Puts a journal's cells together, in the order of their measurement.
pub fn rows(header: &Header, cells: &[Cell]) -> Vec<Row> {
    let keys = keys(cells);
    let (first, fresh) = (logs(header, cells, &keys, Stage::First), logs(header, cells, &keys, Stage::Fresh));
    let mut comparisons = stats::compare(&first, &fresh, header.confirmations, SEED).into_iter();
    let mut to_best = to_best(header, cells, &keys).into_iter();
    let of_key = |key: &RowKey| {
        let mut results = Vec::new();
        for (at, (name, _)) in header.targets.iter().enumerate() {
            let comparison = if at == 0 { None } else { comparisons.next().flatten() };
            results.push(result(cells, key, name, comparison));
        }
        let to_best = to_best.by_ref().take(header.targets.len()).collect();
        Row { key: key.clone(), results, to_best }
    };
    keys.into_iter().map(of_key).collect()
}

/// The rows of which nothing can be said before they are measured again.
pub fn unsure(header: &Header, cells: &[Cell]) -> Vec<RowKey> {
    let keys = keys(cells);
    let unsure = stats::unsure(&logs(header, cells, &keys, Stage::First), SEED);
    let others = header.targets.len() - 1;
    let of_key = unsure.chunks(others.max(1)).map(|targets| targets.contains(&true));
    keys.into_iter().zip(of_key).filter(|(_, unsure)| *unsure).map(|(key, _)| key.clone()).collect()
}

fn keys(cells: &[Cell]) -> Vec<&RowKey> {
    let mut keys: Vec<&RowKey> = Vec::new();
    for cell in cells {
        if !keys.contains(&&cell.row) {
            keys.push(&cell.row);
        }
    }
    keys
}

/// Rows of fewer of a target and kind are no class: they say too little of how such rows vary.
const CLASS_MIN: usize = 8;

/// The class of each row and each of `targets` targets, in this order: rows of a target and of workloads of
/// one kind. Kinds with fewer than [`CLASS_MIN`] rows belong to the largest kind.
fn classes<'a>(keys: &'a [&RowKey], targets: usize) -> impl Iterator<Item = usize> + 'a {
    let mut counts = [0; summary::GROUPS.len()];
    for key in keys {
        counts[summary::group_of(key)] += 1;
    }
    let largest = (0..counts.len()).max_by_key(|&kind| counts[kind]).unwrap_or(0);
    keys.iter().flat_map(move |key| {
        let kind = summary::group_of(key);
        let kind = if counts[kind] < CLASS_MIN { largest } else { kind };
        (0..targets).map(move |target| target * summary::GROUPS.len() + kind)
    })
}

/// Per row and target other than the base, in this order: the logs of target over base in the rounds of a
/// stage.
fn logs(header: &Header, cells: &[Cell], keys: &[&RowKey], stage: Stage) -> Vec<Rounds> {
    let of_stage = |cell: &&Cell| (cell.round < header.repetitions) == (stage == Stage::First);
    let cells: Vec<Cell> = cells.iter().filter(of_stage).cloned().collect();
    let (base, others) = (&header.targets[0].0, &header.targets[1..]);
    let logs = keys.iter().flat_map(|key| others.iter().map(|(name, _)| log_ratios(&cells, key, base, name)));
    logs.zip(classes(keys, others.len())).map(|(logs, class)| Rounds { class, logs }).collect()
}

fn measured<'a>(cells: &'a [Cell], key: &RowKey, name: &str) -> impl Iterator<Item = (usize, &'a Figures)> {
    cells.iter().filter(move |c| c.target == name && c.row == *key).filter_map(|c| match &c.outcome {
        Outcome::Measured(figures) => Some((c.round, &**figures)),
        Outcome::Failed(_) => None,
    })
}

fn reached(cells: &[Cell], key: &RowKey, name: &str) -> Reached {
    measured(cells, key, name).map(|(round, figures)| (round, figures.qps)).collect()
}

/// Per row and target, in this order: how it stands to the one of the others that has the highest median.
fn to_best(header: &Header, cells: &[Cell], keys: &[&RowKey]) -> Vec<Option<Estimate>> {
    let of_row = |key: &&RowKey| {
        let row: Vec<Reached> = header.targets.iter().map(|(name, _)| reached(cells, key, name)).collect();
        stats::logs_to_best(&row)
    };
    let logs = keys.iter().flat_map(of_row);
    let rows = logs.zip(classes(keys, header.targets.len())).map(|(logs, class)| Rounds { class, logs });
    stats::estimates(&rows.collect::<Vec<_>>(), SEED)
}

/// Per round, the log of target over base.
fn log_ratios(cells: &[Cell], key: &RowKey, base: &str, name: &str) -> Vec<f64> {
    stats::log_ratios(&reached(cells, key, base), &reached(cells, key, name))
}

fn result(cells: &[Cell], key: &RowKey, name: &str, comparison: Option<Comparison>) -> TargetResult {
    let figures: Vec<&Figures> = measured(cells, key, name).map(|m| m.1).collect();
    if !figures.is_empty() {
        return TargetResult::Measured(Box::new(medians(&figures)), comparison);
    }
    let why = cells.iter().find(|c| c.target == name && c.row == *key).map(|c| &c.outcome);
    match why {
        Some(Outcome::Failed(why)) => TargetResult::Failed(why.clone()),
        _ => TargetResult::Missing,
    }
}

fn medians(figures: &[&Figures]) -> Figures {
    let of = |field: fn(&Figures) -> f64| median(&figures.iter().map(|f| field(f)).collect::<Vec<_>>());
    Figures {
        qps: of(|f| f.qps),
        p50_ms: of(|f| f.p50_ms),
        p95_ms: of(|f| f.p95_ms),
        p99_ms: of(|f| f.p99_ms),
        user_us: of(|f| f.user_us),
        system_us: of(|f| f.system_us),
        voluntary_switches: of(|f| f.voluntary_switches),
        involuntary_switches: of(|f| f.involuntary_switches),
        disk_bytes: of(|f| f.disk_bytes),
        log_bytes: of(|f| f.log_bytes),
        log_syncs: of(|f| f.log_syncs),
        peak_rss_bytes: of(|f| f.peak_rss_bytes),
        temp_bytes: of(|f| f.temp_bytes),
        other_cores: of(|f| f.other_cores),
        retried: of(|f| f.retried),
    }
}
