//! Statements as text: parsed, bound, planned and run on a server in this process.

use crate::client::Script;
use crate::mounted::with_tables;

/// Longest text.
const TEXT_BYTES_MAX: usize = 4096;

/// First words of statements that change neither tables nor settings.
const READING: [&str; 8] = ["select", "(select", "table", "values", "with", "show", "describe", "do"];

/// Runs the input as statements of one client, separated by semicolons; every client finds the same tables.
pub fn run(input: &[u8]) {
    let text = &input[..input.len().min(TEXT_BYTES_MAX)];
    let mut script = Script::logged_in();
    script.query(text);
    with_tables(&script, reads_only(text));
}

/// Whether no statement of `text` can change what the next client finds. Plans stay, as they do in a server.
fn reads_only(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let starts = |part: &str| READING.iter().any(|word| part.trim_start().starts_with(word));
    let changes = ["get_lock", "insert", "update", "delete", "set", "into"];
    text.split(';').all(starts) && !changes.iter().any(|word| text.contains(word))
}
