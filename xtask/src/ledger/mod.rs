//! `cargo xtask ledger`: what each operation costs, compared with what the ledger allows it to cost.

mod answers;
mod entries;
mod line;
mod measure;
mod outside;

use std::collections::BTreeMap;
use std::fs;

use crate::process::root;
use crate::rises;
use answers::Answers;
use line::{Line, figure, parse_figure};
use measure::Measured;

/// The ledger, from the workspace's root.
const LEDGER: &str = "tools/ledger/ledger.tsv";
/// What the operations are to cost one day, and the most syncs of some.
const BUDGETS: &str = "tools/ledger/budgets.tsv";

/// Measures and compares; `--bless` writes the ledger again, `--history` what became of it over time,
/// `--outside` compares with a server that is counted from outside, names restrict the run to those lines.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    match options {
        [] => gate(),
        ["--outside"] => outside::run(),
        ["--bless"] => bless(),
        ["--history"] => entries::write(),
        names => inform(names),
    }
}

/// Measured figures against the ledger, and the ledger's own history.
pub(crate) fn gate() -> Result<(), String> {
    let findings = findings_in_build(&[])?;
    if findings.is_empty() { Ok(()) } else { Err(format!("ledger: {} findings", findings.len())) }
}

/// What the gate finds, each told, in a driver that is built with these options of cargo.
pub(crate) fn findings_in_build(options: &[&str]) -> Result<Vec<String>, String> {
    let allowed = read(LEDGER)?;
    let Measured { lines: measured, answers } = measure::all(&[], options)?;
    let budgets = budgets()?;
    print_table(&measured, &allowed, &budgets);
    let mut findings = findings(&measured, &allowed);
    findings.extend(answers.findings(&Answers::read()?));
    findings.extend(above_limit(&measured, &budgets));
    findings.extend(without_reason(&measured, &budgets));
    findings.extend(rises::unexplained(LEDGER, |text| line::parse_all(text).ok(), rises)?);
    for finding in &findings {
        println!("ledger: {finding}");
    }
    println!("ledger: {} lines, {} findings", measured.len(), findings.len());
    Ok(findings)
}

/// Shows some lines. They judge nothing: what ran before leaves traces in memory and tables, up to a per cent
/// of a line.
fn inform(names: &[&str]) -> Result<(), String> {
    let allowed = read(LEDGER)?;
    print_table(&measure::all(names, &[])?.lines, &allowed, &budgets()?);
    Ok(())
}

