//! `ratchet lab`: the performance lab's face.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use lab::bisect::Found;
use lab::config::Config;
use lab::hot::{self, HotPaths};
use lab::ledger::{History, difference};
use lab::report::{self, TargetResult};
use lab::stats::Verdict;
use lab::{Error, Result, bisect, compare};

use crate::FAILED;

#[derive(Subcommand)]
pub(crate) enum LabCommand {
    /// Measures two or more servers side by side and says where they differ.
    ///
    /// Give a configuration file, or the URLs of servers that run; the first is the base. What is measured is
    /// kept in the output folder: the same call continues where an earlier one ended. Tables are made in a
    /// database called "lab", which is dropped.
    ///
    /// Exit status: 0 measured, 1 with --gate when a target is slower than the base, 2 not measured.
    Compare(CompareArguments),
    /// Finds the first slow build between a fast and a slow one, by measuring builds side by side with the
    /// first.
    ///
    /// Builds are a list of names or a range of git commits; a configuration file says how one is started.
    /// Every round and decision is in bisect.jsonl in the output folder, from which the same call continues.
    ///
    /// Exit status: 0 found, 1 not found (no difference, or too noisy), 2 not searched.
    Bisect {
        /// Configuration file (TOML).
        #[arg(long)]
        config: PathBuf,
    },
    /// Looks whether the hot functions of a built executable are as small, and as free of panics, formatting
    /// and validators, as a list says.
    ///
    /// Exit status: 0 they are, 1 they are not (printed to standard output), 2 not read.
    Hot {
        /// The executable: x86-64 ELF, with symbols and line tables.
        binary: PathBuf,
        /// The list (TOML).
        #[arg(long, default_value = "tools/ledger/hot_paths.toml")]
        paths: PathBuf,
        /// Print the hot functions as they are, as lines of the list, and what in it may be lowered.
        #[arg(long)]
        list: bool,
        /// Print the large copies in the hot crates.
        #[arg(long)]
        copies: bool,
    },
    /// Puts what has been measured together: report.md, report.html, relative.svg and results.tsv in the
    /// output folder, the first printed.
    ///
    /// report.html is one page that opens without network. Folded stacks in the folder's profiles/*.folded
    /// become flame graphs.
    Report {
        /// Folder of a comparison.
        folder: PathBuf,
        /// The instruction ledger over time (JSON lines), for a section of the page.
        #[arg(long)]
        history: Option<PathBuf>,
    },
    /// What operations of Ratchet cost in instructions over time, and which functions made the difference of
    /// two releases.
    ///
    /// Without names: first and newest count of every operation. With names: every change of these. With
    /// --before and --after: two files of callgrind, or two folders of them with a file per operation; both
    /// of as many operations.
    Ledger(LedgerArguments),
    /// Runs TPC-C on one server or several, and compares them: New-Orders a minute and response times of each
    /// transaction.
    ///
    /// Keying and think times are zero. Every combination of flush, terminals and dialect is measured in
    /// rounds; in a round every server is measured once, in random order. Tables are made in a database that
    /// is dropped first. Output: tpcc.jsonl, a line per run, and tpcc.md, which is printed.
    ///
    /// Exit status: 0 measured, 1 a run failed or violated a consistency condition, 2 not measured.
    Tpcc(crate::tpcc_command::TpccArguments),
}

#[derive(Args)]
pub(crate) struct CompareArguments {
    /// mysql://user:password@host:port of each server, the base first.
    urls: Vec<String>,
    /// Configuration file (TOML).
    #[arg(long, conflicts_with = "urls")]
    config: Option<PathBuf>,
    /// Few workloads, short cells: under three minutes for two servers.
    #[arg(long)]
    quick: bool,
    /// Workloads to run, as names with `*` for any text, separated by commas.
    #[arg(long, value_delimiter = ',')]
    workloads: Vec<String>,
    /// Numbers of client threads, separated by commas.
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Rounds.
    #[arg(long)]
    repetitions: Option<usize>,
    /// Measured seconds a cell.
    #[arg(long)]
    seconds: Option<u64>,
    /// Output folder.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Exit status 1 when a target is shown to be slower than the base in any row, or answers otherwise.
    #[arg(long)]
    gate: bool,
}

#[derive(Args)]
pub(crate) struct LedgerArguments {
    /// Operations.
    #[arg(conflicts_with_all = ["before", "after"])]
    operations: Vec<String>,
    /// The ledger over time (JSON lines).
    #[arg(long, default_value = "tools/ledger/history.jsonl", conflicts_with_all = ["before", "after"])]
    history: PathBuf,
    /// Callgrind's file or folder of the earlier release.
    #[arg(long, requires = "after")]
    before: Option<PathBuf>,
    /// The same of the later one.
    #[arg(long, requires = "before")]
    after: Option<PathBuf>,
    /// Functions to name.
    #[arg(long, default_value_t = 15)]
    top: usize,
}

