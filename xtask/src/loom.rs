//! `loom`: the protocols of threads under a model checker, and proof that its models can fail.
//!
//! A model is a test in a module `models`, compiled under `--cfg loom` (`base::sync::model` says how). Each
//! must hold. Then accesses that a model came by are made Relaxed, one at a time, and planted bugs are made:
//! each time some model must fail.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::parallel::in_parallel;
use crate::process::{root, target_dir};

/// The crates that have models.
const CRATES: [&str; 3] = ["base", "log@0.1.0", "trx"];

/// Children at a time.
const WORKERS: usize = 2;

/// Files in which a model has to come by every ordering above Relaxed, and to need it.
const STRICT: [&str; 5] = [
    "crates/base/src/sync/latch.rs",
    "crates/base/src/sync/park.rs",
    "crates/log/src/commit_delay.rs",
    "crates/log/src/in_flight.rs",
    "crates/trx/src/metadata_lock.rs",
];

/// Elsewhere, accesses of which models are known to find that they are weaker, so that no change of code or
/// models loses that unnoticed: file and text of the line. Of others nothing is said: they may be needed by
/// what no model does.
const NEEDED: [(&str, &str); 16] = [
    ("crates/log/src/log.rs", "let start = self.tail.0.fetch_add(sum.frame_bytes(), Ordering::AcqRel)"),
    ("crates/log/src/log.rs", "let tail = self.tail.0.load(Ordering::Acquire);"),
    ("crates/log/src/log.rs", "if end <= self.progress.0.written.load(Ordering::Acquire)"),
    ("crates/log/src/log.rs", "let limit = self.progress.0.written.load(Ordering::Acquire)"),
    ("crates/log/src/group_commit.rs", "self.progress.0.written.store(end.0, Ordering::Release)"),
    ("crates/trx/src/commit_table.rs", "word.store(ending.word(), Ordering::SeqCst)"),
    ("crates/trx/src/commit_table.rs", "if self.waiters.load(Ordering::SeqCst) != 0"),
    ("crates/trx/src/commit_table.rs", "self.waiters.fetch_add(1, Ordering::SeqCst)"),
    ("crates/trx/src/commit_table.rs", "word.load(Ordering::SeqCst) & KIND >= COMMITTED,"),
    ("crates/trx/src/slot.rs", "self.view.store(seen, Ordering::SeqCst)"),
    ("crates/trx/src/slot.rs", "let now = newest.load(Ordering::SeqCst)"),
    ("crates/trx/src/slot.rs", "oldest.min(slot.view.load(Ordering::SeqCst))"),
    ("crates/trx/src/slot.rs", "self.view.store(IDLE, Ordering::Release)"),
    ("crates/trx/src/system.rs", "self.newest.fetch_max(number.0, Ordering::SeqCst)"),
    ("crates/trx/src/system.rs", "if self.limit.load(Ordering::SeqCst) == id.0"),
    ("crates/trx/src/system.rs", "match self.limit.compare_exchange(at, next"),
];

/// The planted bugs that models have to find; others are the simulation's.
const BUGS: [&str; 3] = ["EarlyPurge", "EarlyRingClear", "ViewOffByOne"];

/// A model: the program that has it, and its name there.
#[derive(Clone, Debug)]
struct Model {
    program: String,
    name: String,
}

/// What a model did when nothing was wrong.
#[derive(Debug)]
struct Explored {
    model: Model,
    executions: u64,
    /// Lines `place FILE:LINE:COLUMN ORDERING` and `bug NAME`.
    met: Vec<String>,
}

/// A mistake to be made: the child's environment variable and its value, and what to call it.
#[derive(Debug)]
struct Mistake {
    variable: &'static str,
    value: String,
    /// Whether a model has to find it.
    required: bool,
    /// The models that come by it, quickest first.
    models: Vec<Model>,
}

/// Runs all models and then all mistakes; `--all` also makes those that need not be found, what is between an
/// ordering and Relaxed among them, and says which no model finds; `--preemptions N` lets threads lose the
/// processor N times more.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let (all, preemptions) = match options {
        [] => (false, "0"),
        ["--all"] => (true, "0"),
        ["--preemptions", n] => (false, *n),
        _ => return Err("loom [--all | --preemptions N]".to_owned()),
    };
    let models = models()?;
    let explored = in_parallel(WORKERS, &models, |model| explore(model, preemptions))?;
    for one in &explored {
        println!("{:>9} executions  {}", one.executions, one.model.name);
    }
    let mut mistakes = mistakes(&explored);
    if !all {
        mistakes.retain(|mistake| mistake.required);
    }
    if let [part, ..] = &unmet(&mistakes)[..] {
        return Err(format!("no model comes by `{part}`"));
    }
    let found = in_parallel(WORKERS, &mistakes, is_found)?;
    let mut missed = 0;
    for (mistake, _) in mistakes.iter().zip(&found).filter(|(_, found)| !**found) {
        missed += usize::from(mistake.required);
        let what = if mistake.required { "no model finds" } else { "no model needs more than" };
        println!("{what} {} {}", mistake.value, source_line(&mistake.value));
    }
    println!("loom: {} models hold; of {} mistakes {missed} not found", models.len(), mistakes.len());
    if missed == 0 { Ok(()) } else { Err(format!("{missed} mistakes pass unnoticed")) }
}

