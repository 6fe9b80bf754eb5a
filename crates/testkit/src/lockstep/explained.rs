//! Differences that are known and explained, each by a row of COMPAT.md.

use std::sync::atomic::{AtomicU64, Ordering};

use super::compare::Kind;
use super::pair::Finding;

/// There are no more rules.
pub(crate) const RULES_MAX: usize = 60;

/// The rules: blocks of lines `key: value`, with `#` before comments.
const TEXT: &str = include_str!("../../../../tests/lockstep/explained.txt");

/// A rule. Each text has to be part of what it is about, without regard to case.
#[derive(Debug, Default)]
pub struct Rule {
    /// First cell of its row in COMPAT.md.
    pub row: String,
    /// The kinds of difference that it explains; empty: all.
    kinds: Vec<String>,
    detail: Vec<String>,
    statement: Vec<String>,
    ours: Vec<String>,
    theirs: Vec<String>,
    /// The answers are the same except for the number after this text.
    apart: Option<String>,
    /// Numbers of warnings; a difference with another number is not explained. Empty: any number.
    numbers: Vec<String>,
    fired: AtomicU64,
}

/// All rules.
#[derive(Debug)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// The rules of the project.
    ///
    /// # Errors
    /// The file has a line that is none.
    pub fn load() -> Result<Rules, String> {
        Rules::parse(TEXT)
    }

    fn parse(text: &str) -> Result<Rules, String> {
        let mut rules: Vec<Rule> = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (key, value) = line.split_once(": ").ok_or_else(|| format!("{line:?} is no rule"))?;
            if key == "row" {
                rules.push(Rule { row: value.to_owned(), ..Rule::default() });
                continue;
            }
            let rule = rules.last_mut().ok_or_else(|| format!("{line:?} stands before a row"))?;
            match key {
                "kind" => rule.kinds.extend(value.split(", ").map(str::to_owned)),
                "detail" => rule.detail.push(value.to_lowercase()),
                "statement" => rule.statement.push(value.to_lowercase()),
                "ours" => rule.ours.push(value.to_lowercase()),
                "mysql" => rule.theirs.push(value.to_lowercase()),
                "apart" => rule.apart = Some(value.to_lowercase()),
                "numbers" => rule.numbers.extend(value.split(' ').map(str::to_owned)),
                _ => return Err(format!("{line:?} is no rule")),
            }
        }
        if rules.len() > RULES_MAX {
            return Err(format!("{} rules, at most {RULES_MAX}", rules.len()));
        }
        Ok(Rules(rules))
    }

    /// Whether a rule explains the finding; it is counted then.
    pub fn explain(&self, sql: &str, finding: &Finding) -> bool {
        let found = self.0.iter().find(|rule| rule.fits(sql, finding));
        found.inspect(|rule| _ = rule.fired.fetch_add(1, Ordering::Relaxed)).is_some()
    }

    /// All rules, and how often each explained a difference.
    pub(crate) fn fired(&self) -> impl Iterator<Item = (&Rule, u64)> {
        self.0.iter().map(|rule| (rule, rule.fired.load(Ordering::Relaxed)))
    }
}

impl Rule {
    fn fits(&self, sql: &str, finding: &Finding) -> bool {
        let kind = |kind: Kind| format!("{kind:?}");
        (self.kinds.is_empty() || self.kinds.contains(&kind(finding.difference.kind)))
            && contains_all(&finding.difference.detail, &self.detail)
            && contains_all(sql, &self.statement)
            && self.has_numbers_of(&finding.difference.detail)
            && contains_all(&finding.ours.join("\n"), &self.ours)
            && contains_all(&finding.theirs.join("\n"), &self.theirs)
            && self.apart.as_ref().is_none_or(|text| {
                without_number(&finding.ours, text) == without_number(&finding.theirs, text)
            })
    }

    /// Whether every number in `detail` is one of the rule's.
    fn has_numbers_of(&self, detail: &str) -> bool {
        let mut numbers = detail.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
        self.numbers.is_empty() || numbers.all(|number| self.numbers.iter().any(|known| known == number))
    }
}

/// The lines in lower case, without the number after `text`.
fn without_number(lines: &[String], text: &str) -> Vec<String> {
    let line = |line: &String| {
        let line = line.to_lowercase();
        let Some((before, after)) = line.split_once(text) else { return line };
        before.to_owned() + after.trim_start().trim_start_matches(|c: char| c.is_ascii_digit())
    };
    lines.iter().map(line).collect()
}

fn contains_all(text: &str, parts: &[String]) -> bool {
    parts.is_empty() || {
        let text = text.to_lowercase();
        parts.iter().all(|part| text.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::Difference;
    use super::*;

    fn finding(kind: Kind) -> Finding {
        let difference = Difference { kind, detail: "1064".to_owned() };
        Finding {
            difference,
            at: 0,
            ours: vec!["a:LONG".to_owned()],
            theirs: vec!["error 1 (2): x".to_owned()],
        }
    }

    #[test]
    fn a_rule_fits_what_has_all_its_parts() {
        let rules =
            Rules::parse("# why\nrow: x\nkind: Taken\nstatement: select a\nmysql: error 1\n").unwrap();
        assert!(rules.explain("SELECT a", &finding(Kind::Taken)));
        assert!(!Rules::parse("row: x\ndetail: 1305\n").unwrap().explain("SELECT a", &finding(Kind::Taken)));
        assert!(!rules.explain("SELECT a", &finding(Kind::Rows)));
        assert!(!rules.explain("SELECT b", &finding(Kind::Taken)));
        let [(rule, 1)] = rules.fired().collect::<Vec<_>>()[..] else { panic!("{rules:?}") };
        assert_eq!(rule.row, "x");
    }

    #[test]
    fn a_rule_of_some_warnings_fits_no_others() {
        let rules = Rules::parse("row: x\nkind: Warnings\nnumbers: 1292 1366\n").unwrap();
        let mut found = finding(Kind::Warnings);
        for (detail, fits) in [
            ("missing: warning 1292", true),
            ("warning 1292 instead of warning 1366", true),
            ("another number of the same warnings: warning 1052, warning 1292", false),
        ] {
            detail.clone_into(&mut found.difference.detail);
            assert_eq!(rules.explain("SELECT a", &found), fits, "{detail}");
        }
    }

    #[test]
    fn a_rule_of_one_number_fits_no_other_difference() {
        let rules = Rules::parse("row: x\napart: n=\n").unwrap();
        let mut found = finding(Kind::Rows);
        (found.ours, found.theirs) = (vec!["a N=4 b".to_owned()], vec!["a N=17 b".to_owned()]);
        assert!(rules.explain("SELECT a", &found));
        found.ours[0].push('c');
        assert!(!rules.explain("SELECT a", &found));
        let rules = Rules::parse("row: x\napart: at row\n").unwrap();
        (found.ours, found.theirs) = (vec!["at row 5".to_owned()], vec!["at row 12".to_owned()]);
        assert!(rules.explain("SELECT a", &found));
    }

    #[test]
    fn a_line_that_is_no_rule_is_refused() {
        for text in ["x", "kind: Rows", "row: a\nwhat: b"] {
            assert!(Rules::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_rule_names_a_row_of_compat() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../COMPAT.md");
        let compat = std::fs::read_to_string(path).unwrap();
        for (rule, _) in Rules::load().unwrap().fired() {
            assert!(compat.contains(&format!("| {} |", rule.row)), "COMPAT.md has no row {:?}", rule.row);
        }
    }
}
