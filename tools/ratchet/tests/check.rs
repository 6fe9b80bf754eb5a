//! `ratchet check` as a person calls it: exit status, what is told and where, and that nothing changes.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use engine::{BeginOptions, Engine, EngineConfig};
use env::RealDisk;
use tempfile::TempDir;
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef, TypeKind};

struct Outcome {
    status: Option<i32>,
    out: String,
    err: String,
}

fn ratchet(args: &[&str]) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_ratchet")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn check(datadir: &Path) -> Outcome {
    ratchet(&["check", datadir.to_str().unwrap()])
}

fn open(datadir: &Path) -> Arc<Engine> {
    let config = EngineConfig { background: false, ..EngineConfig::new(Arc::new(RealDisk), datadir) };
    Engine::open(config).unwrap()
}

/// A data directory in a folder of its own: table `shop.item (id INT PRIMARY KEY)` with 100 rows.
fn datadir() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let engine = open(&datadir);
    engine.create_schema("shop", CollationId::UTF8MB4_0900_AI_CI).unwrap();
    let table = engine.create_table(item()).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..100i32 {
        table.insert(&engine, &mut trx, &[Some(&id.to_le_bytes())]).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    engine.shutdown().unwrap();
    (folder, datadir)
}

fn item() -> TableDef {
    let id = ColumnDef::new("id", SqlType::new(TypeKind::Int, 11), false);
    TableDef::new("shop", "item", vec![id], vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])])
}

/// All files below a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.append(&mut contents(&path));
        } else {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn a_sound_directory_ends_with_0_and_is_left_as_it_was() {
    let (_folder, datadir) = datadir();
    let before = contents(&datadir);
    let Outcome { status, out, err } = check(&datadir);
    assert_eq!((status, &out[..]), (Some(0), ""), "{err}");
    assert!(err.starts_with("ratchet: sound; 1 tables, 100 rows, "), "{err}");
    assert!(contents(&datadir) == before);
}

#[test]
fn damage_ends_with_1_and_is_told_by_file_table_index_and_page() {
    let (_folder, datadir) = datadir();
    let file = datadir.join("data.pages");
    let mut bytes = std::fs::read(&file).unwrap();
    let page_bytes = 16_384;
    // The root of the first index that is not the dictionary's: type 3, index id 64.
    let is_root = |page: &[u8]| page[16] == 3 && page[20..24] == 64u32.to_le_bytes();
    let page = bytes.chunks(page_bytes).position(is_root).unwrap();
    bytes[page * page_bytes + 16_000] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let Outcome { status, out, err } = check(&datadir);
    assert_eq!(status, Some(1), "{err}");
    let place = format!("{}: table shop.item, index PRIMARY, data.pages page {page} ", file.display());
    assert!(out.starts_with(&place) && out.contains("Checksum"), "{out}");
    assert!(std::fs::read(&file).unwrap() == bytes);
}

#[test]
fn what_cannot_be_looked_at_ends_with_2_and_says_why() {
    let (folder, datadir) = datadir();
    let engine = open(&datadir);
    let Outcome { status, err, .. } = check(&datadir);
    assert_eq!(status, Some(2));
    assert!(err.contains("is in use") && err.contains("CHECK TABLE"), "{err}");
    drop(engine);
    let Outcome { status, err, .. } = check(&datadir);
    assert_eq!(status, Some(2));
    assert!(err.contains("must be recovered"), "{err}");
    let Outcome { status, err, .. } = check(&folder.path().join("nowhere"));
    assert_eq!(status, Some(2));
    assert!(err.contains("there is no data directory"), "{err}");
    let Outcome { status, err, .. } = ratchet(&["check"]);
    assert_eq!(status, Some(2));
    assert!(err.contains("<DATADIR>") && err.contains("Usage: ratchet check <DATADIR>"), "{err}");
    assert_eq!(ratchet(&["--help"]).status, Some(0));
}
