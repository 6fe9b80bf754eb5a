//! `differential PORT_A PORT_B [--seed N] [--statements N]`: random statements to two servers, A the one
//! under test.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::process::ExitCode;

use testkit::differential::compare::{Class, Pair};
use testkit::flags;

struct Options {
    ports: [u16; 2],
    seed: u64,
    statements: u64,
}

fn options() -> Option<Options> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let ports = [args.first()?.parse().ok()?, args.get(1)?.parse().ok()?];
    let (mut seed, mut statements) = (1, 10_000);
    let mut flags = [("--seed", &mut seed), ("--statements", &mut statements)];
    flags::numbers(&args[2..], &mut flags)?;
    Some(Options { ports, seed, statements })
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("usage: differential PORT_A PORT_B [--seed N] [--statements N]");
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(2)
        }
    }
}

/// Rounds with consecutive seeds until enough statements were compared; true if nothing worse than messages
/// differed.
fn run(options: &Options) -> Result<bool, String> {
    let mut pair =
        Pair::connect(options.ports, Box::new(|class, text| println!("-- {class:?} -- {text}\n")))?;
    let mut seed = options.seed;
    while pair.summary.statements < options.statements {
        pair.round(seed)?;
        seed += 1;
    }
    let summary = &pair.summary;
    println!(
        "seeds {}..{seed}: {} statements, {} of them errors",
        options.seed, summary.statements, summary.failed
    );
    for (class, count) in &summary.differences {
        println!("{class:?}: {count}");
    }
    Ok(summary.differences.keys().all(|&class| class >= Class::Messages))
}
