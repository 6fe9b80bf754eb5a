//! Programs of tests, several at a time.
//!
//! `cargo test` runs one after another, and processors idle: most tests wait, for deadlines, for syncs, for
//! each other. Here the programs that measure time run one after another at the usual priority, and the
//! others beside them at a lower one: a test that measures has a processor at once when it wakes up.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::output::Output;
use crate::process::root;

/// Programs that measure time, or whose tests compare servers: longest first.
const MEASURING: [&str; 11] = [
    "mariadb",
    "servers",
    "kill_random",
    "kill",
    "connections",
    "failed_logins",
    "withstand",
    "max_execution_time",
    "wait_times",
    "long_statements",
    "idle",
];
/// Those of the others that take long: they begin first, so that none is left over at the end.
const LONG: [&str; 8] = ["lab", "plans", "planner_rules", "tls", "memory", "elle", "engine", "sessions"];
/// Upper bound on the programs that run beside one that measures; there is one for each processor.
const WORKERS_MAX: usize = 8;
/// Their priority: below that of one that measures, above that of builds beside the tests.
const NICENESS: u32 = 5;

/// A program, and where it runs.
#[derive(Debug)]
struct Program {
    name: String,
    path: OsString,
    args: Vec<String>,
    folder: PathBuf,
}

/// Runs the tests that `cargo test` with these arguments runs, and, where they are of the whole workspace,
/// those in documentation; each program with further environment variables.
pub(super) fn run(args: &[&str], variables: &[(&str, &Path)]) -> Result<(), String> {
    let mut programs = built(args)?;
    if !args.iter().any(|arg| arg.starts_with("--test=")) {
        programs.push(Program::of_documentation(args));
    }
    run_all(programs, variables)
}

/// Has cargo build the programs, and asks it where they are.
fn built(args: &[&str]) -> Result<Vec<Program>, String> {
    let args = [&["test"], args, &["--no-run", "--message-format=json"]].concat();
    println!("== cargo {}", args.join(" "));
    let out = Command::new("cargo")
        .args(args)
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    if !out.status.success() {
        return Err("the tests do not build".to_owned());
    }
    let messages = String::from_utf8_lossy(&out.stdout);
    let programs: Vec<Program> = messages.lines().filter_map(Program::of_message).collect();
    if programs.is_empty() { Err("cargo names no tests".to_owned()) } else { Ok(programs) }
}

impl Program {
    /// The program that a message of cargo is about, if it is about one with tests.
    fn of_message(message: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(message).ok()?;
        let path = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
        let target = &message["target"];
        let name = target["name"].as_str()?.to_owned();
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
        Some(Program { name, path: path.into(), args: Vec::new(), folder })
    }

    /// Tests in documentation, which cargo compiles when they run.
    fn of_documentation(args: &[&str]) -> Self {
        let args = ["test", "--doc"].iter().chain(args).map(|&arg| arg.to_owned()).collect();
        Program { name: "documentation".to_owned(), path: "cargo".into(), args, folder: root() }
    }

    fn is_measuring(&self) -> bool {
        MEASURING.contains(&self.name.as_str())
    }

    /// Its place among those that begin first.
    fn rank(&self) -> usize {
        let position = |names: &[&str]| names.iter().position(|name| *name == self.name);
        position(&MEASURING).or_else(|| position(&LONG)).unwrap_or(usize::MAX)
    }

    /// Runs it, and prints what it said once it has ended: whether it passed.
    fn run(&self, variables: &[(&str, &Path)]) -> Result<bool, String> {
        let begun = Instant::now();
        let file = Path::new(&self.path).file_name().unwrap_or_default().display();
        let output = Output::of(&format!("tests-{}-{file}", self.name));
        let niceness = if self.is_measuring() { 0 } else { NICENESS };
        let mut command = Command::new("nice");
        command.args(["-n", &niceness.to_string()]).arg(&self.path).args(&self.args);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command.envs(variables.iter().copied());
        output.redirect(&mut command)?;
        let status = command.status().map_err(|e| format!("cannot run nice: {e}"))?;
        let verdict = if status.success() { String::new() } else { format!(", FAILED ({status})") };
        let seconds = begun.elapsed().as_secs();
        // One call: other programs print meanwhile.
        println!("== {}\n{}ci: tests: {}: {seconds} s{verdict}", self.name, output.read()?, self.name);
        Ok(status.success())
    }
}

/// What is to run, and what failed.
struct Queue {
    measuring: VecDeque<Program>,
    others: VecDeque<Program>,
    failed: Vec<String>,
}

