//! The same operations against `ratchetd` itself, counted from outside: the driver must not flatter the
//! server.

use std::fs;
use std::process::Command;

use super::line::{HEADER, parse_all, per_unit};
use super::measure::{self, callgrind_command, copy_data, files, total, workplace};
use crate::process::{output, run as run_command, target_dir};
use crate::server_process::ServerProcess;

/// Operations that are compared, all of them readers.
const NAMES: [&str; 3] = ["select_1", "point_select_prepared", "point_select_text"];
/// Difference that is accepted.
const TOLERANCE: f64 = 0.05;
/// Times that each operation's statements run in the shorter and the longer run; the difference is what one
/// pass costs, free of start-up, log-in and first reads.
const PASSES: (u64, u64) = (2, 4);

pub(super) fn run() -> Result<(), String> {
    run_command("cargo", &["build", "--release", "--package", "server", "--bin", "ratchetd"])?;
    let inside = measure::all(&NAMES, &[])?.lines;
    let inside: String = inside.iter().map(|line| format!("{line}\n")).collect();
    let inside = parse_all(&format!("{HEADER}\n{inside}"))?;
    let mut failures = 0;
    println!("{:<22} {:>12} {:>12} {:>8}", "name", "inside", "outside", "differ");
    for name in NAMES {
        let Some(instructions) = inside.get(name).and_then(|line| line.instructions) else { continue };
        let outside = outside(name)?;
        let difference = outside / instructions - 1.0;
        println!("{name:<22} {:>12.1} {outside:>12.1} {:>+7.2}%", instructions, difference * 100.0);
        failures += usize::from(difference.abs() > TOLERANCE);
    }
    if failures == 0 { Ok(()) } else { Err(format!("ledger: {failures} operations differ by more than 5 %")) }
}

/// Instructions of the connection's thread for one execution.
fn outside(name: &str) -> Result<f64, String> {
    let size = output(&measure::text(&target_dir().join("release/ledger")), &["size", name])?;
    let size: u64 = size.trim().parse().map_err(|_| format!("no size of {name}"))?;
    let (short, long) = (count(name, PASSES.0)?, count(name, PASSES.1)?);
    Ok(per_unit(long.saturating_sub(short), size * (PASSES.1 - PASSES.0), 1))
}

/// Instructions of the busiest thread of a server that answers `passes` passes of the operation.
fn count(name: &str, passes: u64) -> Result<u64, String> {
    copy_data()?;
    let dumps = workplace().join("dumps");
    for old in files(&dumps)? {
        fs::remove_file(&old).map_err(|e| format!("{}: {e}", old.display()))?;
    }
    fs::create_dir_all(&dumps).map_err(|e| format!("{}: {e}", dumps.display()))?;
    let server = start_server()?;
    let asked = Command::new("../release/ledger")
        .current_dir(workplace())
        .args(["client", "run/outside.sock", name, &passes.to_string()])
        .status()
        .map_err(|e| format!("cannot run the client: {e}"))?;
    server.stop()?;
    if !asked.success() {
        return Err(format!("{name} failed against ratchetd"));
    }
    let mut most = 0;
    for path in files(&dumps)? {
        let dump = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        most = most.max(total(&dump).unwrap_or(0));
    }
    Ok(most)
}

/// A release server under callgrind, on a copy of the ledger's data.
fn start_server() -> Result<ServerProcess, String> {
    ServerProcess::start(
        callgrind_command()
            .args([
                "--quiet",
                "--separate-threads=yes",
                "--callgrind-out-file=dumps/out",
                "../release/ratchetd",
            ])
            .args([
                "--no-defaults",
                "--skip-networking",
                "--innodb-buffer-pool-size=1G",
                "--ratchet-hash-seed=1",
            ])
            .args(["--datadir=run", "--socket=run/outside.sock", "--pid-file=run/outside.pid"]),
    )
}
