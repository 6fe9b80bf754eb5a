//! Writes a folder of made-up measurements and their reports: `cargo xtask page` reads the page in a
//! browser.

#[path = "../tests/page/sample.rs"]
mod sample;

use std::path::Path;

use lab::ledger::History;
use lab::report;

fn main() -> lab::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "lab-sample".into());
    let history = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ledger/history.jsonl");
    sample::write(folder.as_ref())?;
    report::write(folder.as_ref(), Some(History::read(&history)?))?;
    Ok(())
}
