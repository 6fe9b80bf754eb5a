//! Makes a case that shows a difference smaller: fewer statements, then a smaller statement.

use super::case::{Case, Step};
use super::tokens::{Token, closing, join, tokens};

/// Returns the smallest case found within `tries` calls of `shows`, which says whether a case still shows the
/// difference at its last step.
pub(crate) fn smallest(case: Case, tries: usize, shows: &mut impl FnMut(&Case) -> bool) -> Case {
    let mut budget = tries;
    let mut shows = |case: &Case| {
        let within = budget > 0;
        budget = budget.saturating_sub(1);
        within && shows(case)
    };
    let case = fewer_steps(case, &mut shows);
    let case = smaller_last(case, &mut shows);
    smaller_earlier(case, &mut shows)
}

/// Drops steps before the last, long stretches first.
fn fewer_steps(mut case: Case, shows: &mut impl FnMut(&Case) -> bool) -> Case {
    let mut stretch = case.steps.len().saturating_sub(1);
    while stretch > 0 {
        let mut end = case.steps.len() - 1;
        while end > 0 {
            let start = end.saturating_sub(stretch);
            let mut fewer = case.clone();
            fewer.steps.drain(start..end);
            if shows(&fewer) {
                case = fewer;
            }
            end = start;
        }
        stretch /= 2;
    }
    case
}

fn smaller_last(case: Case, shows: &mut impl FnMut(&Case) -> bool) -> Case {
    let last = case.steps.len() - 1;
    if case.steps[last].executions.is_some() {
        fewer_executions(case, shows)
    } else {
        smaller_at(case, last, shows)
    }
}

/// Statements that make tables are worth more than others to be made smaller.
fn smaller_earlier(mut case: Case, shows: &mut impl FnMut(&Case) -> bool) -> Case {
    for at in (0..case.steps.len() - 1).rev() {
        if case.steps[at].executions.is_none() {
            case = smaller_at(case, at, shows);
        }
    }
    case
}

fn fewer_executions(mut case: Case, shows: &mut impl FnMut(&Case) -> bool) -> Case {
    let last = case.steps.len() - 1;
    let mut at = 0;
    while let Some(executions) = case.steps[last].executions.as_ref().filter(|e| e.len() > 1 && at < e.len())
    {
        let mut fewer = case.clone();
        let rest: Vec<_> =
            executions.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, e)| e.clone()).collect();
        fewer.steps[last].executions = Some(rest);
        if shows(&fewer) {
            case = fewer;
        } else {
            at += 1;
        }
    }
    case
}

/// Replaces the statement at `at` by smaller ones as long as one of them still shows the difference.
fn smaller_at(mut case: Case, at: usize, shows: &mut impl FnMut(&Case) -> bool) -> Case {
    'again: loop {
        let whole = tokens(&case.steps[at].sql);
        for candidate in candidates(&whole) {
            let mut smaller = case.clone();
            smaller.steps[at] = Step { sql: join(&candidate), ..case.steps[at].clone() };
            if shows(&smaller) {
                case = smaller;
                continue 'again;
            }
        }
        return case;
    }
}

/// Statements with less in them than `whole`, those that lose most first.
fn candidates(whole: &[Token]) -> Vec<Vec<Token>> {
    let mut found = Vec::new();
    let mut chunk = whole.len() / 2;
    while chunk > 3 {
        without_chunks(whole, chunk, &mut found);
        chunk /= 2;
    }
    for open in (0..whole.len()).filter(|&at| whole[at].text == "(") {
        if let Some(close) = closing(whole, open) {
            of_parentheses(whole, open, close, &mut found);
        }
    }
    for chunk in (1..=3).rev() {
        without_chunks(whole, chunk, &mut found);
    }
    found.retain(|candidate| candidate.len() < whole.len());
    simpler_literals(whole, &mut found);
    found
}