/// Builds the test programs and asks them for their models.
fn models() -> Result<Vec<Model>, String> {
    let mut args = vec!["test", "--quiet", "--profile=sim", "--lib", "--no-run", "--message-format=json"];
    args.extend(CRATES.iter().flat_map(|name| ["--package", name]));
    let out = Command::new("cargo")
        .args(args)
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", target_dir().join("loom"))
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    if !out.status.success() {
        return Err("the models do not build".to_owned());
    }
    let mut models = Vec::new();
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let Some(program) = message["executable"].as_str() else { continue };
        let list = Command::new(program).arg("--list").output();
        let list = list.map_err(|e| format!("cannot run {program}: {e}"))?;
        let names = String::from_utf8_lossy(&list.stdout);
        let names = names.lines().filter_map(|line| line.strip_suffix(": test"));
        let names = names.filter(|name| name.contains("models::"));
        models.extend(names.map(|name| Model { program: program.to_owned(), name: name.to_owned() }));
    }
    Ok(models)
}

/// Runs one model; its output, and whether it held.
fn child(model: &Model, variables: &[(&str, &str)]) -> Result<(bool, String), String> {
    let out = Command::new(&model.program)
        .args(["--exact", &model.name, "--nocapture"])
        .envs(variables.iter().copied())
        .current_dir(root())
        .output()
        .map_err(|e| format!("cannot run {}: {e}", model.program))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    if text.contains("maximum number of branches") {
        return Err(format!("{} has no end with {variables:?}", model.name));
    }
    if !out.status.success() && !text.contains("panicked at") {
        return Err(format!("{} broke down with {variables:?}: {}\n{text}", model.name, out.status));
    }
    Ok((out.status.success(), text))
}

fn explore(model: &Model, preemptions: &str) -> Result<Explored, String> {
    let (holds, text) = child(model, &[("MODEL_PREEMPTIONS", preemptions)])?;
    if !holds {
        return Err(format!("{} does not hold:\n{text}", model.name));
    }
    let numbers = text.lines().filter_map(|line| line.strip_prefix("executions "));
    let executions = numbers.filter_map(|number| number.parse::<u64>().ok()).sum();
    let met = text.lines().filter(|line| line.starts_with("place ") || line.starts_with("bug "));
    let met = met.map(str::to_owned).collect();
    Ok(Explored { model: model.clone(), executions, met })
}

/// All mistakes that can be made at what the models came by.
fn mistakes(explored: &[Explored]) -> Vec<Mistake> {
    let mut met: BTreeMap<&str, Vec<&Explored>> = BTreeMap::new();
    for one in explored {
        one.met.iter().for_each(|line| met.entry(line).or_default().push(one));
    }
    let mut mistakes = Vec::new();
    for (line, mut by) in met {
        by.sort_by_key(|one| one.executions);
        let models: Vec<Model> = by.iter().map(|one| one.model.clone()).collect();
        let mut add = |variable, value: String, required| {
            mistakes.push(Mistake { variable, value, required, models: models.clone() });
        };
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["bug", name] => add("MODEL_PLANT", name.to_owned(), BUGS.contains(&name)),
            [_, place, ordering] => {
                add("MODEL_WEAKEN", format!("{place}=Relaxed"), is_needed(place));
                for half in weaker(ordering) {
                    add("MODEL_WEAKEN", format!("{place}={half}"), false);
                }
            }
            _ => {}
        }
    }
    mistakes
}

/// The orderings between `ordering` and Relaxed.
fn weaker(ordering: &str) -> &'static [&'static str] {
    match ordering {
        "SeqCst" => &["AcqRel", "Acquire", "Release"],
        "AcqRel" => &["Acquire", "Release"],
        _ => &[],
    }
}

fn is_needed(place: &str) -> bool {
    let text = source_line(place);
    STRICT.iter().any(|file| place.starts_with(file))
        || NEEDED.iter().any(|(file, part)| place.starts_with(file) && text.contains(part))
}

/// What has to be needed and no model came by: entries of [`NEEDED`] under which the source has changed, and
/// orderings above Relaxed in files of [`STRICT`], their tests left out.
fn unmet(mistakes: &[Mistake]) -> Vec<String> {
    let is_met = |file: &str, part: &str| {
        let at = |mistake: &&Mistake| mistake.value.starts_with(file);
        mistakes.iter().filter(at).any(|mistake| source_line(&mistake.value).contains(part))
    };
    let entries =
        NEEDED.iter().filter(|(file, part)| !is_met(file, part)).map(|(_, part)| (*part).to_owned());
    let orderings = STRICT.iter().flat_map(|file| {
        let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        let code: Vec<_> =
            text.lines().take_while(|line| *line != "mod tests {").map(str::to_owned).collect();
        let orders = |line: &str| {
            let is_strong = |name| line.contains(&format!("Ordering::{name}"));
            ["Acquire", "Release", "AcqRel", "SeqCst"].into_iter().any(is_strong)
        };
        let lines = code.into_iter().zip(1..).filter(move |(line, _)| orders(line));
        lines
            .filter(|(line, _)| !line.trim_start().starts_with("//"))
            .map(move |(_, number)| format!("{file}:{number}"))
    });
    let is_passed_over =
        |place: &String| !mistakes.iter().any(|mistake| mistake.value.starts_with(&format!("{place}:")));
    entries.chain(orderings.filter(is_passed_over)).collect()
}

/// The line of the source at `FILE:LINE:COLUMN..`; empty for other names.
fn source_line(place: &str) -> String {
    let mut parts = place.split(':');
    let (Some(file), Some(number)) = (parts.next(), parts.next()) else { return String::new() };
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
    let number = number.parse::<usize>().unwrap_or(0);
    text.lines().nth(number.saturating_sub(1)).unwrap_or_default().trim().to_owned()
}

/// Whether a model fails because of the mistake.
fn is_found(mistake: &Mistake) -> Result<bool, String> {
    for model in &mistake.models {
        let (holds, _) = child(model, &[(mistake.variable, &mistake.value)])?;
        if !holds {
            return Ok(true);
        }
    }
    Ok(false)
}
