//! The data directory: its files, its lock, and the version that wrote it.
//!
//! | NAME | WHAT |
//! |---|---|
//! | `FORMAT` | a line `ratchet N`: the version of everything else; a line with the directory's identity |
//! | `LOCK` | taken by the server that uses the directory |
//! | `data.pages` | pages |
//! | `redo/`, `doublewrite/`, `undo/` | log files, page copies, spilled undo |
//! | `tmp/` | files of running statements; those that a crash has left are removed at start |

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use env::{Disk, DiskLock, IoError, OpenOptions};
use log::Identity;

use crate::error::{DataDirError, Error, Result};
use crate::spill::SpillFolder;
use crate::temp_file::TempFolder;

/// The version this engine writes.
pub const FORMAT_VERSION: u32 = 3;
/// The oldest one that it reads. A startup raises it.
const READ_VERSION_MIN: u32 = 2;

const FORMAT_FILE: &str = "FORMAT";
/// What FORMAT is called until the directory is made.
const UNFINISHED_FORMAT_FILE: &str = "FORMAT.new";
const DATA_FILE: &str = "data.pages";
/// The former name of the page file. A startup gives it its name.
const OLD_DATA_FILE: &str = "data.rdb";
const LOCK_FILE: &str = "LOCK";
const UNDO_FOLDER: &str = "undo";
const TEMP_FOLDER: &str = "tmp";
const FOLDERS: [&str; 4] = ["redo", "doublewrite", UNDO_FOLDER, TEMP_FOLDER];
/// Longest FORMAT file that is read.
const FORMAT_BYTES_MAX: u64 = 64;

/// A directory that is ours.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    /// Name of the page file.
    data_file: &'static str,
    /// Held until the engine is gone.
    _lock: Box<dyn DiskLock>,
}

/// What was found.
#[derive(Debug)]
pub(crate) enum Found {
    /// Nothing: the directory has been laid out, data.pages is to be made and [`DataDir::finish`] called.
    New(DataDir),
    /// A directory, of this version now, and its identity.
    Existing(DataDir, Identity),
}

impl DataDir {
    /// Takes the directory. One that is refused has not been changed.
    pub(crate) fn open(disk: &Arc<dyn Disk>, path: &Path) -> Result<Found> {
        if !disk.exists(path)? {
            disk.create_dir(path).map_err(not_writable)?;
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            disk.sync_dir(parent.unwrap_or(Path::new("."))).map_err(not_writable)?;
        }
        let names = disk.list(path)?;
        let has = |name: &str| names.iter().any(|found| found == Path::new(name));
        if has(FORMAT_FILE) {
            read_format(disk, path)?;
        } else if names.iter().any(|name| !is_ours(name)) {
            return Err(DataDirError::NotADataDir(path.to_path_buf()).into());
        } else if (has(DATA_FILE) || has(OLD_DATA_FILE)) && !has(UNFINISHED_FORMAT_FILE) {
            return Err(DataDirError::FormatLost(path.to_path_buf()).into());
        }
        let dir = DataDir::take(disk, path)?;
        // Looked at again: another server may have made the directory before this one had the lock.
        if disk.exists(&path.join(FORMAT_FILE))? {
            let (version, identity) = read_format(disk, path)?;
            let dir = dir.rename_data_file(disk)?;
            if version < FORMAT_VERSION {
                dir.raise_version(disk, identity)?;
            }
            return Ok(Found::Existing(dir, identity));
        }
        dir.lay_out(disk)?;
        Ok(Found::New(dir))
    }

    /// Opens the directory, which must be a data directory, for reading.
    pub(crate) fn look_at(disk: &Arc<dyn Disk>, path: &Path) -> Result<DataDir> {
        if !disk.exists(path)? || !disk.exists(&path.join(FORMAT_FILE))? {
            return Err(DataDirError::Missing(path.to_path_buf()).into());
        }
        read_format(disk, path)?;
        DataDir::take(disk, path)
    }

    fn take(disk: &Arc<dyn Disk>, path: &Path) -> Result<DataDir> {
        let lock = disk.lock_exclusive(&path.join(LOCK_FILE)).map_err(|error| match error.kind {
            ErrorKind::WouldBlock => DataDirError::InUse(path.to_path_buf()).into(),
            _ => not_writable(error),
        })?;
        let has = |name| disk.exists(&path.join(name));
        let is_old = has(OLD_DATA_FILE)? && has(FORMAT_FILE)?;
        if is_old && has(DATA_FILE)? {
            return Err(DataDirError::TwoDataFiles(path.to_path_buf()).into());
        }
        let data_file = if is_old { OLD_DATA_FILE } else { DATA_FILE };
        Ok(DataDir { path: path.to_path_buf(), data_file, _lock: lock })
    }

