//! The log over a disk in memory.

mod append;
mod damage;
mod failure;
mod files;
mod reserve;
mod simulated;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Lsn;
use env::{Disk, OpenOptions, SimDisk};

use crate::{FrameRange, Identity, Log, LogConfig, LogReader, Part, Result};

const IDENTITY: Identity = [9; 16];
const FIRST_LSN: Lsn = Lsn(8192);

/// Files of 4 KiB of log each, a ring of 4 KiB.
const SMALL: LogConfig = LogConfig { capacity_bytes: 64 << 10, buffer_bytes: 4096, file_bytes_min: 8192 };

/// Files of 1 MiB, a ring of 4 MiB.
pub(crate) const LARGE: LogConfig =
    LogConfig { capacity_bytes: 16 << 20, buffer_bytes: 4 << 20, file_bytes_min: 1 << 20 };

fn dir() -> &'static Path {
    Path::new("redo")
}

fn disk_of(disk: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

/// An empty disk with a new log.
pub(crate) fn new_log(config: LogConfig) -> (SimDisk, Log) {
    let disk = SimDisk::new();
    disk.create_dir(dir()).unwrap();
    let log = Log::create(&disk_of(&disk), dir(), IDENTITY, FIRST_LSN, config).unwrap();
    (disk, log)
}

fn reader(disk: &SimDisk) -> Result<LogReader> {
    LogReader::open(&disk_of(disk), dir(), IDENTITY)
}

/// A payload that is a part, to distinguish it from the log's own frames.
fn payload(bytes: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    Part::Filler(bytes).encode(&mut payload);
    payload
}

pub(crate) fn append(log: &Log, bytes: &[u8]) -> FrameRange {
    log.append(&[], &payload(bytes)).range()
}

type Filler = (FrameRange, Vec<u8>);

/// The frames with fillers from the checkpoint on, and the reader at the end.
fn read_all(disk: &SimDisk) -> Result<(Vec<Filler>, LogReader)> {
    let mut reader = reader(disk)?;
    let mut found = Vec::new();
    while let Some(frame) = reader.next_frame()? {
        for part in frame.parts() {
            if let Part::Filler(bytes) = part? {
                found.push((frame.range, bytes.to_vec()));
            }
        }
    }
    Ok((found, reader))
}

/// A copy of a disk's log, as a crash with everything written would leave it.
fn copy(disk: &SimDisk) -> SimDisk {
    let copy = SimDisk::new();
    copy.create_dir(dir()).unwrap();
    for name in names(disk) {
        let bytes = bytes_of(disk, &name);
        let file = copy.create(&name, OpenOptions::default()).unwrap();
        file.write_at(&bytes, 0).unwrap();
    }
    copy
}

fn names(disk: &SimDisk) -> Vec<PathBuf> {
    disk.list(dir()).unwrap().into_iter().map(|name| dir().join(name)).collect()
}

fn bytes_of(disk: &SimDisk, name: &Path) -> Vec<u8> {
    let file = disk.open(name, OpenOptions::default()).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}
