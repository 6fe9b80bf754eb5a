//! Files that logs are appended to.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Mode of a new log file, whatever the umask says.
pub(crate) const LOG_MODE: u32 = 0o640;

/// Opens or makes the file at `path` to append to it. The mode of a file that exists already is its owner's
/// choice.
pub(crate) fn append_to(path: &Path) -> io::Result<File> {
    let mut append = OpenOptions::new();
    append.append(true);
    match append.clone().create_new(true).mode(LOG_MODE).open(path) {
        Ok(file) => {
            file.set_permissions(Permissions::from_mode(LOG_MODE))?;
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => append.create(true).open(path),
        Err(error) => Err(error),
    }
}
