//! `cargo xtask release`: the server as it is shipped, laid out by what it does under the lab's workloads.
//!
//! ```text
//!  instrumented build --train--> profile --> build with profile --instrument, train--> llvm-bolt --> target/shipped/ratchetd
//! ```
//! Each step that a missing program prevents is left out, and said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ci;
use crate::lab;
use crate::process::{fresh, output, root, run, target_dir};

/// What the lab trains with: shapes of statements that others are made of, a second each.
const TRAINING: &str = "workloads = ['point-query.pre', 'random-points.pre_range=100', 'read-only.pre_range=100', 'points-*.pre', \
                        'range-*.pre', 'update-*', 'write-only*', 'read-write_range=100', 'scan', 'insert', 'delete']\n\
                        repetitions = 3\nconfirmations = 0\nseconds = 1\nwarmup_seconds = 0\nthreads = [1]\n\
                        tables = 1\ntable_rows = 20000\n";
/// What the gain is measured with: one of each kind of the articles' workloads.
const MEASURING: &str = "workloads = ['point-query.pre', 'random-points.pre_range=100', 'read-only.pre_range=100', \
                         'range-notcovered-pk.pre', 'points-notcovered-si.pre', 'update-index', 'update-nonindex', 'write-only*', \
                         'read-write_range=100', 'scan', 'insert']\n\
                         repetitions = 5\nconfirmations = 0\nseconds = 2\nwarmup_seconds = 0\nthreads = [1]\n\
                         tables = 1\ntable_rows = 100000\nrealtime = true\npin_single = true\n";
/// Where the server is, below cargo's target folder.
pub(crate) const SHIPPED: &str = "shipped/ratchetd";
/// Versions of llvm-bolt to search for, as Debian names them.
const BOLT_VERSIONS: std::ops::RangeInclusive<u32> = 15..=30;

/// Builds, and with `--measure` compares with the plain release build, with `--test` runs its tests.
pub(crate) fn run_command(options: &[&str]) -> Result<(), String> {
    let (measures, tests) = match options {
        [] => (false, false),
        ["--measure"] => (true, false),
        ["--test"] => (false, true),
        _ => return Err("usage: cargo xtask release [--measure | --test]".to_owned()),
    };
    let place = target_dir().join("shipped");
    fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    let plain = place.join("ratchetd-plain");
    lab::build_server(&plain, &[])?;
    let mut built = vec![("plain", plain)];
    match profiled(&place)? {
        Some(binary) => {
            built.push(("profiled", binary.clone()));
            built.extend(bolted(&binary, &place)?.map(|binary| ("bolted", binary)));
        }
        None => println!("release: llvm-profdata is missing (rustup component add llvm-tools): no profile"),
    }
    let (kind, last) = &built[built.len() - 1];
    let shipped = target_dir().join(SHIPPED);
    fs::copy(last, &shipped).map_err(|e| format!("{}: {e}", shipped.display()))?;
    println!("release: {} ({kind})", shipped.display());
    if measures && built.len() > 1 {
        lab::compare(&built, MEASURING, &place)?;
    }
    if tests { ci::run_shipped() } else { Ok(()) }
}

/// A build with the profile of the training; none without llvm-profdata.
fn profiled(place: &Path) -> Result<Option<PathBuf>, String> {
    let host = host()?;
    let sysroot = output("rustc", &["--print", "sysroot"])?;
    let profdata = Path::new(sysroot.trim()).join(format!("lib/rustlib/{host}/bin/llvm-profdata"));
    if !profdata.exists() {
        return Ok(None);
    }
    let (raw, merged) = (fresh(&place.join("raw"))?, place.join("merged.profdata"));
    let generate = format!("-Cprofile-generate={}", raw.display());
    let instrumented = build(&host, &place.join("instrumented"), &generate)?;
    train(&instrumented, place)?;
    run(&text(&profdata), &["merge", "-o", &text(&merged), &text(&raw)])?;
    // Relocations are for llvm-bolt, which moves functions.
    let flags = format!("-Cprofile-use={} -Clink-arg=-Wl,--emit-relocs", merged.display());
    // cargo does not see that the profile is another one.
    build(&host, &fresh(&place.join("profiled"))?, &flags).map(Some)
}

/// The binary laid out again by llvm-bolt; none without it.
fn bolted(binary: &Path, place: &Path) -> Result<Option<PathBuf>, String> {
    let names =
        std::iter::once("llvm-bolt".to_owned()).chain(BOLT_VERSIONS.rev().map(|v| format!("llvm-bolt-{v}")));
    let runs =
        |name: &String| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let Some(bolt) = names.into_iter().find(runs) else {
        println!("release: llvm-bolt is missing (Debian: bolt-NN): the profiled build is shipped as it is");
        return Ok(None);
    };
    let counts = fresh(&place.join("counts"))?;
    let (counting, out) = (place.join("ratchetd-counting"), place.join("ratchetd-bolted"));
    let file = format!("--instrumentation-file={}", counts.join("counts").display());
    let append = "--instrumentation-file-append-pid";
    run(&bolt, &[&text(binary), "-instrument", &file, append, "-o", &text(&counting)])?;
    train(&counting, place)?;
    let merged = place.join("merged.fdata");
    let parts = files(&counts)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let merge = bolt.replace("llvm-bolt", "merge-fdata");
    run(&merge, &[&["-o", &text(&merged)], &parts[..]].concat())?;
    let data = format!("-data={}", merged.display());
    // Line tables are left out: llvm-bolt does not understand all that rustc writes there.
    let layout =
        ["-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions", "-split-all-cold"];
    run(&bolt, &[&[&*text(binary), "-o", &text(&out), &data], &layout[..]].concat())?;
    Ok(Some(out))
}

/// The lab compares; here a server is compared with itself.
fn train(server: &Path, place: &Path) -> Result<(), String> {
    lab::compare(&[("one", server.to_owned()), ("other", server.to_owned())], TRAINING, place).map(|_| ())
}

/// The server built for `host` with more compiler flags. With a target named, build scripts and macros do
/// without them.
fn build(host: &str, folder: &Path, flags: &str) -> Result<PathBuf, String> {
    println!("== building with {flags}");
    let folder_text = text(folder);
    let options =
        ["build", "--release", "--package=server", "--bins", "--target", host, "--target-dir", &folder_text];
    let status = Command::new("cargo").args(options).env("RUSTFLAGS", flags).current_dir(root()).status();
    match status {
        Ok(status) if status.success() => Ok(folder.join(host).join("release/ratchetd")),
        Ok(status) => Err(format!("cargo build ended with {status}")),
        Err(e) => Err(format!("cannot run cargo: {e}")),
    }
}

fn host() -> Result<String, String> {
    let version = output("rustc", &["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not tell its host".to_owned())
}

fn files(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    entries.map(|entry| entry.map(|e| text(&e.path())).map_err(|e| e.to_string())).collect()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
