//! An append-only file, rotated by size, with a limit on the total size.
//!
//! `audit.log` is set aside as `audit.20261127T113448.log`, the time being UTC; a second one of the same
//! second as `audit.20261127T113448-1.log`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::log_file;

/// How much is kept; 0: no limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    /// The file is set aside when it is as long, in bytes.
    pub(crate) rotate_bytes: u64,
    /// Files that were set aside are removed, the oldest first, while all are longer together.
    pub(crate) all_bytes: u64,
}

/// The file, open.
#[derive(Debug)]
pub(super) struct RotatingFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    /// A part of a line that could not be written may be at the end.
    is_torn: bool,
}

impl RotatingFile {
    /// Opens or makes the file at `path`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let (file, bytes) = open(path)?;
        Ok(RotatingFile { path: path.to_owned(), file, bytes, is_torn: false })
    }

    /// Appends a line, and sets the file aside if it is long then.
    ///
    /// # Errors
    /// The line, or a part of it, is not in the file. A file that could not be set aside is no error: it is
    /// tried again with the next line.
    pub(super) fn append(&mut self, line: &[u8], keep: Keep, now: Timestamp) -> io::Result<()> {
        if self.is_torn {
            self.file.write_all(b"\n")?;
            self.bytes += 1;
        }
        self.is_torn = true;
        self.file.write_all(line)?;
        self.is_torn = false;
        self.bytes += line.len() as u64;
        if keep.rotate_bytes > 0 && self.bytes >= keep.rotate_bytes && self.set_aside(now).is_ok() {
            self.remove_oldest(keep.all_bytes);
        }
        Ok(())
    }

    fn set_aside(&mut self, now: Timestamp) -> io::Result<()> {
        let time = now.strftime("%Y%m%dT%H%M%S").to_string();
        let free = (0..1000).map(|n| self.aside(&time, n)).find(|path| !path.exists());
        let Some(aside) = free else { return Err(io::ErrorKind::AlreadyExists.into()) };
        match fs::rename(&self.path, aside) {
            // It was renamed before, and a new one could not be opened.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => renamed?,
        }
        (self.file, self.bytes) = open(&self.path)?;
        Ok(())
    }

    /// The name of the `n`-th file set aside in one second.
    fn aside(&self, time: &str, n: u32) -> PathBuf {
        let (stem, ending) = self.name();
        let number = if n == 0 { String::new() } else { format!("-{n}") };
        self.path.with_file_name(format!("{stem}.{time}{number}{ending}"))
    }

    /// The file's name, without its ending, and that with its dot.
    fn name(&self) -> (String, String) {
        let text = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
        let ending = text(self.path.extension()).map_or(String::new(), |ending| format!(".{ending}"));
        (text(self.path.file_stem()).unwrap_or_default(), ending)
    }

    /// Removes files that were set aside, the oldest first, while there are more than `all_bytes`. What
    /// cannot be listed or removed stays.
    fn remove_oldest(&self, all_bytes: u64) {
        if all_bytes == 0 {
            return;
        }
        let mut aside = self.set_aside_before();
        aside.sort();
        let mut total = self.bytes + aside.iter().map(|(.., bytes)| bytes).sum::<u64>();
        for (.., path, bytes) in aside {
            if total <= all_bytes {
                return;
            }
            if fs::remove_file(&path).is_ok() {
                total -= bytes;
            }
        }
    }

    /// The files set aside: time, number in it, path, length.
    fn set_aside_before(&self) -> Vec<(String, u32, PathBuf, u64)> {
        let (stem, ending) = self.name();
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Vec::new() };
        let aside = |entry: fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let rest = name.strip_prefix(&stem)?.strip_prefix('.')?.strip_suffix(&ending)?;
            let (time, number) = rest.split_once('-').unwrap_or((rest, "0"));
            let is_time = time.len() == 15 && time.bytes().all(|b| b.is_ascii_digit() || b == b'T');
            let bytes = entry.metadata().ok()?.len();
            is_time.then_some((time.to_owned(), number.parse().ok()?, entry.path(), bytes))
        };
        entries.flatten().filter_map(aside).collect()
    }
}

/// Opens or makes a file to append to, and its length.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let file = log_file::append_to(path)?;
    let bytes = file.metadata()?.len();
    Ok((file, bytes))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_long_file_is_set_aside_and_the_oldest_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        fs::write(folder.path().join("audit.mine.log"), "another's").unwrap();
        let mut file = RotatingFile::open(&path).unwrap();
        let keep = Keep { rotate_bytes: 100, all_bytes: 250 };
        let second = |n: i64| Timestamp::from_second(1_800_000_000 + n).unwrap();
        for n in 0..6 {
            file.append(&[b'x'; 100], keep, second(n / 2)).unwrap();
        }
        let aside = ["audit.20270115T080002-1.log", "audit.20270115T080002.log"];
        assert_eq!(names(folder.path()), [&aside[..], &["audit.log", "audit.mine.log"]].concat());
        file.append(b"short", keep, second(9)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"short");
        drop(file);
        let mut file = RotatingFile::open(&path).unwrap();
        file.append(b" and more", Keep { rotate_bytes: 0, all_bytes: 0 }, second(9)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"short and more", "it goes on where it ended");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, log_file::LOG_MODE);
    }
}
