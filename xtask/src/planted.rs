//! `cargo xtask planted`: a validator that is called for every field is planted, and everything that must
//! find it is asked: the ledger's gate, the list of hot functions, a comparison of servers, and a search
//! through a history of commits.

use std::fs;
use std::path::Path;

use crate::hot;
use crate::lab;
use crate::ledger;
use crate::process::{fresh, output, root, run, target_dir};

/// What plants it, for cargo.
const PLANTED: [&str; 4] = ["--package", "exec", "--features", "exec/planted-validator"];
/// The validator's name in machine code.
const VALIDATOR: &str = "exec::planted::validate_field";
/// Operations of the ledger that read fields one by one.
const RISEN: [&str; 2] = ["point_select_prepared", "scan_send_row"];
/// How the lab measures. The workload sends rows of two columns, which are read field by field.
const SETTINGS: &str = "workloads = ['range-notcovered-pk']\nthreads = [1]\ntables = 1\ntable_rows = 20000\nrealtime = true\npin_single = true\n";
/// Commits of the history after the first, and which of them plants.
const COMMITS: usize = 7;
const PLANTING_COMMIT: usize = 5;

/// Plants and asks all four.
pub(crate) fn prove() -> Result<(), String> {
    let place = fresh(&target_dir().join("planted"))?;
    ask_ledger()?;
    ask_hot_functions()?;
    ask_comparison(&place)?;
    ask_history(&place)?;
    println!("planted: found by the ledger's gate, in hot functions, by a comparison, and in a history");
    Ok(())
}

fn ask_ledger() -> Result<(), String> {
    let findings = ledger::findings_in_build(&PLANTED)?;
    let is_found = |name: &&str| findings.iter().any(|finding| finding.starts_with(*name));
    match RISEN.iter().find(|name| !is_found(name)) {
        Some(name) => Err(format!("planted: the ledger's gate has nothing against {name}")),
        None => Ok(()),
    }
}

/// Of the driver that the ledger's gate had built.
fn ask_hot_functions() -> Result<(), String> {
    let (_, said) = hot::look("ledger")?;
    print!("{said}");
    for what in ["calls the validator", "a validator outside the check modules"] {
        if !said.lines().any(|line| line.contains(what) && line.contains(VALIDATOR)) {
            return Err(format!("planted: in hot functions nothing is said of {VALIDATOR} as \"{what}\""));
        }
    }
    Ok(())
}

/// Three servers: two are the same.
fn ask_comparison(place: &Path) -> Result<(), String> {
    let [sound, planted] = ["sound", "planted"].map(|name| place.join(name));
    lab::build_server(&sound, &[])?;
    lab::build_server(&planted, &PLANTED)?;
    let servers = [("base", sound.clone()), ("same", sound), ("slow", planted)];
    let out = lab::compare(&servers, &format!("{SETTINGS}confirmations = 5\nseconds = 2\n"), place)?;
    let table = fs::read_to_string(out.join("results.tsv")).map_err(|e| e.to_string())?;
    match [verdict(&table, "same")?, verdict(&table, "slow")?] {
        ["slower" | "faster", "slower"] => Err("planted: a server differs from itself".to_owned()),
        [_, "slower"] => Ok(()),
        [_, other] => Err(format!("planted: the comparison's verdict is {other:?}")),
    }
}

/// The only verdict about a target in tab-separated results.
fn verdict<'a>(table: &'a str, target: &str) -> Result<&'a str, String> {
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = lines.next().unwrap_or_default();
    let column = |name: &str| head.iter().position(|h| *h == name).ok_or(format!("no column {name}"));
    let (target_at, verdict_at) = (column("target")?, column("verdict")?);
    let row = lines.find(|row| row.get(target_at) == Some(&target));
    row.and_then(|row| row.get(verdict_at).copied()).ok_or(format!("nothing is said of {target}"))
}

/// Commits on top of this one, one of which plants a slowdown: the search builds and starts each that it
/// tries.
fn ask_history(place: &Path) -> Result<(), String> {
    let history = place.join("history");
    let folder = history.to_string_lossy();
    run("git", &["clone", "--quiet", "--shared", &root().to_string_lossy(), &folder])?;
    let git =
        |args: &[&str]| output("git", &[&["-C", &folder], args].concat()).map(|said| said.trim().to_owned());
    let good = git(&["rev-parse", "HEAD"])?;
    let mut commits = Vec::new();
    for commit in 1..=COMMITS {
        fs::write(history.join("note"), format!("{commit}\n")).map_err(|e| e.to_string())?;
        if commit == PLANTING_COMMIT {
            plant(&history.join("crates/exec/Cargo.toml"))?;
        }
        git(&["add", "--all"])?;
        let author = ["-c", "user.name=planted", "-c", "user.email=planted@localhost"];
        git(&[&author[..], &["commit", "--quiet", "--message", &format!("step {commit}")]].concat())?;
        commits.push(git(&["rev-parse", "HEAD"])?);
    }
    let config = format!(
        "[run]\n{SETTINGS}seconds = 1\nwarmup_seconds = 0\nout = '{}'\n[builds]\n{}\
         git = {{ directory = '{folder}', good = '{good}', bad = '{}' }}\n",
        fresh(&place.join("search"))?.display(),
        start_and_stop(place, &history)?,
        commits[COMMITS - 1],
    );
    let file = place.join("search.toml");
    fs::write(&file, config).map_err(|e| format!("{}: {e}", file.display()))?;
    let said = lab::command(&["bisect", "--config", &file.to_string_lossy()])?;
    let planting = &commits[PLANTING_COMMIT - 1];
    if said.trim() == format!("the first bad build is {planting}") {
        Ok(())
    } else {
        Err(format!("planted: {planting} plants, but {said}"))
    }
}

/// Makes the planted validator part of every build.
fn plant(manifest: &Path) -> Result<(), String> {
    let told = |e: std::io::Error| format!("{}: {e}", manifest.display());
    let text = fs::read_to_string(manifest).map_err(told)?;
    let planted = text.replacen("[features]\n", "[features]\ndefault = [\"planted-validator\"]\n", 1);
    if planted == text {
        return Err(format!("{} has no features", manifest.display()));
    }
    fs::write(manifest, planted).map_err(told)
}

/// Lines of a search's configuration: commands that build a commit once and start it, and that stop it; the
/// port.
fn start_and_stop(place: &Path, history: &Path) -> Result<String, String> {
    let (place, history, target) = (place.display(), history.display(), target_dir());
    let binary = format!("{place}/build-{{build}}");
    let build = format!(
        "[ -x {binary} ] || (cd {history} && git checkout --quiet {{build}} && \
         CARGO_TARGET_DIR={target} cargo build --quiet --profile fast --package server --bin ratchetd && \
         cp {target}/fast/ratchetd {binary}) || exit 1",
        target = target.display(),
    );
    let (data, log) = (format!("{place}/data-{{build}}"), format!("{place}/log-{{build}}"));
    let start = format!(
        "{binary} --no-defaults --port={{port}} --datadir={data} --socket={data}.sock >{log} 2>&1 & \
         pid=$!; until grep -q \"ready for connections\" {log}; do kill -0 $pid || exit 1; sleep 0.05; done"
    );
    let stop = format!("pkill -f -- \"--datadir={data} \"");
    let port = lab::free_port()?;
    Ok(format!("start = '{build}; {start}'\nstop = '{stop}'\nport = {port}\n"))
}
