//! `cargo xtask hot`: the hot functions of release builds against their list.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{root, run, target_dir};
use crate::rises;

/// The list, from the workspace's root.
const HOT_PATHS: &str = "tools/ledger/hot_paths.toml";

/// Builds `ratchet` for [`gate_by`].
pub(crate) fn gate() -> Result<(), String> {
    gate_by(&built_tool()?)
}

fn built_tool() -> Result<PathBuf, String> {
    run("cargo", &["build", "--quiet", "--package", "ratchet"])?;
    Ok(target_dir().join("debug/ratchet"))
}

/// Builds the server, and the ledger's driver, whose functions are those of the ledger's dumps, and has the
/// program `ratchet` read both. Then searches for numbers of the list that rose without a reason.
pub(crate) fn gate_by(ratchet: &Path) -> Result<(), String> {
    run("cargo", &["build", "--quiet", "--release", "--package", "ledger", "--package", "server"])?;
    let mut all_clean = true;
    for binary in ["ledger", "ratchetd"] {
        let (clean, said) = look_by(ratchet, binary)?;
        print!("{binary}: {said}");
        all_clean &= clean;
    }
    let risen = rises::unexplained(HOT_PATHS, limits, rises)?;
    for finding in &risen {
        println!("hot: {finding}");
    }
    if all_clean && risen.is_empty() {
        Ok(())
    } else {
        Err("hot: functions are not as their list says".to_owned())
    }
}

/// What each function may have: numbers by kind.
type Limits = BTreeMap<String, BTreeMap<String, i64>>;

fn limits(text: &str) -> Option<Limits> {
    let list: toml::Table = text.parse().ok()?;
    let functions = list.get("functions")?.as_table()?.iter();
    functions.map(|(name, function)| Some((name.clone(), numbers(function)?))).collect()
}

fn numbers(function: &toml::Value) -> Option<BTreeMap<String, i64>> {
    let pairs = function.as_table()?.iter();
    pairs.map(|(kind, number)| Some((kind.clone(), number.as_integer()?))).collect()
}

/// A function that may be one, and was to be inlined, has risen from no bytes.
fn rises(before: &Limits, after: &Limits) -> Vec<String> {
    let mut found = Vec::new();
    for (name, numbers) in after {
        let Some(earlier) = before.get(name) else { continue };
        for (kind, &number) in numbers {
            let most = earlier.get(kind).copied().unwrap_or(0);
            if number > most {
                found.push(format!("{name}: {kind} rose from {most} to {number}"));
            }
        }
    }
    found
}

/// Runs `ratchet lab hot` on the last release binary: whether nothing is wrong, and what is said.
pub(crate) fn look(binary: &str) -> Result<(bool, String), String> {
    look_by(&built_tool()?, binary)
}

fn look_by(ratchet: &Path, binary: &str) -> Result<(bool, String), String> {
    let mut command = Command::new(ratchet);
    command.args(["lab", "hot"]).arg(target_dir().join("release").join(binary)).current_dir(root());
    let out = command.output().map_err(|e| format!("cannot run {}: {e}", ratchet.display()))?;
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    match out.status.code() {
        Some(status @ (0 | 1)) => Ok((status == 0, said)),
        _ => Err(format!("hot: {said}{}", String::from_utf8_lossy(&out.stderr))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_rose_is_found_and_one_that_fell_is_not() {
        let of = |text: &str| limits(&format!("crates = []\n[functions]\n{text}")).unwrap_or_default();
        let before = of("'a::f' = { bytes = 100, cold = 2 }\n'a::g' = { cold = 1 }");
        let after = of(
            "'a::f' = { bytes = 90, cold = 3 }\n'a::g' = { bytes = 50, cold = 1 }\n'a::new' = { bytes = 9 }",
        );
        assert_eq!(rises(&before, &after), ["a::f: cold rose from 2 to 3", "a::g: bytes rose from 0 to 50"]);
        assert_eq!(rises(&after, &after), [""; 0]);
        assert_eq!(limits("crates = []\nfunctions = [{ name = 'a::f', bytes = 1 }]"), None);
    }
}