/// Runs all, or until one fails: those that run then are waited for.
fn run_all(mut programs: Vec<Program>, variables: &[(&str, &Path)]) -> Result<(), String> {
    programs.sort_by_key(Program::rank);
    let (measuring, others): (VecDeque<_>, VecDeque<_>) =
        programs.into_iter().partition(Program::is_measuring);
    let queue = Mutex::new(Queue { measuring, others, failed: Vec::new() });
    let work = |measures: bool| {
        // Not a loop over what a locked queue gives: the lock would be held while the program runs.
        let next = || queue.lock().expect("no worker panics").next(measures);
        while let Some(program) = next() {
            let result = program.run(variables);
            let failure = result.map_or_else(Some, |passed| (!passed).then(|| program.name.clone()));
            queue.lock().expect("no worker panics").failed.extend(failure);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| work(true));
        for _ in 0..thread::available_parallelism().map_or(1, usize::from).min(WORKERS_MAX) {
            scope.spawn(|| work(false));
        }
    });
    let failed = queue.into_inner().expect("no worker panics").failed;
    if failed.is_empty() { Ok(()) } else { Err(format!("failed tests: {}", failed.join(", "))) }
}

impl Queue {
    /// The next program for a worker, if none has failed. One worker runs all that measure, then it helps.
    fn next(&mut self, measures: bool) -> Option<Program> {
        if !self.failed.is_empty() {
            return None;
        }
        let measuring = if measures { self.measuring.pop_front() } else { None };
        measuring.or_else(|| self.others.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{fresh, output, target_dir};

    fn shell(folder: &Path, name: &str, script: &str) -> Program {
        let args = ["-c", script].map(str::to_owned).to_vec();
        Program { name: name.to_owned(), path: "sh".into(), args, folder: folder.to_owned() }
    }

    #[test]
    fn only_programs_with_tests_are_taken_from_what_cargo_says() {
        let message = |test: bool, executable: &str| {
            format!(
                "{{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/w/crates/server/Cargo.toml\",\
                 \"target\":{{\"kind\":[\"test\"],\"name\":\"kill\"}},\"profile\":{{\"test\":{test}}},\
                 \"executable\":{executable}}}"
            )
        };
        let program = Program::of_message(&message(true, "\"/t/kill-1\"")).unwrap();
        assert_eq!(
            (program.name.as_str(), program.folder.as_path()),
            ("kill", Path::new("/w/crates/server"))
        );
        assert!(program.is_measuring());
        assert!(Program::of_message(&message(false, "\"/t/ratchetd\"")).is_none());
        assert!(Program::of_message(&message(true, "null")).is_none());
        assert!(Program::of_message("{\"reason\":\"build-finished\",\"success\":true}").is_none());
    }

    #[test]
    fn names_in_the_lists_are_those_of_programs() {
        let folders = ["crates", "tools"].map(|folder| root().join(folder));
        let crates = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let crates: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path()).collect();
        let is_program = |name: &str, folder: &Path| {
            let tests = folder.join("tests").join(name);
            folder.ends_with(name) || tests.with_extension("rs").exists() || tests.join("main.rs").exists()
        };
        for name in MEASURING.iter().chain(&LONG) {
            assert!(crates.iter().any(|folder| is_program(name, folder)), "{name}");
        }
    }

    /// Programs that measure would fail in the folder that another has made; one of them and another program
    /// wait for each other.
    #[test]
    fn one_measures_at_a_time_beside_others_of_lower_priority() {
        let folder = fresh(&target_dir().join("ci/tests")).unwrap();
        let niceness: u32 = output("nice", &[]).unwrap().trim().parse().unwrap();
        let await_file = |name: &str| format!("until test -e {name}; do sleep 0.01; done");
        let alone = "mkdir turn && sleep 0.1 && rmdir turn";
        let first =
            format!("{alone} && test $(nice) = {niceness} && touch measuring && {}", await_file("other"));
        let other = format!(
            "test $(nice) = {} && touch other && {}",
            (niceness + NICENESS).min(19),
            await_file("measuring")
        );
        let programs = [("other", other.as_str()), ("idle", alone), ("kill", &first)];
        let programs = programs.map(|(name, script)| shell(&folder, name, script));
        assert_eq!(run_all(programs.into(), &[]), Ok(()));
        assert!(!folder.join("turn").exists() && folder.join("other").exists());
    }

    #[test]
    fn what_fails_is_named_and_nothing_else_begins() {
        let failing = || shell(&root(), "kill", "exit 3");
        let wants_word = || shell(&root(), "idle", "echo $WORD; test -n \"$WORD\"");
        assert_eq!(run_all(vec![failing(), wants_word()], &[]), Err("failed tests: kill".to_owned()));
        assert_eq!(run_all(vec![wants_word()], &[]), Err("failed tests: idle".to_owned()));
        assert_eq!(run_all(vec![wants_word()], &[("WORD", Path::new("word"))]), Ok(()));
    }
}
