//! Runs every script of `tests/locks` against a server of its own: each statement locks what MySQL locks for
//! the same plan, or less by a rule of COMPAT.md, and never more.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "test code, which reports how the footprints compare"
)]

testkit::script_tests!("locks", compare;
    clustered, composite, descending, inserts, joins, keyless, merged, prefix, secondary, unique_key);

fn compare(
    path: &std::path::Path,
    target: &testkit::runner::Target,
    _record: bool,
) -> Result<Vec<String>, String> {
    let tally = testkit::locks::compare_file(path, target)?;
    let testkit::locks::Tally { equal, less, entries_as_rows, other_plan, .. } = tally;
    println!(
        "{}: {equal} equal, {less} less by rule, {entries_as_rows} lock entries as rows, {other_plan} by another plan",
        path.display()
    );
    Ok(tally.wrong)
}

#[test]
fn compat_lists_every_rule() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../COMPAT.md");
    let text = std::fs::read_to_string(path).unwrap();
    for rule in testkit::locks::RULES {
        assert!(text.contains(&format!("| locks: {rule} |")), "COMPAT.md has no row for {rule:?}");
    }
}
