//! What a run found, for people.

use super::explained::Rules;
use super::groups::{Group, Groups};
use super::run::Summary;

/// Lines of an answer that a report shows.
const LINES_MAX: usize = 5;
/// Characters of a line that a report shows.
const CHARS_MAX: usize = 300;

/// The whole report.
pub fn report(summary: &Summary) -> String {
    let mut text = groups(&summary.groups);
    text.push_str(&rules(&summary.rules));
    text.push_str(&format!(
        "\n{} statements in {} cases, {} of them errors on MySQL\n",
        summary.statements, summary.cases, summary.failed
    ));
    for (kind, count) in summary.groups.counts() {
        let remark = if kind.is_fault() { "" } else { " (no fault)" };
        text.push_str(&format!("{kind:?}: {count}{remark}\n"));
    }
    text
}

/// One paragraph a group.
pub fn groups(groups: &Groups) -> String {
    let mut text = String::new();
    let mut kind = None;
    for group in groups.sorted() {
        let this = group.finding.difference.kind;
        if kind != Some(this) {
            text.push_str(&format!("\n## {this:?}\n"));
            kind = Some(this);
        }
        text.push_str(&paragraph(group));
    }
    text
}

fn paragraph(group: &Group) -> String {
    let mut text = format!("\n{} x {}\n", group.count, group.finding.difference.detail);
    for step in &group.case.steps {
        text.push_str(&format!("  {};\n", cut(&step.shown())));
    }
    let (ours, theirs) = (&group.finding.ours, &group.finding.theirs);
    for (server, lines, others) in [("MySQL", theirs, ours), ("Ratchet", ours, theirs)] {
        // Rows that both servers have say nothing; the first line is the answer's kind.
        let alone = |(at, line): (usize, &String)| (at == 0 || !others.contains(line)).then(|| line.clone());
        let mut shown: Vec<String> = lines.iter().enumerate().filter_map(alone).collect();
        if shown.len() < 2 {
            shown.clone_from(lines);
        }
        for line in shown.iter().take(LINES_MAX) {
            text.push_str(&format!("    {server:8}{}\n", cut(line)));
        }
        if shown.len() > LINES_MAX {
            text.push_str(&format!("    {server:8}.. {} lines more\n", shown.len() - LINES_MAX));
        }
    }
    text
}

fn rules(rules: &Rules) -> String {
    let mut text = String::new();
    for (rule, fired) in rules.fired() {
        let remark = if fired == 0 { ": never, perhaps it is not needed any more" } else { "" };
        text.push_str(&format!("explained by \"{}\": {fired}{remark}\n", rule.row));
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{} .. ({} bytes)", &line[..end], line.len()),
        None => line.to_owned(),
    }
}
