//! Calls and words that may not be in production code.

use super::source::{SourceFile, at};

/// Crates that are tools or tests as a whole; the bans on the outside world do not bind them.
const TOOLS: [&str; 6] = ["fuzz", "lab", "ledger", "ratchet", "testkit", "xtask"];
/// Crates that may touch the operating system.
const OUTSIDE_WORLD: [&str; 2] = ["env", "server"];
/// Crates that may contain `unsafe`.
const UNSAFE_ALLOWED: [&str; 4] = ["base", "env", "buffer", "log"];

/// Word, and why it is banned, everywhere.
const LEFTOVERS: [(&str, &str); 8] = [
    ("todo!(", "unfinished code"),
    ("unimplemented!(", "unfinished code"),
    ("dbg!(", "debugging leftover"),
    ("FIXME", "known defect left in"),
    ("#[ignore", "a test that does not run"),
    ("not_yet(\"this ", "error 1235 names a statement or feature"),
    ("NotSupported(\"this ", "error 1235 names a statement or feature"),
    (concat!("TO", "DO"), "work belongs in the tracker"),
];

/// Call, and why it is banned, outside `env`, `server` and the tools.
const OUTSIDE_CALLS: [(&str, &str); 6] = [
    ("std::fs", "files go through env"),
    ("Instant::now", "the clock goes through env"),
    ("SystemTime::now", "the clock goes through env"),
    ("thread::spawn", "threads go through env"),
    ("thread::sleep", "no sleeps: wait for a condition"),
    ("std::net", "sockets belong to server"),
];

/// Tells how long threads slept, for the latches of a crate that is below `env`.
const TIMES_WAITS: &str = "crates/base/src/sync/wait_times.rs";

/// Validators of whole structures that may be defined outside `check.rs`: they run once per I/O.
const BOUNDARY_CHECKS: [&str; 2] = ["verify_on_read", "verify_password"];

/// Where the one is that is planted on purpose.
const PLANTED: &str = "crates/exec/src/planted.rs";

/// Banned words and calls in the production lines of `file`.
pub(crate) fn findings(file: &SourceFile) -> Vec<String> {
    let name = file.crate_name();
    let this_rule = file.path.ends_with("tidy/banned.rs");
    let mut found = Vec::new();
    if !this_rule {
        for (i, line) in file.text.lines().enumerate() {
            found.extend(matches(line, &LEFTOVERS).map(|what| at(file, i + 1, &what)));
        }
    }
    let tool = TOOLS.contains(&name);
    for (number, line) in file.production_lines() {
        let code = line.split("//").next().unwrap_or("");
        if !tool && !OUTSIDE_WORLD.contains(&name) && file.path != TIMES_WAITS {
            found.extend(matches(code, &OUTSIDE_CALLS).map(|what| at(file, number, &what)));
        }
        if !UNSAFE_ALLOWED.contains(&name) && !tool && has_unsafe(code) {
            found.push(at(file, number, "unsafe outside the crates that may use it"));
        }
        if let Some(validator) = validator_defined(code)
            && !tool
            && !file.path.ends_with("/check.rs")
            && !file.path.contains("/check/")
            && file.path != PLANTED
        {
            found.push(at(file, number, &format!("whole-structure validator {validator} outside check.rs")));
        }
    }
    found
}

fn matches<'a>(line: &'a str, words: &'a [(&str, &str)]) -> impl Iterator<Item = String> + 'a {
    words.iter().filter(|(word, _)| line.contains(word)).map(|(word, why)| format!("{word}: {why}"))
}

fn has_unsafe(code: &str) -> bool {
    ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|form| code.contains(form))
}

/// The name of a function defined on this line that claims to validate a structure.
fn validator_defined(code: &str) -> Option<&str> {
    let name = code.split("fn ").nth(1)?.split(['(', '<']).next()?;
    let claims = ["check_", "validate_", "verify_"].iter().any(|prefix| name.starts_with(prefix));
    (claims && !BOUNDARY_CHECKS.contains(&name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings_of(path: &str, text: &str) -> usize {
        let tests_from = text.lines().count() + 1;
        findings(&SourceFile { path: path.into(), text: text.into(), tests_from }).len()
    }

    #[test]
    fn each_ban_has_its_place() {
        assert_eq!(findings_of("crates/page/src/a.rs", "let t = Instant::now();"), 1);
        assert_eq!(findings_of("crates/env/src/a.rs", "let t = Instant::now();"), 0);
        assert_eq!(findings_of("crates/sql/src/a.rs", "unsafe { x() }"), 1);
        assert_eq!(findings_of("crates/page/src/a.rs", "fn validate_page(p: &P) {}"), 1);
        assert_eq!(findings_of("crates/page/src/check.rs", "fn validate_page(p: &P) {}"), 0);
        assert_eq!(findings_of("crates/sql/tests/a.rs", "#[ignore]"), 1);
        assert_eq!(findings_of("crates/page/src/a.rs", "// reads like Instant::now but is not"), 0);
    }
}
