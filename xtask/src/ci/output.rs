//! What a program says, kept in a file until it has ended: it would mix with what others say.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::process::target_dir;

/// Standard output and errors of a program, in a file in `target/ci`.
pub(super) struct Output(PathBuf);

impl Output {
    /// The output of the program called `name`.
    pub(super) fn of(name: &str) -> Self {
        Output(target_dir().join("ci").join(name.replace([' ', ','], "-")))
    }

    /// Has `command` write to the file, which is empty at first, and read nothing.
    pub(super) fn redirect(&self, command: &mut Command) -> Result<(), String> {
        self.files()
            .map(|[out, errors]| {
                command.stdin(Stdio::null()).stdout(out).stderr(errors);
            })
            .map_err(|e| format!("{}: {e}", self.0.display()))
    }

    fn files(&self) -> std::io::Result<[File; 2]> {
        fs::create_dir_all(self.0.parent().expect("it is in a folder"))?;
        let file = File::create(&self.0)?;
        Ok([file.try_clone()?, file])
    }

    /// What was said so far.
    pub(super) fn read(&self) -> Result<String, String> {
        let bytes = fs::read(&self.0).map_err(|e| format!("{}: {e}", self.0.display()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
