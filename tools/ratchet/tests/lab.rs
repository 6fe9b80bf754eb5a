//! `ratchet lab` as a person calls it: what cannot be meant is said, with exit status 2, before anything is
//! measured.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::process::Command;

/// Exit status, and what was said on standard error.
fn lab(args: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ratchet"));
    let output = command.arg("lab").args(args).current_dir(folder.path()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Nobody listens on port 1.
const DOWN: [&str; 2] = ["mysql://root@127.0.0.1:1", "mysql://root@127.0.0.1:1"];

#[test]
fn mistakes_are_told_from_measurements() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lab.toml");
    std::fs::write(&file, "[run]\nseconds = 5\n[[target]\n").unwrap();
    let file = file.to_str().unwrap();
    for (args, said) in [
        (&["compare"][..], "two targets are needed"),
        (&["compare", DOWN[0]], "two targets are needed"),
        (&["compare", "postgres://root@127.0.0.1:1", DOWN[0]], "is not mysql://"),
        (&["compare", DOWN[0], DOWN[1]], "refused"),
        (
            &["compare", DOWN[0], DOWN[1], "--workloads", "nothing"],
            "no workload is called \"nothing\"; there are: point-query.pre ",
        ),
        (&["compare", "--config", file], "lab.toml: TOML parse error at line 3"),
        (&["compare", "--config", "absent.toml"], "absent.toml: No such file"),
        (&["compare", DOWN[0], DOWN[1], "--repetitions", "2"], "fewer than 3 repetitions"),
        (&["report", "absent"], "absent/results.jsonl is not there"),
    ] {
        let (status, err) = lab(args);
        assert_eq!(status, Some(2), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}
