//! A folder in one file. Files of a data directory are mostly zeros: these are left out.
//!
//! | SIZE | FIELD |
//! |---|---|
//! | 4, n | bytes of the name and the name, for each file and folder, in the order of names |
//! | 8 | bytes of the file; all bits set: a folder |
//! | 4 | stretches, for each its offset (4), its length (4), and its bytes |

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FOLDER: u64 = u64::MAX;

/// Zeros between two stretches, at least.
const GAP: usize = 16;

/// The folder `root` as one file.
pub(crate) fn pack(root: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    for name in names(root) {
        let path = root.join(&name);
        let text = name.to_str().unwrap();
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(text.as_bytes());
        if path.is_dir() {
            out.extend(FOLDER.to_le_bytes());
            continue;
        }
        let bytes = std::fs::read(path).unwrap();
        let stretches = stretches(&bytes);
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend((stretches.len() as u32).to_le_bytes());
        for (from, to) in stretches {
            out.extend((from as u32).to_le_bytes());
            out.extend(((to - from) as u32).to_le_bytes());
            out.extend(&bytes[from..to]);
        }
    }
    out
}

/// Makes the folder `root` of what [`pack`] has returned.
pub(crate) fn unpack(mut from: &[u8], root: &Path) {
    std::fs::create_dir(root).unwrap();
    while !from.is_empty() {
        let len = number(&mut from, 4);
        let path = root.join(std::str::from_utf8(take(&mut from, len)).unwrap());
        let len = number(&mut from, 8);
        if len as u64 == FOLDER {
            std::fs::create_dir(path).unwrap();
            continue;
        }
        let mut bytes = vec![0; len];
        for _ in 0..number(&mut from, 4) {
            let (offset, len) = (number(&mut from, 4), number(&mut from, 4));
            bytes[offset..offset + len].copy_from_slice(take(&mut from, len));
        }
        std::fs::write(path, bytes).unwrap();
    }
}

/// Files and folders below `root`, each folder before what is in it.
fn names(root: &Path) -> BTreeSet<PathBuf> {
    let (mut names, mut folders) = (BTreeSet::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            names.insert(path.strip_prefix(root).unwrap().to_path_buf());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    names
}

/// Where bytes other than zeros begin and end.
fn stretches(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte != 0) {
        match stretches.last_mut() {
            Some((_, to)) if at - *to < GAP => *to = at + 1,
            _ => stretches.push((at, at + 1)),
        }
    }
    stretches
}

fn take<'a>(from: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (taken, rest) = from.split_at(len);
    *from = rest;
    taken
}

fn number(from: &mut &[u8], len: usize) -> usize {
    let mut wide = [0; 8];
    wide[..len].copy_from_slice(take(from, len));
    u64::from_le_bytes(wide) as usize
}