fn without_chunks(whole: &[Token], chunk: usize, found: &mut Vec<Vec<Token>>) {
    // A statement keeps its verb.
    for start in (1..=whole.len().saturating_sub(chunk)).rev() {
        found.push(replaced(whole, start, start + chunk, &[]));
    }
}

/// Instead of a call or a parenthesis: NULL, each of its parts, and itself without one part.
fn of_parentheses(whole: &[Token], open: usize, close: usize, found: &mut Vec<Vec<Token>>) {
    let is_call = open > 0 && !whole[open].spaced && whole[open - 1].is_word();
    let start = if is_call { open - 1 } else { open };
    let null = Token { text: "NULL".to_owned(), spaced: true };
    found.push(replaced(whole, start, close + 1, &[null]));
    let parts = parts(whole, open, close);
    for &(from, to) in &parts {
        let mut part = whole[from..to].to_vec();
        if let Some(first) = part.first_mut() {
            first.spaced = true;
        }
        found.push(replaced(whole, start, close + 1, &part));
    }
    for &(from, to) in parts.iter().filter(|_| parts.len() > 1) {
        let (from, to) = if from == open + 1 { (from, to + 1) } else { (from - 1, to) };
        found.push(replaced(whole, from, to, &[]));
    }
}

/// What is between the commas of a parenthesis.
fn parts(whole: &[Token], open: usize, close: usize) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0usize, open + 1);
    for (at, token) in whole.iter().enumerate().take(close).skip(open + 1) {
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 0 => {
                parts.push((from, at));
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push((from, close));
    parts
}

fn simpler_literals(whole: &[Token], found: &mut Vec<Vec<Token>>) {
    for (at, token) in
        whole.iter().enumerate().filter(|(_, token)| token.is_literal() && token.text.len() > 3)
    {
        let simple = if token.text.starts_with('\'') { "'a'" } else { "1" };
        let simple = Token { text: simple.to_owned(), spaced: token.spaced };
        found.push(replaced(whole, at, at + 1, &[simple]));
    }
}

fn replaced(whole: &[Token], start: usize, end: usize, by: &[Token]) -> Vec<Token> {
    [&whole[..start], by, &whole[end.min(whole.len())..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shrunk(steps: &[&str], shows: impl Fn(&[String]) -> bool) -> Vec<String> {
        let steps = steps.iter().map(|sql| Step::text("", *sql)).collect();
        let sqls = |case: &Case| case.steps.iter().map(|step| step.sql.clone()).collect::<Vec<_>>();
        let case = smallest(Case { steps, ..Case::default() }, 5000, &mut |case| shows(&sqls(case)));
        sqls(&case)
    }

    #[test]
    fn statements_that_do_not_matter_are_dropped() {
        let steps = ["CREATE", "a", "b", "INSERT", "c", "d", "SELECT"];
        let shows =
            |steps: &[String]| steps.contains(&"CREATE".to_owned()) && steps.contains(&"INSERT".to_owned());
        assert_eq!(shrunk(&steps, shows), ["CREATE", "INSERT", "SELECT"]);
    }

    #[test]
    fn an_expression_loses_what_does_not_matter() {
        let sql = "SELECT CONCAT(LEFT('abcdef', ABS(-5)), ROUND(1.555, 2)) FROM v WHERE id = 3 ORDER BY 1";
        let balanced = |sql: &str| sql.matches('(').count() == sql.matches(')').count();
        let found = shrunk(&[sql], |steps| steps[0].contains("ROUND(1.555") && balanced(&steps[0]));
        assert_eq!(found, ["SELECT ROUND(1.555)"]);
    }

    #[test]
    fn no_more_than_the_tries_are_made() {
        let mut calls = 0;
        let steps = vec![Step::text("", "SELECT 1 + 2 + 3 + 4 + 5 + 6 + 7"); 9];
        smallest(Case { steps, ..Case::default() }, 10, &mut |_| {
            calls += 1;
            false
        });
        assert_eq!(calls, 10);
    }
}
