//! COMPAT.md names every function, collation, character set, type and system variable that there is, and
//! every test it names exists.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use expr::Func;
use server::sysvars::{self, VarKind};
use types::collation::{Charset, Collation};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn compat() -> String {
    std::fs::read_to_string(root().join("COMPAT.md")).unwrap()
}

/// Names in backquotes that begin the rows of one section's table.
fn named(section: &str) -> BTreeSet<String> {
    let text = compat();
    let start = text.find(&format!("## {section}\n")).unwrap_or_else(|| panic!("no section {section}"));
    let body = &text[start + 3..];
    let body = &body[..body.find("\n## ").unwrap_or(body.len())];
    let rows = body.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.flat_map(|row| row.split(" | ").next().unwrap_or_default().split("`, `"))
        .map(|name| name.trim_matches('`').to_ascii_lowercase())
        .collect()
}

fn assert_same(section: &str, there: impl IntoIterator<Item = String>) {
    let there: BTreeSet<String> = there.into_iter().collect();
    let named = named(section);
    let missing: Vec<_> = there.difference(&named).collect();
    let stale: Vec<_> = named.difference(&there).collect();
    assert!(missing.is_empty() && stale.is_empty(), "{section}: missing {missing:?}, not there {stale:?}");
}

#[test]
fn every_system_variable_is_named() {
    assert_same("System variables", sysvars::ALL.iter().map(|def| def.name.to_owned()));
}

#[test]
fn a_variable_of_which_other_values_have_no_effect_refuses_them() {
    let text = compat();
    let rows = text.lines().filter(|line| line.contains("| partly: its default alone, another value is "));
    let named: BTreeSet<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
    let refusing = sysvars::ALL.iter().filter(|def| {
        let others = ["ON", "2", "/*! text */"];
        let kinds = [VarKind::Bool, VarKind::Text];
        let is_number = matches!(def.kind, VarKind::UInt(..));
        (kinds.contains(&def.kind) || is_number) && others.iter().all(|other| def.parse(other).is_none())
    });
    assert_eq!(named, refusing.map(|def| def.name).collect());
    assert!(named.len() > 10);
    for name in named {
        let def = &sysvars::ALL[sysvars::find(name).unwrap()];
        assert!(def.parse(def.default).is_some(), "{name}");
    }
}

#[test]
fn every_function_is_named() {
    assert_same("Functions", Func::names().map(str::to_owned));
}

#[test]
fn every_collation_and_character_set_is_named() {
    assert_same("Collations", Collation::all().iter().map(|collation| collation.name.to_owned()));
    assert_same("Character sets", Charset::ALL.iter().map(|charset| charset.name().to_owned()));
}

#[test]
fn every_test_that_is_named_exists() {
    let text = compat();
    let paths: BTreeSet<&str> = text
        .split(|c: char| c.is_whitespace() || matches!(c, '`' | ',' | '|' | '(' | ')'))
        .filter(|word| word.starts_with("crates/") || word.starts_with("tests/"))
        .collect();
    assert!(paths.len() > 5, "{paths:?}");
    for path in paths {
        assert!(root().join(path).exists(), "COMPAT.md names {path}");
    }
}
