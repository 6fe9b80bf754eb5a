//! Command lines and option files.

use std::fs;
use std::path::PathBuf;

use server::options::{Invocation, Options};

use crate::Bytes;

/// The first byte decides whether the rest is a command line, one argument a line, or an option file.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    let is_file = input.u8() & 1 != 0;
    let text = String::from_utf8_lossy(input.rest()).into_owned();
    if !is_file {
        // Other files of this machine are no part of the input.
        let lines = text.lines().filter(|line| !line.contains("defaults"));
        start(&lines.map(str::to_owned).collect::<Vec<_>>());
        return;
    }
    let path = file();
    let text: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('!'))
        .fold(String::new(), |text, line| text + line + "\n");
    fs::write(&path, text).expect("a file in the temporary folder");
    start(&[format!("--defaults-file={}", path.display())]);
}

/// Parses, and asks what a server that starts asks.
fn start(arguments: &[String]) {
    match Options::parse(arguments) {
        Ok(Invocation::Serve(options)) => {
            options.datadir();
            options.socket();
            options.port();
            options.bind_address();
        }
        Ok(Invocation::Help | Invocation::Version) => {}
        Err(error) => assert!(!error.0.is_empty() && !error.0.contains('\n'), "{error}"),
    }
}

/// A file of this process.
fn file() -> PathBuf {
    std::env::temp_dir().join(format!("ratchet-fuzz-{}.cnf", std::process::id()))
}
