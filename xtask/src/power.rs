//! `cargo xtask power`: the lab on servers that are the same, one of them behind a link that is slower.

use crate::lab;
use crate::process::{fresh, run, target_dir};

/// Reports, unless said.
const RUNS: &str = "100";

/// `[--runs N]`.
pub(crate) fn prove(options: &[&str]) -> Result<(), String> {
    let runs = match options {
        [] => RUNS,
        ["--runs", runs] => runs,
        _ => return Err("usage: cargo xtask power [--runs N]".to_owned()),
    };
    let place = fresh(&target_dir().join("power"))?;
    let server = place.join("ratchetd");
    lab::build_server(&server, &[])?;
    let (server, place) = (server.display().to_string(), place.display().to_string());
    run("cargo", &["run", "--quiet", "--package", "lab", "--example", "power", "--", &server, runs, &place])
}
