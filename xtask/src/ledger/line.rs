//! A line of the ledger, and when one is worse than another.

use std::collections::BTreeMap;
use std::fmt;
use std::num::ParseFloatError;

/// First line of the file.
pub(super) const HEADER: &str = "name\tinstructions\tbytes_copied\tallocations\tsyscalls\tlog_bytes\tsyncs";

/// Instructions may rise by this factor: the counts are exact, but code layout moves a few.
pub(super) const TOLERANCE: f64 = 1.005;

/// Calls and allocations a unit that a writing operation may have more: it meets the threads that write the
/// log, check-point and purge, and now and then waits for one. Operations that write no log meet none of
/// them.
const CHANCE_MEETINGS: f64 = 0.05;

/// Bytes may rise by this factor: how full a buffer or a page is when an operation begins is chance.
const BYTES_TOLERANCE: f64 = 1.05;

/// Syncs may rise by this factor, for the same reason.
const SYNC_TOLERANCE: f64 = 1.05;

/// What one unit of an operation costs; `None` where it was not counted, or depends on which of many clients
/// meet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// Name of the operation.
    pub(super) name: String,
    /// User instructions of the serving thread.
    pub(super) instructions: Option<f64>,
    /// Bytes copied by calls of memcpy and memmove.
    pub(super) bytes_copied: Option<f64>,
    /// Allocations.
    pub(super) allocations: Option<f64>,
    /// System calls.
    pub(super) syscalls: Option<f64>,
    /// Bytes written to the redo log.
    pub(super) log_bytes: f64,
    /// Syncs of the redo log.
    pub(super) syncs: f64,
}

impl Line {
    /// Why this line is worse than `before`, if it is.
    pub(super) fn rises_over(&self, before: &Line) -> Vec<String> {
        let mut rises = Vec::new();
        let mut compare = |what: &str, now: Option<f64>, before: Option<f64>, factor: f64, chance: f64| {
            // A billionth more, for sums that binary fractions round down.
            if let (Some(now), Some(before)) = (now, before)
                && now > before * factor + chance + 1e-9
            {
                rises.push(format!("{}: {what} rose from {before} to {now}", self.name));
            }
        };
        let chance = if before.log_bytes > 0.0 { CHANCE_MEETINGS } else { 0.0 };
        compare("instructions", self.instructions, before.instructions, TOLERANCE, 0.0);
        compare("allocations", self.allocations, before.allocations, 1.0, chance);
        compare("system calls", self.syscalls, before.syscalls, 1.0, chance);
        compare("bytes copied", self.bytes_copied, before.bytes_copied, BYTES_TOLERANCE, 0.0);
        // The limit in the budgets covers which commits share a sync.
        let of_one_client = |line: &Line, figure: f64| line.instructions.map(|_| figure);
        let (now, then) = (of_one_client(self, self.log_bytes), of_one_client(before, before.log_bytes));
        compare("bytes of log", now, then, BYTES_TOLERANCE, 0.0);
        let (now, then) = (of_one_client(self, self.syncs), of_one_client(before, before.syncs));
        compare("syncs", now, then, SYNC_TOLERANCE, 0.0);
        rises
    }

    fn parse(text: &str) -> Option<Line> {
        let mut fields = text.split('\t');
        let name = fields.next()?.to_owned();
        let mut number = || parse_figure(fields.next()?).ok();
        Some(Line {
            name,
            instructions: number()?,
            bytes_copied: number()?,
            allocations: number()?,
            syscalls: number()?,
            log_bytes: number()??,
            syncs: number()??,
        })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        for counted in [self.instructions, self.bytes_copied, self.allocations, self.syscalls] {
            write!(f, "\t{}", figure(counted))?;
        }
        write!(f, "\t{}\t{}", self.log_bytes, self.syncs)
    }
}

/// A figure as files have it: a dash if there is none.
pub(super) fn figure(counted: Option<f64>) -> String {
    counted.map_or_else(|| "-".to_owned(), |n| n.to_string())
}

/// The reverse of [`figure`].
pub(super) fn parse_figure(text: &str) -> Result<Option<f64>, ParseFloatError> {
    if text == "-" { Ok(None) } else { text.parse().map(Some) }
}

