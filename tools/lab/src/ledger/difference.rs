//! Which functions make the difference of two releases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use crate::error::{Error, Result};

use super::callgrind::Dump;
use super::percent;

/// A function whose own instructions changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub function: String,
    /// Its own instructions in the first dump; 0 if it was not run.
    pub before: u64,
    /// The same in the second.
    pub after: u64,
}

/// All functions that changed, the largest change first.
pub fn changes(before: &Dump, after: &Dump) -> Vec<Change> {
    let names: BTreeSet<&String> = before.functions.keys().chain(after.functions.keys()).collect();
    let of = |dump: &Dump, name: &String| dump.functions.get(name).copied().unwrap_or(0);
    let change =
        |name: &String| Change { function: name.clone(), before: of(before, name), after: of(after, name) };
    let mut changes: Vec<Change> = names.into_iter().map(change).filter(|c| c.before != c.after).collect();
    changes.sort_by_key(|c| std::cmp::Reverse(c.before.abs_diff(c.after)));
    changes
}

/// Explains two files, or two folders of them operation by operation: totals, and the `top` functions by
/// change.
pub fn explain(before: &Path, after: &Path, top: usize) -> Result<String> {
    if before.is_dir() != after.is_dir() {
        return Err(Error::Config("give two files of callgrind, or two folders of them".to_owned()));
    }
    if !before.is_dir() {
        return Ok(of_two(&Dump::read(before)?, &Dump::read(after)?, top));
    }
    let (befores, afters) = (dumps(before)?, dumps(after)?);
    let mut out = String::new();
    for (name, dump) in &afters {
        match befores.get(name) {
            Some(earlier) => {
                let _ = writeln!(out, "{name}: {}", of_two(earlier, dump, top));
            }
            None => out.push_str(&format!("{name}: only in {}\n\n", after.display())),
        }
    }
    for name in befores.keys().filter(|name| !afters.contains_key(*name)) {
        let _ = write!(out, "{name}: only in {}\n\n", before.display());
    }
    Ok(out)
}

/// Dumps of a folder by operation, or by file name where none is stated. Empty files are passed over:
/// callgrind leaves one at the end.
fn dumps(folder: &Path) -> Result<BTreeMap<String, Dump>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(Error::file(folder))? {
        let entry = entry.map_err(Error::file(folder))?;
        if entry.metadata().is_ok_and(|m| m.is_file() && m.len() > 0) {
            let dump = Dump::read(&entry.path())?;
            let name = dump.request.clone();
            found.insert(name.unwrap_or_else(|| entry.file_name().to_string_lossy().into_owned()), dump);
        }
    }
    if found.is_empty() {
        return Err(Error::Config(format!("{} has no files of callgrind", folder.display())));
    }
    Ok(found)
}

fn of_two(before: &Dump, after: &Dump, top: usize) -> String {
    let (was, is) = (before.total(), after.total());
    let mut out = format!("{was} -> {is} instructions, {}\n", percent(was as f64, is as f64));
    let changes = changes(before, after);
    if changes.is_empty() {
        out.push_str("  no function changed\n");
        return out;
    }
    let _ = writeln!(out, "  {:>14} {:>14} {:>14}  function", "change", "before", "after");
    for Change { function, before, after } in changes.iter().take(top) {
        let change = *after as i128 - *before as i128;
        let _ = writeln!(out, "  {change:>+14} {before:>14} {after:>14}  {function}");
    }
    let rest = &changes[top.min(changes.len())..];
    if !rest.is_empty() {
        let change: i128 = rest.iter().map(|c| c.after as i128 - c.before as i128).sum();
        let _ = writeln!(out, "  {change:>+14} {:>14} {:>14}  {} other functions", "", "", rest.len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::callgrind::parse;
    use super::*;

    fn text(request: &str, functions: &[(&str, u64)]) -> String {
        let costs = functions.iter().map(|(name, cost)| format!("fn={name}\n1 {cost}\n")).collect::<String>();
        format!("desc: Trigger: Client Request: {request}\nevents: Ir\n{costs}")
    }

    #[test]
    fn the_largest_changes_come_first_and_add_up_to_the_whole() {
        let before = parse(&text("x", &[("gone", 10), ("same", 7), ("grown", 100)])).unwrap();
        let after = parse(&text("x", &[("same", 7), ("grown", 130), ("new", 20)])).unwrap();
        let changes = changes(&before, &after);
        let names: Vec<&str> = changes.iter().map(|c| &c.function[..]).collect();
        assert_eq!(names, ["grown", "new", "gone"]);
        let sum: i64 = changes.iter().map(|c| c.after as i64 - c.before as i64).sum();
        assert_eq!(sum, after.total() as i64 - before.total() as i64);
        let told = of_two(&before, &after, 1);
        assert!(told.starts_with("117 -> 157 instructions, +34.2 %\n"), "{told}");
        let last: Vec<&str> = told.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["+10", "2", "other", "functions"]);
    }

    #[test]
    fn folders_are_compared_operation_by_operation() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        for (place, files) in [
            (&old, [("out.1", "ping", 5), ("out.2", "gone", 1)]),
            (&new, [("a", "ping", 6), ("b", "fresh", 2)]),
        ] {
            std::fs::create_dir(place).unwrap();
            std::fs::write(place.join("out"), "").unwrap();
            for (file, request, cost) in files {
                std::fs::write(place.join(file), text(request, &[("f", cost)])).unwrap();
            }
        }
        let told = explain(&old, &new, 5).unwrap();
        assert!(told.contains("ping: 5 -> 6 instructions, +20.0 %"), "{told}");
        assert!(told.contains("fresh: only in") && told.contains("gone: only in"), "{told}");
        assert!(explain(&old, &new.join("a"), 5).is_err());
    }
}