fn bless() -> Result<(), String> {
    let allowed = read(LEDGER)?;
    let Measured { lines: measured, answers } = measure::all(&[], &[])?;
    answers.write()?;
    print_table(&measured, &allowed, &budgets()?);
    let mut text = format!("{}\n", line::HEADER);
    for line in &measured {
        text.push_str(&format!("{line}\n"));
    }
    fs::write(root().join(LEDGER), text).map_err(|e| format!("{LEDGER}: {e}"))?;
    println!("ledger: {LEDGER} written; a line that rose needs a Perf: trailer in its commit's message");
    entries::write()
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

/// Lines that both have and that rose.
fn rises(before: &BTreeMap<String, Line>, after: &BTreeMap<String, Line>) -> Vec<String> {
    after.iter().filter_map(|(name, line)| Some(line.rises_over(before.get(name)?))).flatten().collect()
}

/// Lines with more syncs than they may have.
fn above_limit(measured: &[Line], budgets: &BTreeMap<String, Budget>) -> Vec<String> {
    let above = |line: &Line| {
        let limit = budgets.get(&line.name)?.syncs_max?;
        (line.syncs > limit).then(|| format!("{}: {} syncs, {limit} at most", line.name, line.syncs))
    };
    measured.iter().filter_map(above).collect()
}

/// Lines over their budgets that nobody explains, and explanations of lines that are further below than two
/// passes of one server differ.
fn without_reason(measured: &[Line], budgets: &BTreeMap<String, Budget>) -> Vec<String> {
    let judge = |line: &Line| {
        let budget = budgets.get(&line.name)?;
        let (now, wished) = (line.instructions?, budget.instructions?);
        match (now > wished, budget.reason.is_empty()) {
            (true, true) => {
                Some(format!("{}: {now} over the budget of {wished}, no reason given", line.name))
            }
            (false, false) if now * line::TOLERANCE <= wished => {
                Some(format!("{}: within the budget of {wished}, its reason can go", line.name))
            }
            _ => None,
        }
    };
    measured.iter().filter_map(judge).collect()
}

/// What is wished of a line, and what must be.
struct Budget {
    /// Instructions, one day.
    instructions: Option<f64>,
    /// Syncs, always.
    syncs_max: Option<f64>,
    /// Why it has more instructions today.
    reason: String,
}

/// Budgets by name.
fn budgets() -> Result<BTreeMap<String, Budget>, String> {
    let text = fs::read_to_string(root().join(BUDGETS)).map_err(|e| format!("{BUDGETS}: {e}"))?;
    text.lines()
        .skip(1)
        .map(|line| parse_budget(line).ok_or_else(|| format!("{BUDGETS}: malformed line '{line}'")))
        .collect()
}

/// `name<TAB>instructions<TAB>syncs<TAB>reason`, a dash for what has no budget; the reason may be missing.
fn parse_budget(line: &str) -> Option<(String, Budget)> {
    let mut fields = line.split('\t');
    let name = fields.next()?.to_owned();
    let mut number = || parse_figure(fields.next()?).ok();
    let (instructions, syncs_max) = (number()?, number()?);
    Some((name, Budget { instructions, syncs_max, reason: fields.next().unwrap_or_default().to_owned() }))
}

fn print_table(measured: &[Line], allowed: &BTreeMap<String, Line>, budgets: &BTreeMap<String, Budget>) {
    println!(
        "{:<22} {:>12} {:>12} {:>8} {:>10} {:>8} {:>8} {:>7} {:>7}",
        "name", "instructions", "ledger", "change", "budget", "copied", "allocs", "calls", "syncs"
    );
    for line in measured {
        let before = allowed.get(&line.name).and_then(|before| before.instructions);
        let change = line.instructions.zip(before).map(|(now, before)| (now / before - 1.0) * 100.0);
        println!(
            "{:<22} {:>12} {:>12} {:>8} {:>10} {:>8} {:>8} {:>7} {:>7}",
            line.name,
            figure(line.instructions),
            figure(before),
            change.map_or_else(|| "-".to_owned(), |change| format!("{change:+.2}%")),
            figure(budgets.get(&line.name).and_then(|budget| budget.instructions)),
            figure(line.bytes_copied),
            figure(line.allocations),
            figure(line.syscalls),
            line.syncs,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_above_the_limit_are_found() {
        let text = format!("{}\nshared\t-\t-\t-\t-\t300\t0.31\n", line::HEADER);
        let measured: Vec<Line> = line::parse_all(&text).unwrap().into_values().collect();
        let found = |budget| above_limit(&measured, &BTreeMap::from([parse_budget(budget).unwrap()]));
        assert_eq!(found("shared\t-\t0.3"), ["shared: 0.31 syncs, 0.3 at most"]);
        assert_eq!(found("shared\t-\t0.32"), Vec::<String>::new());
        assert_eq!(found("shared\t9\t-"), Vec::<String>::new());
        assert!(parse_budget("shared\t9").is_none());
    }

    #[test]
    fn a_line_over_its_budget_has_a_reason_and_no_other() {
        let text = format!("{}\nscan\t31\t-\t-\t-\t0\t0\n", line::HEADER);
        let measured: Vec<Line> = line::parse_all(&text).unwrap().into_values().collect();
        let found = |budget| without_reason(&measured, &BTreeMap::from([parse_budget(budget).unwrap()]));
        assert_eq!(found("scan\t30\t-"), ["scan: 31 over the budget of 30, no reason given"]);
        assert_eq!(found("scan\t30\t-\tpages are copied"), Vec::<String>::new());
        assert_eq!(found("scan\t31\t-"), Vec::<String>::new());
        assert_eq!(found("scan\t31\t-\tpages are copied"), Vec::<String>::new(), "on the edge");
        assert_eq!(
            found("scan\t32\t-\tpages are copied"),
            ["scan: within the budget of 32, its reason can go"]
        );
    }
}
