//! `semantics [--check]`: writes the tables of `docs/semantics.md` from the recorded scripts, or says how
//! they differ.

#![allow(clippy::print_stdout, reason = "a command-line tool reports on standard output")]

use std::path::Path;
use std::process::ExitCode;

use testkit::semantics;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => write(false),
        ["--check"] => write(true),
        _ => Err("usage: semantics [--check]".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the document in the current folder again; with `only_compare`, an old one is an error.
fn write(only_compare: bool) -> Result<(), String> {
    let root = Path::new(".");
    let path = root.join(semantics::DOCUMENT);
    let fault = |e: std::io::Error| format!("{}: {e}", path.display());
    let text = std::fs::read_to_string(&path).map_err(fault)?;
    let tables = semantics::recorded_tables(root)?;
    let rendered = semantics::render(&text, &tables)?;
    if rendered == text {
        println!("{} has the recorded answers in {} tables", path.display(), tables.len());
        return Ok(());
    }
    if only_compare {
        let differences = semantics::differences(&semantics::read_tables(&text)?, &tables);
        return Err(format!("{} is not as recorded:\n{}", path.display(), differences.join("\n")));
    }
    std::fs::write(&path, rendered).map_err(fault)
}
