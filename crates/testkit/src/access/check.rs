//! Checks the files of the suite against this server, or records its plans.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use mysql::Conn;
use mysql::prelude::Queryable;

use super::file::{self, File, Measured, Own, Query};
use super::hints;
use super::measure::{Counters, run};
use super::schema::{self, Copy};
use crate::runner::Target;

/// Files worked on at a time.
const WORKERS: usize = 2;

/// What was found in all files.
#[derive(Debug, Default)]
pub struct Report {
    /// Queries run.
    pub queries: usize,
    /// What is wrong, a text each.
    pub failures: Vec<String>,
}

/// Runs the files at `paths` against the server at `target`; with `record` their plans and counts are written
/// again.
/// # Errors  A file that cannot be read, a schema that cannot be made.
pub fn run_files(paths: &[PathBuf], target: &Target, record: bool) -> Result<Report, String> {
    schema::make_numbers(&mut target.connect(None)?)?;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut report = Report::default();
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            run_file(path, target, record, &mut report)
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok::<_, String>(report)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let mut all = Report::default();
        for worker in workers {
            let report: Report = worker.join().map_err(|_| "a worker panicked")??;
            all.queries += report.queries;
            all.failures.extend(report.failures);
        }
        Ok::<_, String>(all)
    })
}

fn run_file(path: &Path, target: &Target, record: bool, report: &mut Report) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut file = file::parse(&text)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut copies = Copies { plain: target.connect(None)?, shuffled: target.connect(None)? };
    schema::make(&mut copies.plain, &name, &file, Copy::Plain)?;
    schema::make(&mut copies.shuffled, &name, &file, Copy::Shuffled)?;
    if record {
        copies.record(&mut file)?;
        return std::fs::write(path, file::print(&file)).map_err(|error| error.to_string());
    }
    for query in &file.queries {
        let place = format!("{name}.test:{}", query.line);
        let found = copies.check(query)?;
        report.queries += 1;
        report.failures.extend(found.into_iter().map(|what| format!("{place}: {what}\n{}", query.sql)));
    }
    Ok(())
}

/// Connections to the two copies of a schema.
struct Copies {
    plain: Conn,
    shuffled: Conn,
}

impl Copies {
    fn record(&mut self, file: &mut File) -> Result<(), String> {
        let keys = schema::keys(file);
        for query in &mut file.queries {
            query.plan = plan(&mut self.plain, &query.sql)?;
            let examined = run(&mut self.plain, &query.sql, Counters::Own)?.examined;
            let mut own = Own { examined, best: examined, best_key: "plan".to_owned() };
            for other in hints::alternatives(&query.sql, &keys) {
                let examined = run(&mut self.plain, &other.sql, Counters::Own)?.examined;
                if examined < own.best {
                    (own.best, own.best_key) = (examined, other.name);
                }
            }
            query.own = Some(own);
        }
        Ok(())
    }

    /// What `query` does that it should not.
    fn check(&mut self, query: &Query) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        let (Some(expected), Some(own)) = (query.mysql, &query.own) else {
            found.push("not recorded".to_owned());
            return Ok(found);
        };
        let plain = plan(&mut self.plain, &query.sql)?;
        if plain != query.plan {
            found.push(format!("another plan:\n{}", plain.join("\n")));
        }
        let measured = run(&mut self.plain, &query.sql, Counters::Own)?;
        compare("", measured, expected, own, &mut found);
        if measured.examined != own.examined {
            found.push(format!("examines {} rows, recorded were {}", measured.examined, own.examined));
        }
        let shuffled = plan(&mut self.shuffled, &query.sql)?;
        let other = run(&mut self.shuffled, &query.sql, Counters::Own)?;
        compare("shuffled: ", other, expected, own, &mut found);
        if shuffled != plain
            && !is_within(other.examined.max(measured.examined), other.examined.min(measured.examined))
        {
            found.push(format!("shuffled: another plan:\n{}", shuffled.join("\n")));
        }
        Ok(found)
    }
}

/// Whether `examined` rows are about `least`: at most a fifth more, and a few for the ends of ranges.
fn is_within(examined: u64, least: u64) -> bool {
    examined <= least + least / 5 + 2
}

fn compare(copy: &str, measured: Measured, expected: Measured, own: &Own, found: &mut Vec<String>) {
    if (measured.rows, measured.checksum) != (expected.rows, expected.checksum) {
        let Measured { rows, checksum, .. } = measured;
        found.push(format!("{copy}answers {rows} rows, checksum {checksum:016x}: not as MySQL does"));
    }
    let examined = measured.examined;
    if !is_within(examined, own.best) {
        found.push(format!("{copy}examines {examined} rows, {} by {}", own.best, own.best_key));
    }
    if examined > expected.examined {
        found.push(format!("{copy}examines {examined} rows, MySQL {}", expected.examined));
    }
}

fn plan(conn: &mut Conn, sql: &str) -> Result<Vec<String>, String> {
    let text: Option<String> = conn
        .query_first(format!("EXPLAIN FORMAT=TREE {sql}"))
        .map_err(|error| format!("EXPLAIN {sql}: {error}"))?;
    Ok(text.unwrap_or_default().lines().map(str::to_owned).collect())
}
