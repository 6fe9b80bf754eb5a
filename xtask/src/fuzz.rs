//! `fuzz`: coverage-guided fuzzing of the targets in the crate `fuzz`, by libFuzzer on stable Rust.
//!
//! The compiler's own pass counts edges (`-C passes=sancov-module`); the fuzzer's runtime comes with
//! `libfuzzer-sys`. Only the crates of this workspace are instrumented: cargo calls this program in place of
//! the compiler for them, and [`wrap`] adds the flags. All other crates are those of the tests in the
//! profile `sim`. Debug assertions are on, and in this workspace overflow checks.
//!
//! | folder | what |
//! |---|---|
//! | fuzz/corpus/TARGET | inputs in the tree, small and few: where each run begins, and tests of the crate |
//! | fuzz/dictionaries/TARGET.dict | words, if the target has some |
//! | target/fuzz/corpus/TARGET | inputs that runs on this machine have found beside |
//! | target/fuzz/found/TARGET-* | inputs that failed |

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::process::{fresh, root, target_dir};

/// The planted bug.
const CANARY: &str = "canary";
/// How long the canary's bug may hide.
const CANARY_SECONDS: u64 = 60;
/// A target of the short form.
const SHORT_SECONDS: u64 = 9;
/// A target of the long form, if nothing is said.
const LONG_SECONDS: u64 = 1800;
/// An input that takes longer is a hang.
const INPUT_SECONDS_MAX: u32 = 10;
/// A process that takes more memory fails: 1 GiB beyond what the largest target takes by itself.
const RSS_MIB_MAX: u32 = 1024 + 256;
/// Longest input that the fuzzer makes.
const INPUT_BYTES_MAX: u32 = 4096;

/// Instrumentation: a counter for each edge, a table of where the edges are, and what comparisons compare.
const INSTRUMENTED: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
];
/// Keeps few inputs that together reach every edge, however often each passes it.
const MINIMISING: [&str; 2] = ["-set_cover_merge=1", "-use_counters=0"];
/// Set in the environment of a process that replaces the compiler.
const WRAPS: &str = "RATCHET_FUZZ_WRAPS_RUSTC";
/// How the crates of this workspace are compiled: code that is optimised a little runs several times faster
/// than code that is not, and is built in a third of the time of all optimisation.
const COMPILED: &str = "opt-level = 1\noverflow-checks = true\ndebug = \"line-tables-only\"\n";
/// The crate beside the product that no target uses.
const TESTKIT: &str = "testkit";

/// The mode that the command line selects.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    targets: Vec<String>,
    seconds: Option<u64>,
    minimise: bool,
    /// The form for continuous integration: few seconds a target, the same seed each time.
    short: bool,
}

/// What a run of a target came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    executions: u64,
    edges: u64,
    inputs: u64,
    passed: bool,
}

/// Runs the named targets, or all; or makes their corpora small.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let request = Request::parse(options)?;
    let all = build()?;
    if let Some(unknown) = request.targets.iter().find(|target| !all.contains(*target)) {
        return Err(format!("no target {unknown}; there are {}", shown(&all)));
    }
    let chosen = if request.targets.is_empty() { &all } else { &request.targets };
    if request.minimise {
        return chosen.iter().try_for_each(|target| minimise(target));
    }
    find_canary()?;
    if request.short {
        return fuzz_all(chosen, request.seconds.unwrap_or(SHORT_SECONDS), Some(1));
    }
    fuzz_all(chosen, request.seconds.unwrap_or(LONG_SECONDS), None)
}

impl Request {
    fn parse(options: &[&str]) -> Result<Request, String> {
        let mut request = Request::default();
        let mut options = options.iter();
        while let Some(&option) = options.next() {
            match option {
                "--seconds" => {
                    let seconds = options.next().and_then(|n| n.parse().ok());
                    request.seconds = Some(seconds.ok_or("--seconds N")?);
                }
                "--minimise" => request.minimise = true,
                "--short" => request.short = true,
                _ if option.starts_with('-') => {
                    return Err("fuzz [TARGET ..] [--seconds N] [--minimise | --short]".to_owned());
                }
                target => request.targets.push(target.to_owned()),
            }
        }
        Ok(request)
    }
}

