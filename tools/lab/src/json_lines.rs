//! A file of JSON lines that grows while something is measured, and from which that continues.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// The file, open for more lines.
#[derive(Debug)]
pub(crate) struct JsonLines {
    file: File,
    path: PathBuf,
}

impl JsonLines {
    /// Opens or makes the file at `path`; the lines that are in it. A last line that was cut off is dropped.
    ///
    /// # Errors
    /// When there is something that does not begin with `beginning`, which is left as it is, or a line cannot
    /// be understood.
    pub(crate) fn open<T: DeserializeOwned>(path: &Path, beginning: &str) -> Result<(JsonLines, Vec<T>)> {
        let (whole_bytes, lines) = read_whole(path, beginning)?;
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(Error::file(path))?;
        file.set_len(whole_bytes).map_err(Error::file(path))?;
        Ok((JsonLines { file, path: path.to_owned() }, lines))
    }

    /// The lines of the file at `path`; none if it is not there. Errors as [`JsonLines::open`].
    pub(crate) fn read<T: DeserializeOwned>(path: &Path, beginning: &str) -> Result<Vec<T>> {
        read_whole(path, beginning).map(|(_, lines)| lines)
    }

    /// Adds a line; it is in the file when this returns.
    pub(crate) fn append(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_string(line).map_err(|e| Error::Config(e.to_string()))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(Error::file(&self.path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Bytes of whole lines, and the lines.
fn read_whole<T: DeserializeOwned>(path: &Path, beginning: &str) -> Result<(u64, Vec<T>)> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok((0, Vec::new())),
        Err(e) => return Err(Error::file(path)(e)),
    };
    let refuse = |what: String| Error::Config(format!("{}: {what}", path.display()));
    if !text.starts_with(beginning) && !beginning.starts_with(&text) {
        return Err(refuse(format!("does not begin with {beginning}")));
    }
    let whole = &text[..text.rfind('\n').map_or(0, |last| last + 1)];
    let parsed = |(at, line)| serde_json::from_str(line).map_err(|e| refuse(format!("line {}: {e}", at + 1)));
    let lines = whole.lines().enumerate().map(parsed).collect::<Result<_>>()?;
    Ok((whole.len() as u64, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGINNING: &str = "[1,";

    fn open(path: &Path) -> Result<(JsonLines, Vec<Vec<u32>>)> {
        JsonLines::open(path, BEGINNING)
    }

    #[test]
    fn a_line_that_was_cut_off_is_dropped_and_others_follow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        open(&path).unwrap().0.append(&[1, 2]).unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        for torn in ["", "[", "[3", "[3,4]"] {
            std::fs::write(&path, format!("{whole}{torn}")).unwrap();
            let (mut file, lines) = open(&path).unwrap();
            assert_eq!(lines, [[1, 2]]);
            file.append(&[5]).unwrap();
            assert_eq!(open(&path).unwrap().1, [vec![1, 2], vec![5]]);
        }
    }

    #[test]
    fn a_torn_beginning_is_rewritten_and_another_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        for torn in ["", "[", "[1,2"] {
            std::fs::write(&path, torn).unwrap();
            let (mut file, lines) = open(&path).unwrap();
            assert_eq!(lines, Vec::<Vec<u32>>::new());
            file.append(&[1, 9]).unwrap();
            assert_eq!(JsonLines::read::<Vec<u32>>(&path, BEGINNING).unwrap(), [[1, 9]]);
        }
        for (other, said) in [("not ours", "does not begin with [1,"), ("[1,2]\n[x]\n[1]\n", "line 2: ")] {
            std::fs::write(&path, other).unwrap();
            let error = open(&path).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
        }
    }
}
