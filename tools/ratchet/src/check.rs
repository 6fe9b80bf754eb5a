//! `ratchet check`: the offline checker's face.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use engine::check::{FileReport, Progress, check_datadir};
use engine::{DataDirError, Error};
use env::RealDisk;

use crate::FAILED;

/// Memory for pages.
const POOL_BYTES: usize = 64 << 20;

/// Progress is reported for files of more pages than this (1 GiB).
const PROGRESS_PAGES_MIN: u64 = 1 << 16;

/// Checks a data directory and reports what was found. Findings go to standard output, the rest to standard
/// error.
pub(crate) fn run(datadir: &str) -> ExitCode {
    let mut percent = 0;
    let checked = check_datadir(Arc::new(RealDisk), Path::new(datadir), POOL_BYTES, &mut |progress| {
        tell_progress(progress, &mut percent);
    });
    match checked {
        Ok(report) => tell(&report, &Path::new(datadir).join("data.pages")),
        Err(error) => {
            eprintln!("ratchet: {error}{}", advice(&error));
            ExitCode::from(FAILED)
        }
    }
}

fn tell_progress(progress: Progress, percent: &mut u64) {
    let Progress { pages_done, pages_total } = progress;
    let now = pages_done * 100 / pages_total.max(1);
    if pages_total >= PROGRESS_PAGES_MIN && now > *percent {
        *percent = now;
        eprintln!("ratchet: {now} % ({pages_done} of {pages_total} pages)");
    }
}

fn tell(report: &FileReport, file: &Path) -> ExitCode {
    let mut out = std::io::stdout().lock();
    // A closed stderr does not change the exit code.
    for finding in &report.findings {
        let _ = writeln!(out, "{}: {finding}", file.display());
    }
    let _ = out.flush();
    for note in &report.notes {
        eprintln!("ratchet: note: {note}");
    }
    let FileReport { tables, rows, pages, .. } = report;
    let verdict = match report.findings.len() {
        0 => "sound".to_owned(),
        1 => "1 finding".to_owned(),
        more => format!("{more} findings"),
    };
    eprintln!("ratchet: {verdict}; {tables} tables, {rows} rows, {pages} pages in use");
    ExitCode::from(u8::from(!report.findings.is_empty()))
}

/// What to do about a directory that is not read.
fn advice(error: &Error) -> &'static str {
    match error {
        Error::DataDir(error) => match **error {
            DataDirError::InUse(_) => "\nratchet: shut the server down first, or use CHECK TABLE in it",
            DataDirError::NotClean(_) => "\nratchet: it must be recovered before it can be checked",
            _ => "",
        },
        _ => "",
    }
}