pub(crate) fn run(command: LabCommand) -> ExitCode {
    let done = match command {
        LabCommand::Compare(arguments) => run_compare(&arguments),
        LabCommand::Bisect { config } => run_bisect(&config),
        LabCommand::Hot { binary, paths, list, copies } => run_hot(&binary, &paths, list, copies),
        LabCommand::Report { folder, history } => run_report(&folder, history.as_deref()),
        LabCommand::Ledger(arguments) => run_ledger(&arguments),
        LabCommand::Tpcc(arguments) => crate::tpcc_command::run(&arguments),
    };
    done.unwrap_or_else(|error| {
        eprintln!("ratchet: {error}");
        ExitCode::from(FAILED)
    })
}

fn run_compare(arguments: &CompareArguments) -> Result<ExitCode> {
    let config = configuration(arguments)?;
    let interrupted = match compare::run(&config) {
        Ok(_) => None,
        Err(error @ Error::Interrupted) => Some(error),
        Err(error) => return Err(error),
    };
    let rows = tell(&config.run.out, None)?;
    if let Some(error) = interrupted {
        return Err(error);
    }
    let is_bad = |result: &TargetResult| match result {
        TargetResult::Measured(_, comparison) => comparison.is_some_and(|c| c.verdict == Verdict::Slower),
        TargetResult::Failed(_) => true,
        TargetResult::Missing => false,
    };
    let bad = arguments.gate && rows.iter().any(|row| row.results.iter().any(is_bad));
    Ok(ExitCode::from(u8::from(bad)))
}

fn run_bisect(config: &Path) -> Result<ExitCode> {
    let config = bisect::read(config)?;
    let found = bisect::run(&config, &mut |step| eprintln!("ratchet: {step}"))?;
    let (status, text) = match found {
        Found::First(build) => (0, format!("the first bad build is {build}")),
        Found::NoDifference => (1, "the last build is not shown to be slower than the first".to_owned()),
        Found::Among(builds) => {
            (1, format!("too noisy to say which; it is among these: {}", builds.join(" ")))
        }
    };
    println!("{text}");
    Ok(ExitCode::from(status))
}

fn run_hot(binary: &Path, paths: &Path, list: bool, copies: bool) -> Result<ExitCode> {
    let report = hot::look(binary, &HotPaths::read(paths)?)?;
    if list {
        report.measured.iter().for_each(|(name, limits)| println!("{name:?} = {limits}"));
        report.may_fall.iter().for_each(|line| println!("may be lowered: {line}"));
    }
    if copies {
        report.copies.iter().for_each(|copy| println!("copy: {copy}"));
    }
    report.findings.iter().for_each(|finding| println!("finding: {finding}"));
    println!("hot: {} functions, {} findings", report.measured.len(), report.findings.len());
    Ok(ExitCode::from(u8::from(!report.findings.is_empty())))
}

fn configuration(arguments: &CompareArguments) -> Result<Config> {
    let mut config = match &arguments.config {
        Some(path) => Config::read(path)?,
        None => Config::of_urls(&arguments.urls)?,
    };
    if arguments.quick {
        config.make_quick();
    }
    let run = &mut config.run;
    if !arguments.workloads.is_empty() {
        run.workloads.clone_from(&arguments.workloads);
    }
    if !arguments.threads.is_empty() {
        run.threads.clone_from(&arguments.threads);
    }
    run.repetitions = arguments.repetitions.unwrap_or(run.repetitions);
    run.seconds = arguments.seconds.unwrap_or(run.seconds);
    if let Some(out) = &arguments.out {
        run.out.clone_from(out);
    }
    config.look_through()?;
    Ok(config)
}

fn run_report(folder: &Path, history: Option<&Path>) -> Result<ExitCode> {
    tell(folder, history.map(History::read).transpose()?)?;
    Ok(ExitCode::SUCCESS)
}

fn run_ledger(arguments: &LedgerArguments) -> Result<ExitCode> {
    if let (Some(before), Some(after)) = (&arguments.before, &arguments.after) {
        print!("{}", difference::explain(before, after, arguments.top)?);
        return Ok(ExitCode::SUCCESS);
    }
    let history = History::read(&arguments.history)?;
    if arguments.operations.is_empty() {
        print!("{}", history.overview());
    }
    for operation in &arguments.operations {
        println!("{}", history.of_operation(operation)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the reports of a folder and prints the one for people.
fn tell(folder: &Path, history: Option<History>) -> Result<Vec<report::Row>> {
    let written = report::write(folder, history)?;
    print!("{}", written.markdown);
    eprintln!("ratchet: written to {}", folder.display());
    Ok(written.rows)
}
