//! Building the driver, preparing its data, running it twice: under callgrind and natively.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::answers::Answers;
use super::line::{Line, per_unit};
use crate::process::{fresh, remove, run, target_dir};

/// Where data and dumps lie. All runs take place there, with short relative paths and an empty environment:
/// the initial stack, and with it the alignment of buffers, is the same everywhere.
pub(super) fn workplace() -> PathBuf {
    target_dir().join("ledger")
}

/// A line of the driver's output.
struct Counted {
    name: String,
    units: u64,
    bytes_copied: Option<u64>,
    allocations: Option<u64>,
    syscalls: Option<u64>,
    log_bytes: u64,
    syncs: u64,
    /// What the server answered.
    answers: String,
}

/// What a run has found.
pub(super) struct Measured {
    pub(super) lines: Vec<Line>,
    pub(super) answers: Answers,
}

/// The line of many clients at once. They are not counted by instructions: a thread's work depends on which
/// other threads it meets.
const TOGETHER: &str = "commit_16_clients";

/// Measures the operations called `names`, or all, in a driver that is built with these options of cargo.
pub(super) fn all(names: &[&str], options: &[&str]) -> Result<Measured, String> {
    build(options)?;
    prepare()?;
    let alone: Vec<&str> = names.iter().copied().filter(|name| *name != TOGETHER).collect();
    let mut measured = Measured { lines: Vec::new(), answers: Answers::default() };
    if names.is_empty() || !alone.is_empty() {
        one_client(&alone, &mut measured)?;
    }
    if names.is_empty() || alone.len() < names.len() {
        group_commit(&mut measured)?;
    }
    Ok(measured)
}

fn one_client(names: &[&str], measured: &mut Measured) -> Result<(), String> {
    let counted = count(names)?;
    let (passes, instructions) = callgrind(names)?;
    for pass in &passes {
        let native = counted.iter().find(|native| native.name == pass.name);
        let native = native.ok_or_else(|| format!("{} works under callgrind only", pass.name))?;
        let count = instructions.get(&pass.name).ok_or_else(|| format!("no dump of {}", pass.name))?;
        measured.lines.push(Line {
            instructions: Some(per_unit(*count, pass.units, 1)),
            bytes_copied: Some(per_unit(native.bytes_copied.unwrap_or(0), native.units, 1)),
            allocations: pass.allocations.map(|calls| per_unit(calls, pass.units, 2)),
            ..native.line()
        });
        if native.answers != pass.answers {
            let [a, b] = [&native.answers, &pass.answers];
            return Err(format!("{} answers '{a}' natively, '{b}' under callgrind", pass.name));
        }
        measured.answers.enter(&pass.name, &pass.answers);
    }
    Ok(())
}

/// Natively, so that clients do meet.
fn group_commit(measured: &mut Measured) -> Result<(), String> {
    copy_data()?;
    let counted = read_output(driver_command().args(["group_commit", "run"]))?;
    remove(&workplace().join("run"))?;
    for pass in &counted {
        measured.lines.push(pass.line());
        measured.answers.enter(&pass.name, &pass.answers);
    }
    Ok(())
}

impl Counted {
    /// What a native pass tells.
    fn line(&self) -> Line {
        Line {
            name: self.name.clone(),
            instructions: None,
            bytes_copied: self.bytes_copied.map(|bytes| per_unit(bytes, self.units, 1)),
            allocations: self.allocations.map(|calls| per_unit(calls, self.units, 2)),
            syscalls: self.syscalls.map(|calls| per_unit(calls, self.units, 2)),
            log_bytes: per_unit(self.log_bytes, self.units, 1),
            syncs: per_unit(self.syncs, self.units, 3),
        }
    }
}

/// Builds the driver as the server is built for release, and with these options of cargo.
pub(super) fn build(options: &[&str]) -> Result<(), String> {
    run("cargo", &[&["build", "--release", "--package", "ledger"], options].concat())
}

