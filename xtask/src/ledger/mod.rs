//! `cargo xtask ledger`: what each operation costs, compared with what the ledger allows it to cost.

mod history;
mod line;
mod measure;
mod outside;

use std::collections::BTreeMap;
use std::fs;

use crate::process::root;
use line::Line;

/// The ledger, from the workspace's root.
const LEDGER: &str = "ledger/ledger.tsv";
/// What the operations are to cost one day.
const BUDGETS: &str = "ledger/budgets.tsv";

/// Measures and compares; `--bless` writes the ledger anew, `--outside` compares with a server that is counted from
/// outside, names restrict the run to those lines.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    match options {
        [] => gate(),
        ["--outside"] => outside::run(),
        ["--bless"] => bless(),
        names => inform(names),
    }
}

/// Measured figures against the ledger, and the ledger's own history.
pub(crate) fn gate() -> Result<(), String> {
    let allowed = read(LEDGER)?;
    let measured = measure::all(&[])?;
    print_table(&measured, &allowed)?;
    let mut findings = findings(&measured, &allowed);
    findings.extend(history::findings(LEDGER)?);
    for finding in &findings {
        println!("ledger: {finding}");
    }
    println!("ledger: {} lines, {} findings", measured.len(), findings.len());
    if findings.is_empty() { Ok(()) } else { Err(format!("ledger: {} findings", findings.len())) }
}

/// Shows some lines. They judge nothing: what ran before leaves traces in memory and tables, up to a per cent of a line.
fn inform(names: &[&str]) -> Result<(), String> {
    print_table(&measure::all(names)?, &read(LEDGER)?)
}

fn bless() -> Result<(), String> {
    let allowed = read(LEDGER)?;
    let measured = measure::all(&[])?;
    print_table(&measured, &allowed)?;
    let mut text = format!("{}\n", line::HEADER);
    for line in &measured {
        text.push_str(&format!("{line}\n"));
    }
    fs::write(root().join(LEDGER), text).map_err(|e| format!("{LEDGER}: {e}"))?;
    println!("ledger: {LEDGER} written; a line that rose needs a Perf: trailer in its commit's message");
    Ok(())
}

/// Lines by name; an absent ledger has none.
fn read(path: &str) -> Result<BTreeMap<String, Line>, String> {
    match fs::read_to_string(root().join(path)) {
        Ok(text) => line::parse_all(&text).map_err(|e| format!("{path}: {e}")),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(e) => Err(format!("{path}: {e}")),
    }
}

fn findings(measured: &[Line], allowed: &BTreeMap<String, Line>) -> Vec<String> {
    let mut found: Vec<String> = measured
        .iter()
        .flat_map(|line| match allowed.get(&line.name) {
            Some(before) => line.rises_over(before),
            None => vec![format!("{} is not in {LEDGER}; enter it with --bless", line.name)],
        })
        .collect();
    let is_measured = |name: &String| measured.iter().any(|line| line.name == *name);
    let gone = allowed.keys().filter(|name| !is_measured(name));
    found.extend(gone.map(|name| format!("{name} stands in {LEDGER} but could not be measured")));
    found
}

/// Budgets by name: `name<TAB>instructions`.
fn budgets() -> Result<BTreeMap<String, f64>, String> {
    let text = fs::read_to_string(root().join(BUDGETS)).map_err(|e| format!("{BUDGETS}: {e}"))?;
    text.lines()
        .skip(1)
        .map(|line| {
            let (name, budget) =
                line.split_once('\t').ok_or_else(|| format!("{BUDGETS}: no tab in '{line}'"))?;
            let budget = budget.parse().map_err(|_| format!("{BUDGETS}: not a number in '{line}'"))?;
            Ok((name.to_owned(), budget))
        })
        .collect()
}

fn print_table(measured: &[Line], allowed: &BTreeMap<String, Line>) -> Result<(), String> {
    let budgets = budgets()?;
    println!(
        "{:<22} {:>12} {:>12} {:>8} {:>10} {:>8} {:>8} {:>7}",
        "name", "instructions", "ledger", "change", "budget", "copied", "allocs", "calls"
    );
    for line in measured {
        let before = allowed.get(&line.name).map(|before| before.instructions);
        println!(
            "{:<22} {:>12.1} {:>12} {:>8} {:>10} {:>8.1} {:>8.2} {:>7}",
            line.name,
            line.instructions,
            before.map_or_else(|| "-".to_owned(), |n| format!("{n:.1}")),
            before.map_or_else(
                || "-".to_owned(),
                |n| format!("{:+.2}%", (line.instructions / n - 1.0) * 100.0)
            ),
            budgets.get(&line.name).map_or_else(|| "-".to_owned(), ToString::to_string),
            line.bytes_copied,
            line.allocations,
            line.syscalls.map_or_else(|| "-".to_owned(), |n| format!("{n:.2}")),
        );
    }
    Ok(())
}
