//! `miri`: unsafe code under the interpreter Miri, which stops at undefined behaviour, data races and leaks.
//!
//! Run are the tests that come by unsafe code and need no kernel; some do fewer rounds there (`cfg!(miri)`).
//! Which thread continues, and what a weak load sees, a seed decides: each test runs under several.

use std::process::Command;

use crate::process::{output, root};

/// Packages with unsafe code, and parts of the names of their tests.
const TESTS: [(&str, &[&str]); 4] = [
    ("base", &["sync::latch", "sync::park", "sync::counter", "sync::plain", "sync::race_check"]),
    ("env", &["memory::"]),
    ("log@0.1.0", &["ring::", "in_flight::", "append::pieces", "append::a_frame", "append::changes"]),
    ("buffer", &["frames::", "table::", "a_page_is_read_once", "a_downgraded_guard", "a_discarded_page"]),
];

/// Runs the tests under the seeds 0 to N - 1 of `--seeds N`, or 4.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let seeds: u32 = match options {
        [] => 4,
        ["--seeds", n] => n.parse().map_err(|_| format!("--seeds {n}: not a number"))?,
        _ => return Err("miri [--seeds N]".to_owned()),
    };
    let version = output("cargo", &["+nightly", "miri", "--version"]).map_err(|error| {
        format!("{error}\nMiri comes with: rustup toolchain install nightly --component miri,rust-src")
    })?;
    println!("{}", version.trim());
    for (package, names) in TESTS {
        for seed in 0..seeds {
            println!("== {package}, seed {seed}");
            let status = Command::new("cargo")
                .args(["+nightly", "miri", "test", "--quiet", "--lib", "--package", package, "--"])
                .args(names)
                // The parking lot makes pointers of integers.
                .env("MIRIFLAGS", format!("-Zmiri-permissive-provenance -Zmiri-seed={seed}"))
                .current_dir(root())
                .status()
                .map_err(|e| format!("cannot run cargo: {e}"))?;
            if !status.success() {
                return Err(format!("{package} fails under Miri with seed {seed}"));
            }
        }
    }
    println!("miri: nothing undefined in {} packages under {seeds} seeds", TESTS.len());
    Ok(())
}
