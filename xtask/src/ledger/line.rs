//! A line of the ledger, and when one is worse than another.

use std::collections::BTreeMap;
use std::fmt;

/// First line of the file.
pub(super) const HEADER: &str = "name\tinstructions\tbytes_copied\tallocations\tsyscalls\tlog_bytes";

/// Instructions may rise by this factor: the counts are exact, but code layout moves a few.
const TOLERANCE: f64 = 1.005;

/// Calls and allocations a unit that a writing operation may have more: it meets the threads that write the log, check-point
/// and purge, and now and then waits for one. Operations that write no log meet none of them.
const CHANCE_MEETINGS: f64 = 0.05;

/// What one unit of an operation costs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// Name of the operation.
    pub(super) name: String,
    /// User instructions of the serving thread.
    pub(super) instructions: f64,
    /// Bytes copied by calls of memcpy and memmove.
    pub(super) bytes_copied: f64,
    /// Allocations.
    pub(super) allocations: f64,
    /// System calls; `None` where they could not be counted.
    pub(super) syscalls: Option<f64>,
    /// Bytes written to the redo log.
    pub(super) log_bytes: f64,
}

impl Line {
    /// Why this line is worse than `before`, if it is.
    pub(super) fn rises_over(&self, before: &Line) -> Vec<String> {
        let mut rises = Vec::new();
        let mut compare = |what: &str, now: f64, before: f64, allowed: f64| {
            // A billionth more, for sums that binary fractions round down.
            if now > allowed + 1e-9 {
                rises.push(format!("{}: {what} rose from {before} to {now}", self.name));
            }
        };
        let chance = if before.log_bytes > 0.0 { CHANCE_MEETINGS } else { 0.0 };
        compare("instructions", self.instructions, before.instructions, before.instructions * TOLERANCE);
        compare("allocations", self.allocations, before.allocations, before.allocations + chance);
        if let (Some(now), Some(before)) = (self.syscalls, before.syscalls) {
            compare("system calls", now, before, before + chance);
        }
        rises
    }

    fn parse(text: &str) -> Option<Line> {
        let mut fields = text.split('\t');
        let name = fields.next()?.to_owned();
        let mut number = || match fields.next()? {
            "-" => Some(None),
            text => text.parse().ok().map(Some),
        };
        Some(Line {
            name,
            instructions: number()??,
            bytes_copied: number()??,
            allocations: number()??,
            syscalls: number()?,
            log_bytes: number()??,
        })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let syscalls = self.syscalls.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let Line { name, instructions, bytes_copied, allocations, log_bytes, .. } = self;
        write!(f, "{name}\t{instructions}\t{bytes_copied}\t{allocations}\t{syscalls}\t{log_bytes}")
    }
}

/// `count` per unit, with so many decimals.
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
            instructions,
            bytes_copied: 12.0,
            allocations,
            syscalls: Some(2.0),
            log_bytes: 0.0,
        }
    }

    #[test]
    fn a_line_survives_writing_and_reading() {
        let text = format!("{HEADER}\n{}\n", line(801.5, 0.25));
        assert_eq!(parse_all(&text).unwrap()["select_1"], line(801.5, 0.25));
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
    fn a_writing_operation_may_wait_for_a_background_thread_now_and_then() {
        let before = Line { log_bytes: 300.0, ..line(1000.0, 1.0) };
        let with = |allocations, syscalls| Line { allocations, syscalls: Some(syscalls), ..before.clone() };
        assert_eq!(with(1.05, 2.05).rises_over(&before), Vec::<String>::new());
        assert_eq!(with(1.06, 2.0).rises_over(&before).len(), 1);
        assert_eq!(with(1.0, 2.06).rises_over(&before).len(), 1);
    }

    #[test]
    fn counts_are_rounded_per_unit() {
        assert_eq!(per_unit(10_001, 5_000, 2), 2.0);
        assert_eq!(per_unit(5_015_237, 5_000, 1), 1003.0);
    }
}