/// `count` per unit, with `decimals` decimals.
pub(super) fn per_unit(count: u64, units: u64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (count as f64 / units as f64 * scale).round() / scale
}

/// The lines of a file, by name.
pub(super) fn parse_all(text: &str) -> Result<BTreeMap<String, Line>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err(format!("the first line is not '{HEADER}'"));
    }
    lines
        .map(|text| {
            let line = Line::parse(text).ok_or_else(|| format!("malformed line '{text}'"))?;
            Ok((line.name.clone(), line))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(instructions: f64, allocations: f64) -> Line {
        Line {
            name: "select_1".to_owned(),
            instructions: Some(instructions),
            bytes_copied: Some(12.0),
            allocations: Some(allocations),
            syscalls: Some(2.0),
            log_bytes: 0.0,
            syncs: 0.0,
        }
    }

    /// Of many clients.
    fn shared(syncs: f64) -> Line {
        Line {
            instructions: None,
            bytes_copied: None,
            allocations: None,
            syscalls: None,
            syncs,
            ..line(0.0, 0.0)
        }
    }

    #[test]
    fn a_line_survives_writing_and_reading() {
        let text = format!("{HEADER}\n{}\n", line(801.5, 0.25));
        assert_eq!(parse_all(&text).unwrap()["select_1"], line(801.5, 0.25));
        let text = format!("{HEADER}\n{}\n", shared(0.125));
        assert_eq!(parse_all(&text).unwrap()["select_1"], shared(0.125));
        assert!(parse_all("select_1\t1").is_err());
        assert!(parse_all(&format!("{HEADER}\nselect_1\t1\n")).is_err());
    }

    #[test]
    fn half_a_percent_of_instructions_is_no_rise_and_any_allocation_is() {
        let before = line(1000.0, 1.0);
        assert_eq!(line(1005.0, 1.0).rises_over(&before), Vec::<String>::new());
        assert_eq!(line(1005.1, 1.0).rises_over(&before).len(), 1);
        assert_eq!(line(900.0, 1.01).rises_over(&before).len(), 1);
        let uncounted = Line { syscalls: None, ..line(1000.0, 1.0) };
        assert_eq!(uncounted.rises_over(&before), Vec::<String>::new());
    }

    #[test]
    fn a_twentieth_more_bytes_is_no_rise() {
        let before = Line { log_bytes: 300.0, ..line(1000.0, 1.0) };
        let with = |copied, log_bytes| Line { bytes_copied: Some(copied), log_bytes, ..before.clone() };
        assert_eq!(with(12.6, 315.0).rises_over(&before), Vec::<String>::new());
        assert_eq!(with(12.7, 315.1).rises_over(&before).len(), 2);
        let shared_log = |log_bytes| Line { log_bytes, ..shared(0.1) };
        assert_eq!(shared_log(400.0).rises_over(&shared_log(300.0)), Vec::<String>::new());
    }

    #[test]
    fn a_writing_operation_may_wait_for_a_background_thread_now_and_then() {
        let before = Line { log_bytes: 300.0, ..line(1000.0, 1.0) };
        let with = |allocations, syscalls| Line {
            allocations: Some(allocations),
            syscalls: Some(syscalls),
            ..before.clone()
        };
        assert_eq!(with(1.05, 2.05).rises_over(&before), Vec::<String>::new());
        assert_eq!(with(1.06, 2.0).rises_over(&before).len(), 1);
        assert_eq!(with(1.0, 2.06).rises_over(&before).len(), 1);
    }

    #[test]
    fn a_second_sync_of_a_commit_is_a_rise_and_a_shared_one_is_for_the_limit() {
        let before = Line { log_bytes: 300.0, syncs: 1.0, ..line(1000.0, 1.0) };
        let with = |syncs| Line { syncs, ..before.clone() };
        assert_eq!(with(1.05).rises_over(&before), Vec::<String>::new());
        assert_eq!(with(1.06).rises_over(&before).len(), 1);
        assert_eq!(shared(0.2).rises_over(&shared(0.1)), Vec::<String>::new());
    }

    #[test]
    fn counts_are_rounded_per_unit() {
        assert_eq!(per_unit(10_001, 5_000, 2), 2.0);
        assert_eq!(per_unit(5_015_237, 5_000, 1), 1003.0);
    }
}
