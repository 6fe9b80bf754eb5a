//! `lockstep BINARY --mysql URL [FILE ..] [options]`: the same statements to a Ratchet that it starts and to
//! a MySQL.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::path::PathBuf;
use std::process::ExitCode;

use testkit::lockstep::client::Address;
use testkit::lockstep::compare::Scope;
use testkit::lockstep::explained::Rules;
use testkit::lockstep::files::{self, Found};
use testkit::lockstep::generate::{THEMES, Theme};
use testkit::lockstep::run::{self, Plan, Summary};
use testkit::lockstep::{report, write};
use testkit::runner::{Target, run_file};
use testkit::server::TestServer;

const USAGE: &str =
    "usage: lockstep BINARY --mysql mysql://root@HOST:PORT [FILE ..] [--generate N --kind KIND]
  --generate N    N statements of --kind expressions, dml, alter, names or prepared
  --seed S        which statements these are (1)
  --workers N     connections to each server at work at the same time (4)
  --metadata      compares whole column definitions
  --trackers      compares changes of the session's state
  --tries N       how often a statement is changed to make an example smaller (300)
  --examples FILE writes the examples as a script with MySQL's answers
  --keep FILE N   writes N statements on which the servers agree, with MySQL's answers";

struct Options {
    binary: PathBuf,
    mysql: Address,
    files: Vec<PathBuf>,
    statements: u64,
    theme: Option<Theme>,
    seed: u64,
    workers: u64,
    tries: u64,
    scope: Scope,
    examples: Option<PathBuf>,
    keep: Option<(PathBuf, usize)>,
}

fn options() -> Option<Options> {
    let mut args = std::env::args().skip(1);
    let binary = PathBuf::from(args.next()?);
    let mysql = Address { host: String::new(), port: 0, user: String::new() };
    let mut options = Options {
        binary,
        mysql,
        files: Vec::new(),
        statements: 0,
        theme: None,
        seed: 1,
        workers: 4,
        tries: 300,
        scope: Scope::default(),
        examples: None,
        keep: None,
    };
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--mysql" => options.mysql = Address::parse(&args.next()?).ok()?,
            "--generate" => options.statements = args.next()?.parse().ok()?,
            "--kind" => options.theme = Some(Theme::find(&args.next()?)?),
            "--seed" => options.seed = args.next()?.parse().ok()?,
            "--workers" => {
                options.workers = args.next()?.parse::<u64>().ok().filter(|&workers| workers > 0)?;
            }
            "--tries" => options.tries = args.next()?.parse().ok()?,
            "--metadata" => options.scope.metadata = true,
            "--trackers" => options.scope.trackers = true,
            "--examples" => options.examples = Some(args.next()?.into()),
            "--keep" => options.keep = Some((args.next()?.into(), args.next()?.parse().ok()?)),
            flag if flag.starts_with("--") => return None,
            file => options.files.push(file.into()),
        }
    }
    let has_work = !options.files.is_empty() || options.statements > 0 && options.theme.is_some();
    (has_work && options.mysql.port != 0).then_some(options)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match work(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Runs files, or what is generated; true if every difference is explained.
fn work(options: &Options) -> Result<bool, String> {
    let server =
        TestServer::start(&options.binary, &["--innodb-flush-log-at-trx-commit=2", "--local-infile=1"])?;
    let ours = Address { host: "127.0.0.1".to_owned(), port: server.port, user: "root".to_owned() };
    let plan = Plan {
        addresses: [ours, options.mysql.clone()],
        scope: options.scope,
        theme: options.theme.unwrap_or(THEMES[0].1),
        seed: options.seed,
        statements: options.statements,
        workers: options.workers,
        tries: options.tries,
        keep: options.keep.clone(),
    };
    let summary = if options.files.is_empty() { run::generated(&plan)? } else { run_files(options, &plan)? };
    println!("{}", report::report(&summary));
    let recorded = [options.examples.as_ref(), options.keep.as_ref().map(|(path, _)| path)];
    if let Some(path) = &options.examples {
        let context = if options.files.is_empty() { plan.theme.context() } else { Vec::new() };
        write::examples(path, &context, &summary.groups)?;
    }
    let target = Target { port: options.mysql.port, user: options.mysql.user.clone() };
    for path in recorded.into_iter().flatten() {
        run_file(path, &target, true)?;
    }
    if let Some((path, _)) = &options.keep {
        let ours = Target { port: server.port, user: plan.addresses[0].user.clone() };
        write::without(path, &run_file(path, &ours, false)?)?;
    }
    Ok(!run::is_failure(&summary))
}

fn run_files(options: &Options, plan: &Plan) -> Result<Summary, String> {
    let rules = Rules::load()?;
    let mut found = Found::default();
    for path in &options.files {
        files::run(path, &plan.addresses, plan.scope, &rules, &mut found)?;
    }
    let mut groups = found.several;
    if found.single.has_fault() {
        let mut pair = files::pair(&plan.addresses, plan.scope)?;
        for group in found.single.sorted() {
            groups.add_shrunk(run::smallest(plan, &mut pair, group)?);
        }
    }
    Ok(Summary { statements: found.statements, cases: 0, failed: 0, groups, rules })
}
