//! The long form of the suite: what each query costs its server's processor.

use std::path::{Path, PathBuf};

use mysql::Conn;
use mysql::prelude::Queryable;

use super::file;
use super::measure::is_change;
use super::schema::{self, Copy};
use crate::runner::Target;

/// A server whose processor time is read.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its name in the report.
    pub name: &'static str,
    /// Where it listens.
    pub target: Target,
    /// Its process on this machine.
    pub pid: u32,
}

/// Runs each query of the files at `paths` `repeats` times on each of `sides`, changes left out: a line a
/// query with the microseconds of processor time of one run by each side. Mind the build: an unoptimised
/// server says nothing.
/// # Errors  A file or a process that cannot be read; a statement that fails.
pub fn report(paths: &[PathBuf], sides: &[Side], repeats: u32) -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    let mut conns = Vec::new();
    for side in sides {
        let mut conn = side.target.connect(None)?;
        schema::make_numbers(&mut conn)?;
        conns.push(conn);
    }
    for path in paths {
        lines.extend(of_file(path, sides, &mut conns, repeats)?);
    }
    Ok(lines)
}

fn of_file(path: &Path, sides: &[Side], conns: &mut [Conn], repeats: u32) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let file = file::parse(&text)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    for conn in &mut *conns {
        schema::make(conn, &name, &file, Copy::Plain)?;
    }
    let queries = file.queries.iter().filter(|query| !is_change(&query.sql));
    let line = |query: &file::Query| {
        let mut line = format!("{name}.test:{}", query.line);
        for (side, conn) in sides.iter().zip(&mut *conns) {
            let us = cpu_us(conn, side.pid, &query.sql, repeats)?;
            line += &format!(" {} {us:.1} us", side.name);
        }
        Ok(line)
    };
    queries.map(line).collect()
}

/// Processor time of the process for one run of `sql`, the mean of `repeats` after one that is not counted.
fn cpu_us(conn: &mut Conn, pid: u32, sql: &str, repeats: u32) -> Result<f64, String> {
    let mut run = || conn.query_drop(sql).map_err(|error| format!("{sql}: {error}"));
    run()?;
    let before = process_ns(pid)?;
    for _ in 0..repeats {
        run()?;
    }
    Ok((process_ns(pid)? - before) as f64 / 1e3 / f64::from(repeats))
}

/// Nanoseconds that the threads of a process have run.
fn process_ns(pid: u32) -> Result<u64, String> {
    let folder = format!("/proc/{pid}/task");
    let threads = std::fs::read_dir(&folder).map_err(|error| format!("{folder}: {error}"))?;
    let ns = |thread: std::fs::DirEntry| {
        // A thread that has ended since is left out.
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    Ok(threads.flatten().filter_map(ns).sum())
}
