//! `compat`: drivers of five languages and the stock client log in, and `openssl` shakes hands with old
//! protocols and weak ciphers.
//!
//! Each driver has a program under `tests/clients`, which reads the logins to make from its standard input
//! and prints `ok NAME` or `wrong NAME: why` for each. `tests/clients/logins.tsv` lists them. What a program
//! needs is fetched by its language's own client into `target/compat`.

mod ciphers;
mod drivers;
mod logins;
mod place;
mod stock;

use std::path::{Path, PathBuf};

use drivers::DRIVERS;
use place::Place;

use crate::process::{run as command, target_dir};

/// Names a built server that is to be used; else a debug build is made.
const BINARY: &str = "RATCHETD_UNDER_TEST";
const USAGE: &str = "usage: cargo xtask compat [--only NAME | --prepare]";
/// What continuous integration runs: what cargo fetches, and the stock client.
const GATE: [&str; 2] = ["mysql_async", stock::NAME];

/// What was found out about one login or handshake.
pub(super) struct Finding {
    name: String,
    /// `None`: as wanted.
    wrong: Option<String>,
}

/// Everything that can be asked for by name: each driver, the stock client, and the handshakes.
fn names() -> impl Iterator<Item = &'static str> {
    DRIVERS.iter().map(|driver| driver.name).chain([stock::NAME, ciphers::NAME])
}

/// The command.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let wanted: Vec<&str> = match options {
        [] => names().collect(),
        ["--only", name] if names().any(|known| known == *name) => vec![name],
        ["--prepare"] => return prepare(),
        ["--only", _] => return Err(format!("NAME is one of: {}", names().collect::<Vec<_>>().join(", "))),
        _ => return Err(USAGE.to_owned()),
    };
    if let Some(binary) = std::env::var_os(BINARY) {
        return check(&PathBuf::from(binary), &wanted);
    }
    command("cargo", &["build", "--quiet", "--package", "server"])?;
    check(&target_dir().join("debug/ratchetd"), &wanted)
}

/// Fetches and builds the drivers of [`gate`].
fn prepare() -> Result<(), String> {
    let mut drivers = DRIVERS.iter().filter(|driver| GATE.contains(&driver.name));
    drivers.try_for_each(|driver| driver.prepare().map(|_| ()))
}

/// The part that continuous integration runs.
pub(crate) fn gate(binary: &Path) -> Result<(), String> {
    check(binary, &GATE)
}

/// Runs what `wanted` names against `binary` and sums up.
fn check(binary: &Path, wanted: &[&str]) -> Result<(), String> {
    let mut bad = 0;
    for name in wanted {
        match findings(binary, name) {
            Ok(findings) => bad += report(name, &findings),
            Err(why) => {
                println!("{name}: not run: {why}");
                bad += 1;
            }
        }
    }
    if bad == 0 { Ok(()) } else { Err(format!("compat: {bad} wrong or not run")) }
}

fn findings(binary: &Path, name: &str) -> Result<Vec<Finding>, String> {
    let driver = DRIVERS.iter().find(|driver| driver.name == name);
    // Fetching and building takes longer than a server needs to be up for.
    let program = driver.map(drivers::Driver::prepare).transpose()?;
    let place = Place::start(binary, name)?;
    let findings = match (driver, program) {
        (Some(driver), Some(program)) => driver.log_in(program, &place)?,
        _ if name == stock::NAME => stock::log_in(&place)?,
        _ => ciphers::shake_hands(&place)?,
    };
    place.stop()?;
    Ok(findings)
}

/// Prints what was found; how many are wrong.
fn report(name: &str, findings: &[Finding]) -> usize {
    let wrong: Vec<_> = findings.iter().filter_map(|found| Some((found, found.wrong.as_ref()?))).collect();
    println!("{name}: {} ok, {} wrong", findings.len() - wrong.len(), wrong.len());
    for (found, why) in &wrong {
        println!("{name}: wrong {}: {why}", found.name);
    }
    wrong.len()
}