    /// Gives the page file its name, durably. A crash leaves it under one of the two.
    fn rename_data_file(self, disk: &Arc<dyn Disk>) -> Result<DataDir> {
        if self.data_file == DATA_FILE {
            return Ok(self);
        }
        let renamed = DataDir { data_file: DATA_FILE, ..self };
        disk.rename(&renamed.path.join(OLD_DATA_FILE), &renamed.data_file()).map_err(not_writable)?;
        disk.sync_dir(&renamed.path)?;
        Ok(renamed)
    }

    /// The page file.
    pub(crate) fn data_file(&self) -> PathBuf {
        self.path.join(self.data_file)
    }

    /// Where undo is spilled.
    pub(crate) fn spill_folder(&self, disk: &Arc<dyn Disk>, identity: Identity) -> SpillFolder {
        SpillFolder::new(disk, self.path.join(UNDO_FOLDER), identity)
    }

    /// Where statements make files.
    pub(crate) fn temp_folder(&self, disk: &Arc<dyn Disk>) -> TempFolder {
        TempFolder::new(disk, self.path.join(TEMP_FOLDER))
    }

    fn lay_out(&self, disk: &Arc<dyn Disk>) -> Result<()> {
        for folder in FOLDERS {
            let folder = self.path.join(folder);
            if !disk.exists(&folder)? {
                disk.create_dir(&folder).map_err(not_writable)?;
            }
        }
        // Durable before data.pages exists: it distinguishes an interrupted creation from a directory that
        // lost its FORMAT.
        let unfinished = self.path.join(UNFINISHED_FORMAT_FILE);
        if !disk.exists(&unfinished)? {
            disk.create(&unfinished, OpenOptions::default()).map_err(not_writable)?;
        }
        disk.sync_dir(&self.path)?;
        // A creation that did not get to its FORMAT file left nothing worth keeping.
        for data in [DATA_FILE, OLD_DATA_FILE].map(|name| self.path.join(name)) {
            if disk.exists(&data)? {
                disk.remove(&data)?;
            }
        }
        Ok(())
    }

    /// Makes the directory one of this version, durably: earlier servers refuse it from here on.
    #[cold]
    fn raise_version(&self, disk: &Arc<dyn Disk>, identity: Identity) -> Result<()> {
        let unfinished = self.path.join(UNFINISHED_FORMAT_FILE);
        if !disk.exists(&unfinished)? {
            disk.create(&unfinished, OpenOptions::default()).map_err(not_writable)?;
        }
        self.finish(disk, identity)
    }

    /// Writes FORMAT: from here on the directory is a data directory.
    pub(crate) fn finish(&self, disk: &Arc<dyn Disk>, identity: Identity) -> Result<()> {
        let part = self.path.join(UNFINISHED_FORMAT_FILE);
        let file = disk.open(&part, OpenOptions::default())?;
        let hex: String = identity.iter().map(|byte| format!("{byte:02x}")).collect();
        file.write_at(format!("ratchet {FORMAT_VERSION}\n{hex}\n").as_bytes(), 0)?;
        file.sync_data()?;
        disk.rename(&part, &self.path.join(FORMAT_FILE))?;
        Ok(disk.sync_dir(&self.path)?)
    }
}

/// Names that a creation that was cut short may have left.
fn is_ours(name: &Path) -> bool {
    let files = [LOCK_FILE, DATA_FILE, OLD_DATA_FILE, UNFINISHED_FORMAT_FILE];
    FOLDERS.iter().chain(&files).any(|ours| name == Path::new(ours))
}

fn read_format(disk: &Arc<dyn Disk>, path: &Path) -> Result<(u32, Identity)> {
    let file = disk.open(&path.join(FORMAT_FILE), OpenOptions::default())?;
    let mut bytes = vec![0; file.len()?.min(FORMAT_BYTES_MAX) as usize];
    file.read_exact_at(&mut bytes, 0)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let line = lines.next().unwrap_or_default();
    let is_known = |version: &u32| line == format!("ratchet {version}");
    let Some(version) = (READ_VERSION_MIN..=FORMAT_VERSION).find(is_known) else {
        let found = line.into();
        return Err(DataDirError::UnknownFormat {
            path: path.to_path_buf(),
            found,
            supported: FORMAT_VERSION,
        }
        .into());
    };
    let identity = lines.next().and_then(identity_of);
    Ok((version, identity.ok_or_else(|| DataDirError::NoIdentity(path.to_path_buf()))?))
}

/// The identity that a line of hexadecimal digits stands for.
fn identity_of(line: &str) -> Option<Identity> {
    let bytes = u128::from_str_radix(line, 16).ok().filter(|_| line.len() == 32)?;
    Some(bytes.to_be_bytes())
}

#[cold]
fn not_writable(error: IoError) -> Error {
    match error.kind {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            DataDirError::NotWritable(error).into()
        }
        _ => Error::Io(error),
    }
}
