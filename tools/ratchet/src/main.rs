//! `ratchet`: the tool beside the server. Thin: what it does is done in the crates below.

#![allow(clippy::print_stdout, reason = "what a tool has to say goes there")]

mod check;
mod lab_command;
mod tpcc_command;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Exit status of a call that did not come to anything.
const FAILED: u8 = 2;

/// The tool beside the server.
#[derive(Parser)]
#[command(name = "ratchet", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Looks at everything in a data directory that no server uses, and changes nothing.
    ///
    /// Exit status: 0 sound, 1 something is wrong (printed to standard output), 2 not read.
    Check {
        /// The data directory.
        datadir: String,
    },
    /// The performance lab: compares MySQL-protocol servers of any vendor.
    Lab {
        #[command(subcommand)]
        command: lab_command::LabCommand,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Check { datadir } => check::run(&datadir),
        Command::Lab { command } => lab_command::run(command),
    }
}