/// Makes the data unless it was made by this very driver.
pub(super) fn prepare() -> Result<(), String> {
    let (place, driver) = (workplace(), target_dir().join("release/ledger"));
    let data = place.join("data");
    let made = fs::metadata(place.join("prepared")).and_then(|stamp| stamp.modified());
    let built = fs::metadata(&driver).and_then(|driver| driver.modified()).map_err(|e| e.to_string())?;
    if made.is_ok_and(|made| made > built) {
        return Ok(());
    }
    remove(&data)?;
    fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    let begun = Instant::now();
    let status = driver_command().args(["prepare", "data"]).status().map_err(|e| e.to_string())?;
    if !status.success() {
        return Err("failed: ledger prepare".to_owned());
    }
    fs::write(place.join("prepared"), "").map_err(|e| e.to_string())?;
    println!("ledger: data prepared in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// A fresh copy of the data, for a run that changes it.
pub(super) fn copy_data() -> Result<(), String> {
    let place = workplace();
    remove(&place.join("run"))?;
    run("cp", &["-r", "--reflink=auto", &text(&place.join("data")), &text(&place.join("run"))])
}

pub(super) fn text(path: &Path) -> String {
    path.display().to_string()
}

fn driver_command() -> Command {
    let mut command = Command::new("../release/ledger");
    command.current_dir(workplace()).env_clear();
    command
}

/// Callgrind counts a string instruction once per byte, whatever it costs. With these the C library copies
/// and clears long stretches by vector moves, as it does short ones: a count that says something of the time.
const NO_STRING_INSTRUCTIONS: &str =
    "glibc.cpu.x86_rep_movsb_threshold=0x10000000:glibc.cpu.x86_rep_stosb_threshold=0x10000000";

/// `valgrind --tool=callgrind` with the workplace as its folder.
pub(super) fn callgrind_command() -> Command {
    let mut command = Command::new("valgrind");
    command.current_dir(workplace()).env_clear();
    command
        .env("PATH", "/usr/bin:/bin")
        .env("GLIBC_TUNABLES", NO_STRING_INSTRUCTIONS)
        .arg("--tool=callgrind");
    command
}

/// A heap of its own for each thread grows a page at a time, by a system call each: these would be counted,
/// and are none of the server's, which has another allocator. Instructions are counted without it: threads
/// that share a heap wait for each other.
const ONE_HEAP: &str = "glibc.malloc.arena_max=1";

/// Copies and system calls, natively.
fn count(names: &[&str]) -> Result<Vec<Counted>, String> {
    copy_data()?;
    let library = target_dir().join("release/libledger_copies.so");
    let mut command = driver_command();
    command.env("LD_PRELOAD", library).env("GLIBC_TUNABLES", ONE_HEAP);
    read_output(command.args(["count", "run"]).args(names))
}

/// Instructions and allocations, under callgrind.
fn callgrind(names: &[&str]) -> Result<(Vec<Counted>, HashMap<String, u64>), String> {
    copy_data()?;
    let dumps = fresh(&workplace().join("dumps"))?;
    let mut command = callgrind_command();
    command.args(["--quiet", "--instr-atstart=no", "--collect-atstart=no", "--callgrind-out-file=dumps/out"]);
    let measured = read_output(command.args(["../release/ledger", "run", "run"]).args(names))?;
    let instructions = totals(&dumps)?;
    remove(&workplace().join("run"))?;
    Ok((measured, instructions))
}

/// Instructions by operation. The dumps are given the operations' names.
fn totals(dumps: &Path) -> Result<HashMap<String, u64>, String> {
    let mut instructions = HashMap::new();
    for path in files(dumps)? {
        let dump = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = field(&dump, "desc: Trigger: Client Request: ");
        if let (Some(name), Some(total)) = (name, total(&dump)) {
            instructions.insert(name.to_owned(), total);
            fs::rename(&path, dumps.join(name)).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    Ok(instructions)
}

/// Files in a folder; none if there is no folder.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(|e| e.to_string())).collect()
}

/// The rest of the dump's line that begins with `key`.
fn field<'a>(dump: &'a str, key: &str) -> Option<&'a str> {
    dump.lines().find_map(|line| line.strip_prefix(key))
}

/// All instructions in a dump.
pub(super) fn total(dump: &str) -> Option<u64> {
    field(dump, "totals: ")?.split(' ').next()?.parse().ok()
}

fn read_output(command: &mut Command) -> Result<Vec<Counted>, String> {
    let begun = Instant::now();
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot run {}: {e}", command.get_program().display()))?;
    if !output.status.success() {
        return Err(format!("failed: {} of the ledger", command.get_program().display()));
    }
    println!("ledger: pass of {:.1} s", begun.elapsed().as_secs_f64());
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| counted(line).ok_or_else(|| format!("malformed output '{line}'"))).collect()
}

fn counted(line: &str) -> Option<Counted> {
    let mut fields = line.split('\t');
    let name = fields.next()?.to_owned();
    let mut number = || match fields.next()? {
        "-" => Some(None),
        text => text.parse().ok().map(Some),
    };
    Some(Counted {
        name,
        units: number()??,
        bytes_copied: number()?,
        allocations: number()?,
        syscalls: number()?,
        log_bytes: number()??,
        syncs: number()??,
        // After the time.
        answers: fields.nth(1)?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_and_driver_lines_are_understood() {
        let dump = "version: 1\ndesc: Trigger: Client Request: ping\nevents: Ir\ntotals: 5015237\n";
        assert_eq!(field(dump, "desc: Trigger: Client Request: "), Some("ping"));
        assert_eq!(total(dump), Some(5_015_237));
        let line = counted("ping\t5000\t-\t0\t10000\t0\t7\t51780965\t0 rows, 0 affected, 1f").unwrap();
        assert_eq!(line.answers, "0 rows, 0 affected, 1f");
        assert_eq!((line.units, line.bytes_copied, line.syscalls, line.syncs), (5000, None, Some(10_000), 7));
        assert!(counted("ping\tmany").is_none());
    }
}
