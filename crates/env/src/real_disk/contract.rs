//! What every [`Disk`] must do alike.

use std::io::ErrorKind;

use crate::disk::{Disk, File, OpenOptions};
use std::path::{Path, PathBuf};

/// Runs all checks in the existing empty folder `dir`.
pub(crate) fn check(disk: &dyn Disk, dir: &Path) {
    names(disk, dir);
    let path = dir.join("bytes");
    let file = disk.create(&path, OpenOptions::default()).unwrap();
    assert_eq!(file.path(), path);
    bytes(&*file);
    space(&*file);
    locks(disk, dir);
}

fn names(disk: &dyn Disk, dir: &Path) {
    let (a, b) = (dir.join("a"), dir.join("b"));
    let options = OpenOptions::default();
    assert_eq!(disk.open(&a, options).unwrap_err().kind, ErrorKind::NotFound);
    disk.create(&a, options).unwrap();
    assert_eq!(disk.create(&a, options).unwrap_err().kind, ErrorKind::AlreadyExists);
    disk.create(&b, options).unwrap();
    assert_eq!(disk.create_dir(&b).unwrap_err().kind, ErrorKind::AlreadyExists);
    disk.create_dir(&dir.join("c")).unwrap();
    disk.create(&dir.join("c/inner"), options).unwrap();
    let missing = dir.join("none/f");
    assert_eq!(disk.create(&missing, options).unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(disk.list(dir).unwrap(), ["a", "b", "c"].map(PathBuf::from));
    disk.rename(&a, &b).unwrap();
    assert_eq!((disk.exists(&a), disk.exists(&b)), (Ok(false), Ok(true)));
    disk.remove(&b).unwrap();
    assert_eq!(disk.remove(&b).unwrap_err().kind, ErrorKind::NotFound);
    disk.sync_dir(dir).unwrap();
}

fn bytes(file: &dyn File) {
    file.write_at(b"world", 6).unwrap();
    file.write_vectored_at(&[b"hel", b"", b"lo "], 0).unwrap();
    assert_eq!(file.len(), Ok(11));
    let mut back = [0xff; 16];
    assert_eq!(file.read_at(&mut back, 0), Ok(11));
    assert_eq!(&back[..11], b"hello world");
    assert_eq!(file.read_at(&mut back, 11), Ok(0));
    assert_eq!(file.read_at(&mut back, 1000), Ok(0));
    assert_eq!(file.read_exact_at(&mut back, 0).unwrap_err().kind, ErrorKind::UnexpectedEof);
    file.sync_data().unwrap();
}

fn space(file: &dyn File) {
    file.set_len(3).unwrap();
    file.set_len(8192).unwrap();
    let mut back = [0xff; 8];
    file.read_exact_at(&mut back, 0).unwrap();
    assert_eq!(&back, b"hel\0\0\0\0\0");
    file.allocate(0, 16384).unwrap();
    assert_eq!(file.len(), Ok(16384));
    file.write_at(&[1; 16384], 0).unwrap();
    file.punch_hole(4096, 8192).unwrap();
    let mut all = vec![0xff; 16384];
    file.read_exact_at(&mut all, 0).unwrap();
    assert!(all[..4096].iter().chain(&all[12288..]).all(|&b| b == 1));
    assert!(all[4096..12288].iter().all(|&b| b == 0));
    file.prefetch(0, 16384);
}

fn locks(disk: &dyn Disk, dir: &Path) {
    let path = dir.join("lock");
    let held = disk.lock_exclusive(&path).unwrap();
    assert_eq!(disk.lock_exclusive(&path).unwrap_err().kind, ErrorKind::WouldBlock);
    drop(held);
    disk.lock_exclusive(&path).unwrap();
}
