//! Runs every target over its corpus: a finding stays found, in debug and in optimised builds.

use std::fs;
use std::path::Path;

/// The inputs of a target, by name.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut inputs: Vec<_> =
        paths.map(|path| (path.display().to_string(), fs::read(&path).expect("an input"))).collect();
    inputs.sort();
    inputs
}

#[test]
fn every_input_of_every_corpus_is_answered() {
    for (target, run) in fuzz::TARGETS {
        let inputs = inputs(target);
        assert!(!inputs.is_empty(), "{target} has no corpus");
        for (name, input) in inputs {
            let answered = std::panic::catch_unwind(|| run(&input));
            assert!(answered.is_ok(), "{name}");
        }
    }
}

#[test]
fn empty_and_random_inputs_are_answered() {
    for (_, run) in fuzz::TARGETS {
        run(&[]);
        run(&[0xff; 40]);
    }
}

#[test]
#[should_panic(expected = "the canary's bug is found")]
fn the_canary_fails() {
    fuzz::canary::run(b"RATCHET!");
}