/// Builds all programs with instrumentation; the names of the targets without the canary.
pub(crate) fn build() -> Result<Vec<String>, String> {
    let profile = profile()?;
    // The whole workspace is selected, as by the tests, for other crates to have the same features.
    let args = ["build", "--config", &profile, "--workspace", "--profile=sim", "--features=fuzz/libfuzzer"];
    let args = [&args[..], &["--bin=fuzz_*"]].concat();
    println!("== cargo {}", args.join(" "));
    let begun = Instant::now();
    let this = this_program()?;
    let status = Command::new("cargo")
        .args(args)
        .env("RUSTC_WORKSPACE_WRAPPER", this)
        .env(WRAPS, "1")
        .current_dir(root())
        .status()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    println!("== {:.1} s", begun.elapsed().as_secs_f64());
    if !status.success() {
        return Err("the fuzz targets do not build".to_owned());
    }
    let sources = root().join("fuzz/src/bin");
    let entries = fs::read_dir(&sources).map_err(|e| format!("{}: {e}", sources.display()))?;
    let names = entries.filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()));
    let names: BTreeSet<String> = names.filter(|name| name != CANARY).collect();
    Ok(names.into_iter().collect())
}

/// Writes [`COMPILED`] for each crate; the path of the file, for cargo.
fn profile() -> Result<String, String> {
    let crates = root().join("crates");
    let entries = fs::read_dir(&crates).map_err(|e| format!("{}: {e}", crates.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names = names.filter(|name| name != TESTKIT).chain(["fuzz".to_owned()]);
    let version = env!("CARGO_PKG_VERSION");
    let text: String =
        names.map(|name| format!("[profile.sim.package.\"{name}@{version}\"]\n{COMPILED}")).collect();
    let path = made(folder())?.join("profile.toml");
    fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path.display().to_string())
}

/// The path of this program. A build of the whole workspace may have replaced its file since it began; the
/// file there now serves as well, while the system names the one that is gone.
fn this_program() -> Result<PathBuf, String> {
    let path = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let now = path.to_str().and_then(|text| text.strip_suffix(" (deleted)")).map(PathBuf::from);
    Ok(now.unwrap_or(path))
}

/// Whether cargo has called this program in place of the compiler.
pub(crate) fn is_wrapper() -> bool {
    std::env::var_os(WRAPS).is_some()
}

/// Runs the compiler that `args` begin with on the arguments that follow, with instrumentation.
pub(crate) fn wrap(args: &[&str]) -> ExitCode {
    let Some((compiler, args)) = args.split_first() else { return ExitCode::FAILURE };
    let status = Command::new(compiler).args(args).args(INSTRUMENTED).status();
    if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Where everything is that is not in the tree.
fn folder() -> PathBuf {
    target_dir().join("fuzz")
}

fn program(target: &str) -> PathBuf {
    target_dir().join("sim").join(format!("fuzz_{target}"))
}

/// The corpus in the tree.
fn corpus(target: &str) -> PathBuf {
    root().join("fuzz/corpus").join(target)
}

fn made(folder: PathBuf) -> Result<PathBuf, String> {
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

fn shown(targets: &[String]) -> String {
    targets.join(", ")
}

/// A run of a target over `corpora`, with the limits of all runs. Its output is returned and, for a person,
/// also printed.
fn fuzzer(target: &str, corpora: &[&Path], options: &[impl AsRef<OsStr>]) -> Result<(bool, String), String> {
    let mut command = Command::new(program(target));
    command.args([
        format!("-timeout={INPUT_SECONDS_MAX}"),
        format!("-rss_limit_mb={RSS_MIB_MAX}"),
        format!("-max_len={INPUT_BYTES_MAX}"),
        format!("-artifact_prefix={}/{target}-", made(folder().join("found"))?.display()),
        "-print_final_stats=1".to_owned(),
        // Only Ctrl-C ends a run early: what has been found is kept.
        "-reload=0".to_owned(),
    ]);
    let dictionary = root().join("fuzz/dictionaries").join(format!("{target}.dict"));
    if dictionary.exists() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    let out = command
        .args(options)
        .args(corpora)
        .stdin(Stdio::null())
        .current_dir(root())
        .output()
        .map_err(|e| format!("cannot run the target {target}: {e}"))?;
    Ok((out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned()))
}

/// Fails unless the fuzzer finds the planted bug.
fn find_canary() -> Result<(), String> {
    let empty = fresh(&folder().join("canary"))?;
    let begun = Instant::now();
    let (passed, output) = fuzzer(CANARY, &[&empty], &[format!("-max_total_time={CANARY_SECONDS}")])?;
    if passed || !output.contains("the canary's bug is found") {
        return Err(format!("fuzz: the canary's bug was not found\n{}", end_of(&output)));
    }
    println!("fuzz: the canary's bug found in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Runs all of `targets`, one after another and `seconds` each, and prints their outcomes; an error if one
/// failed.
fn fuzz_all(targets: &[String], seconds: u64, seed: Option<u32>) -> Result<(), String> {
    println!("{:<12} {:>7} {:>11} {:>8} {:>7}", "target", "seconds", "executions", "edges", "inputs");
    let mut failed = Vec::new();
    for target in targets {
        if !fuzz_one(target, seconds, seed)? {
            failed.push(target.clone());
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("fuzz: {} failed; the inputs are in {}", shown(&failed), folder().join("found").display()))
}

/// Runs a target and prints its outcome: whether it passed.
fn fuzz_one(target: &str, seconds: u64, seed: Option<u32>) -> Result<bool, String> {
    let mut options = vec![format!("-max_total_time={seconds}")];
    options.extend(seed.map(|seed| format!("-seed={seed}")));
    // The short form leaves nothing behind that would change the next one.
    let own = folder().join(if seed.is_some() { "short" } else { "corpus" }).join(target);
    let own = if seed.is_some() { fresh(&own)? } else { made(own)? };
    let (passed, output) = fuzzer(target, &[&own, &made(corpus(target))?], &options)?;
    let outcome = Outcome::read(&output, passed);
    println!(
        "{target:<12} {seconds:>7} {:>11} {:>8} {:>7}{}",
        outcome.executions,
        outcome.edges,
        outcome.inputs,
        if passed { "" } else { "  FAILED" }
    );
    if !passed {
        println!("{}", end_of(&output));
    }
    Ok(passed)
}

/// Replaces a target's corpus in the tree by the smallest inputs that reach all that it and the runs on this
/// machine reached.
fn minimise(target: &str) -> Result<(), String> {
    let small = fresh(&folder().join("small").join(target))?;
    let (tree, found) = (made(corpus(target))?, made(folder().join("corpus").join(target))?);
    let (passed, output) = fuzzer(target, &[&small, &tree, &found], &MINIMISING)?;
    if !passed {
        return Err(format!("fuzz: cannot minimise {target}\n{}", end_of(&output)));
    }
    let tree = fresh(&tree)?;
    let (mut inputs, mut bytes) = (0, 0);
    for entry in fs::read_dir(&small).map_err(|e| format!("{}: {e}", small.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        let name = path.file_name().unwrap_or_default();
        bytes += fs::copy(&path, tree.join(name)).map_err(|e| format!("{}: {e}", path.display()))?;
        inputs += 1;
    }
    println!("{target}: {inputs} inputs, {bytes} bytes");
    Ok(())
}

impl Outcome {
    /// What the fuzzer said of a run.
    fn read(output: &str, passed: bool) -> Outcome {
        let stat = |name: &str| {
            let line = output.lines().rev().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.trim_start_matches(':').trim().parse().ok()).unwrap_or(0)
        };
        let last = |name: &str| {
            let mut statuses = output.lines().rev().filter(|line| line.starts_with('#'));
            let after = statuses.find_map(|line| {
                let mut words = line.split_whitespace();
                words.find(|word| *word == name).and(words.next())
            });
            after.and_then(|word| word.split('/').next()?.parse().ok()).unwrap_or(0)
        };
        Outcome {
            executions: stat("stat::number_of_executed_units"),
            edges: last("cov:"),
            inputs: last("corp:"),
            passed,
        }
    }
}

/// The last lines of what the fuzzer said.
fn end_of(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_seconds_are_read() {
        let request = Request::parse(&["sql", "--seconds", "5", "pages"]).unwrap();
        assert_eq!((request.targets, request.seconds), (vec!["sql".to_owned(), "pages".to_owned()], Some(5)));
        assert!(Request::parse(&["--seconds"]).is_err() && Request::parse(&["--frobnicate"]).is_err());
    }

    #[test]
    fn what_a_run_came_to_is_read_from_its_output() {
        let output = "#2\tINITED cov: 5 ft: 6 corp: 1/1b\n#70\tDONE   cov: 411 ft: 900 corp: 37/2Kb lim: 4\n\
                      stat::number_of_executed_units: 70\n";
        let expected = Outcome { executions: 70, edges: 411, inputs: 37, passed: true };
        assert_eq!(Outcome::read(output, true), expected);
    }
}
