//! `lab hot` on this test's own executable: functions that break the rules, each in one way, are found out.

#![allow(clippy::unwrap_used, reason = "test code")]
// Other profiles for tests have no line tables.
#![cfg(all(target_arch = "x86_64", target_os = "linux", debug_assertions))]

use std::collections::BTreeMap;
use std::hint::black_box;

use lab::hot::{HotPaths, Limits, Report, look};

#[inline(never)]
fn lean(values: &[u64]) -> u64 {
    values.first().copied().unwrap_or(7)
}

#[inline(never)]
fn indexes(values: &[u64], at: usize) -> u64 {
    values[at]
}

#[inline(never)]
fn tells(number: u64) -> String {
    format!("number {number}")
}

#[inline(always)]
fn check_order(values: &[u64]) -> bool {
    values.windows(2).all(|two| two[0] <= two[1])
}

#[inline(never)]
fn looks_twice(values: &[u64]) -> bool {
    check_order(values)
}

#[inline(never)]
fn verify_sum(values: &[u64]) -> bool {
    values.iter().fold(0, |sum: u64, v| sum.wrapping_add(*v)) == 6
}

#[inline(never)]
fn asks(values: &[u64]) -> u64 {
    u64::from(verify_sum(values)) + 1
}

#[inline(never)]
fn copies(from: &[u64; 100], to: &mut [u64; 100]) {
    *to = *from;
}

/// Keeps them all in the executable, with arguments of which the compiler knows nothing.
fn keep() {
    let values = black_box(&[1, 2, 3][..]);
    let (at, number) = black_box((1, 1));
    black_box((lean(values), indexes(values, at), tells(number), looks_twice(values), asks(values)));
    let mut to = [0; 100];
    copies(&black_box([1; 100]), &mut to);
    black_box(to);
}

type Functions = BTreeMap<String, Limits>;

fn looked(functions: Functions, validators: &[&str]) -> Report {
    keep();
    let validators = validators.iter().map(|&v| v.to_owned()).collect();
    let paths = HotPaths { crates: vec!["hot".to_owned()], validators, functions };
    look(&std::env::current_exe().unwrap(), &paths).unwrap()
}

/// Functions of this file that may be small and have nothing.
fn hot(names: &[&str]) -> Functions {
    let small = || Limits { bytes: Some(400), ..Limits::default() };
    names.iter().map(|name| (format!("hot::{name}"), small())).collect()
}

/// What is found in one function that may have nothing, besides the census.
fn found_in(name: &str) -> Vec<String> {
    let report = looked(hot(&[name]), &[]);
    let own = |finding: &String| finding.starts_with(&format!("hot::{name}: "));
    report.findings.into_iter().filter(own).collect()
}

#[test]
fn each_way_to_break_a_rule_is_found() {
    assert_eq!(found_in("lean"), Vec::<String>::new());
    for (name, said) in [
        ("indexes", "1 calls to failure machinery in cold tails, 0 at most"),
        ("tells", "calls to failure machinery in line, 0 at most"),
        ("looks_twice", "has in line the validator check_order"),
        ("asks", "calls the validator hot::verify_sum"),
        ("copies", "1 large copies, 0 at most"),
        ("renamed", "is neither a function nor inlined"),
    ] {
        let found = found_in(name);
        assert!(found.len() == 1 && found[0].contains(said), "{name}: {found:?}");
    }
    let census = looked(hot(&[]), &[]);
    assert_eq!(census.findings.len(), 1, "{census:?}");
    assert!(census.findings[0].starts_with("hot::verify_sum: a validator outside the check modules"));
    assert!(census.copies.iter().any(|c| c.starts_with("hot::copies: 800 bytes, at 0x")), "{census:?}");
}

#[test]
fn what_the_list_allows_is_no_finding_and_less_is_told() {
    let names = ["lean", "indexes", "tells", "copies", "asks"];
    let first = looked(hot(&names), &["verify_sum"]);
    let allowed = looked(first.measured.clone(), &["verify_sum"]);
    assert_eq!((allowed.findings, allowed.may_fall), (vec![], vec![]));
    let mut more = first.measured.clone();
    more.get_mut("hot::indexes").unwrap().cold = 2;
    let report = looked(more, &["verify_sum"]);
    assert_eq!(report.may_fall, ["hot::indexes: 1 calls to failure machinery in cold tails, not 2"]);
    let mut fewer = first.measured.clone();
    fewer.get_mut("hot::tells").unwrap().bytes = Some(1);
    assert!(looked(fewer, &["verify_sum"]).findings[0].contains(" bytes, 1 at most"));
}

#[test]
fn a_function_that_is_to_be_inlined_must_be_found_in_a_hot_one() {
    let to_inline = |name: &str| Functions::from([(name.to_owned(), Limits::default())]);
    let found = looked(to_inline("hot::lean"), &["verify_sum"]).findings;
    assert!(found[0].starts_with("hot::lean: is not inlined, but a function of "), "{found:?}");
    // The crate is taken from the file's path.
    let inlined_beside = |name: &str| {
        let functions = to_inline("lab::check_order").into_iter().chain(hot(&[name])).collect();
        looked(functions, &["verify_sum", "check_order"]).findings
    };
    assert_eq!(inlined_beside("looks_twice"), [""; 0]);
    assert_eq!(inlined_beside("lean").len(), 1);
}

#[test]
fn what_is_no_executable_with_symbols_is_refused() {
    let error = |path: &str| {
        let paths = HotPaths { crates: vec![], validators: vec![], functions: Functions::new() };
        look(path.as_ref(), &paths).unwrap_err().to_string()
    };
    assert!(error(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).contains("Cargo.toml"));
    assert!(error("/bin/true").contains("no symbols"));
}
