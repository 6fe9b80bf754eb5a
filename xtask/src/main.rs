//! All automation of the project: `cargo xtask COMMAND`. Shell scripts contain no logic.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

mod ci;
mod compat;
mod demo;
mod fuzz;
mod hostile;
mod hot;
mod kill9;
mod lab;
mod ledger;
mod lockstep;
mod loom;
mod miri;
mod page;
mod parallel;
mod planted;
mod power;
mod process;
mod recovery_speed;
mod release;
mod rises;
mod semantics;
mod server_process;
mod sim;
mod tidy;
mod uca;
mod uca_pad;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND
  ci [--fast | --step NAME | --shipped]
                format, lints, tidy, tests in debug and release, ledger gate (--fast: no release steps; --step: one of them;
                --shipped: instead, the tests of the released server on what `release` has built)
  compat [--only NAME | --prepare]
                drivers of five languages and the stock client log in, over TCP and sockets, with TLS and without, by both
                plugins; openssl tries old protocols and weak ciphers (what must be installed: docs/testing.md;
                --prepare: only fetches and builds what `ci` runs of it)
  demo          a fresh server, the employees database, some queries, and what each took
  fuzz [TARGET ..] [--seconds N] [--minimise | --short]
                coverage-guided fuzzing, a target after the other, each for N seconds (1800), after the canary: a planted
                bug that must be found (--minimise: replaces the corpora in fuzz/corpus by the smallest that reach as much;
                --short: for 9 seconds, from the same seed each time)
  hostile       the tests of hostile clients against the released server
  hot           builds the server and the ledger's driver for release and asks their machine code whether the hot functions
                keep to tools/ledger/hot_paths.toml, and history whether its numbers rose without a reason
  kill9 [--rounds N] [--clients N] [--definers N] [--sysbench N] [--seed N] [--run-ms N]
                kills a server under load, DDL beside row changes, again and again, and looks for what was answered (30
                rounds)
  ledger [--bless | --history | --outside | NAME ..]
                instructions, copies, allocations and system calls of each operation against tools/ledger/ledger.tsv
                (--bless: enter them; --history: write tools/ledger/history.jsonl; --outside: compare with a server counted
                from outside)
  lockstep --mysql URL [FILE ..] [--generate N --kind expressions|dml|names|prepared] [--seed S] [--metadata] [--trackers]
                files of statements, or generated ones, on an optimised server and on a MySQL that runs at
                mysql://root@HOST:PORT, and how the answers differ (without arguments: all options)
  loom [--all | --preemptions N]
                the protocols of threads under a model checker; then orderings and planted bugs in them, made wrong
                (--all: also those that need not be found; --preemptions: N more than the models have by themselves)
  miri [--seeds N]
                tests of the crates with unsafe code under the interpreter Miri of nightly Rust, each with 4 seeds
  page [FOLDER] the lab's report, or one of made-up figures, in a browser: does its layout hold (needs chromium)
  planted       plants a validator that is called for every field, and asks whether the ledger's gate, `hot`, a comparison and a
                search through a history of commits find it (a quarter of an hour)
  power [--runs N]
                reports of the lab on servers that are the same, one of them behind a link that is slower by a twentieth: how
                many name a difference (100, two hours)
  recovery [--megabytes N] [--starts N] [--rows N]
                kills a server that has written so much log, and tells how fast its starts apply it (1024, 3 starts)
  release [--measure | --test]
                the server laid out by a profile of the lab's workloads, and by llvm-bolt where there is one:
                target/shipped/ratchetd, in ten minutes (--measure: compared with the plain release build, in fifteen;
                --test: then as `ci --shipped`)
  semantics [--check]
                writes the tables of docs/semantics.md from tests/sql/semantics_*.test (--check: or says how they differ)
  sim [--seeds N] [--seed S] [--planted N]
                simulated crashes of the whole engine, one a seed (100 from 0); or which of up to N seeds finds each
                planted bug
  tidy          layers, file and function sizes, banned calls, leftovers
  uca --allkeys PATH [--version V] [--conformance PATH] [--out PATH]
                weights of utf8mb4_0900_ai_ci from Unicode's allkeys.txt of UCA 9.0.0
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    if fuzz::is_wrapper() {
        return fuzz::wrap(&args);
    }
    let result = match args.as_slice() {
        ["ci"] => ci::run(false),
        ["ci", "--fast"] => ci::run(true),
        ["ci", "--step", name] => ci::run_step(name),
        ["ci", "--shipped"] => ci::run_shipped(),
        ["compat", options @ ..] => compat::run(options),
        ["demo"] => demo::run(),
        ["fuzz", options @ ..] => fuzz::run(options),
        ["hostile"] => hostile::run_tests(),
        ["hot"] => hot::gate(),
        ["kill9", options @ ..] => kill9::run(options),
        ["ledger", options @ ..] => ledger::run(options),
        ["lockstep", options @ ..] => lockstep::run(options),
        ["loom", options @ ..] => loom::run(options),
        ["miri", options @ ..] => miri::run(options),
        ["page"] => page::run(None),
        ["page", folder] => page::run(Some(folder)),
        ["planted"] => planted::prove(),
        ["power", options @ ..] => power::prove(options),
        ["recovery", options @ ..] => recovery_speed::run(options),
        ["release", options @ ..] => release::run_command(options),
        ["semantics", options @ ..] => semantics::run(options),
        ["sim", options @ ..] => sim::run(options),
        ["tidy"] => tidy::run(),
        ["uca", options @ ..] => uca::run(options).map_err(|e| e.to_string()),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
