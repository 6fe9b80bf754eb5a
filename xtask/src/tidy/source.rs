//! The workspace's Rust files, with their test code distinguished, and its documents.

use std::path::Path;

use crate::process::{output, root};

/// One tracked file.
pub(crate) struct SourceFile {
    /// Path from the workspace root.
    pub(crate) path: String,
    /// Whole text.
    pub(crate) text: String,
    /// First line (1-based) of the trailing `#[cfg(test)]` module, or one past the last line.
    pub(crate) tests_from: usize,
}

impl SourceFile {
    /// The crate's folder name: `page` for `crates/page/src/lib.rs`.
    pub(crate) fn crate_name(&self) -> &str {
        let mut parts = self.path.split('/');
        match parts.next() {
            Some("crates" | "tools") => parts.next().unwrap_or(""),
            first => first.unwrap_or(""),
        }
    }

    /// Whether the whole file is test code.
    pub(crate) fn is_test_file(&self) -> bool {
        let in_folder = |name: &str| self.path.split('/').any(|p| p == name);
        in_folder("tests")
            || in_folder("benches")
            || in_folder("examples")
            || self.path.ends_with("/tests.rs")
    }

    /// Lines (1-based number, text) that are not test code.
    pub(crate) fn production_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let limit = if self.is_test_file() { 0 } else { self.tests_from };
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line)).take_while(move |(n, _)| *n < limit)
    }
}

/// A finding at a line of a file.
pub(crate) fn at(file: &SourceFile, line: usize, what: &str) -> String {
    format!("{}:{line}: {what}", file.path)
}

/// Every Rust file that git knows or would add.
pub(crate) fn rust_files() -> Result<Vec<SourceFile>, String> {
    files("*.rs")
}

/// Every Markdown file that git knows or would add.
pub(crate) fn documents() -> Result<Vec<SourceFile>, String> {
    files("*.md")
}

fn files(pattern: &str) -> Result<Vec<SourceFile>, String> {
    let listed = output("git", &["ls-files", "--cached", "--others", "--exclude-standard", pattern])?;
    let mut files = Vec::new();
    for path in listed.lines() {
        let full = root().join(Path::new(path));
        if !full.exists() {
            continue;
        }
        let text = std::fs::read_to_string(&full).map_err(|e| format!("{path}: {e}"))?;
        let lines: Vec<&str> = text.lines().collect();
        let tests_from = lines
            .windows(2)
            .position(|w| w[0].starts_with("#[cfg(test)]") && w[1].trim_start().starts_with("mod "))
            .map_or(lines.len() + 1, |i| i + 1);
        files.push(SourceFile { path: path.to_owned(), text, tests_from });
    }
    Ok(files)
}
