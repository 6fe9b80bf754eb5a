//! A simulated disk as its users see it: faithful by default, faulty on demand.

mod crash;
mod faults;

use super::*;

const SECTOR_BYTES: u64 = SECTOR as u64;

fn file(disk: &SimDisk, name: &str) -> Arc<dyn File> {
    disk.create(Path::new(name), OpenOptions::default()).unwrap()
}

fn open(disk: &SimDisk, name: &str) -> Arc<dyn File> {
    disk.open(Path::new(name), OpenOptions::default()).unwrap()
}

fn bytes(file: &dyn File) -> Vec<u8> {
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// The file's sectors, each of which must be of one byte value throughout.
fn sectors(file: &dyn File) -> Vec<u8> {
    bytes(file)
        .chunks(SECTOR)
        .map(|sector| {
            assert!(sector.iter().all(|b| *b == sector[0]), "a sector is a mixture");
            sector[0]
        })
        .collect()
}

#[test]
fn the_same_checks_as_on_a_real_disk_pass() {
    for disk in [SimDisk::new(), SimDisk::seeded(1)] {
        disk.create_dir(Path::new("/data")).unwrap();
        crate::real_disk::contract::check(&disk, Path::new("/data"));
    }
}

#[test]
fn files_survive_their_handles() {
    let disk = SimDisk::new();
    file(&disk, "f").write_at(b"kept", 0).unwrap();
    assert_eq!(open(&disk, "f").len(), Ok(4));
}

#[test]
fn direct_access_is_refused_unless_aligned() {
    #[repr(align(4096))]
    struct Aligned([u8; 8192]);
    let disk = SimDisk::new();
    let file = disk.create(Path::new("f"), OpenOptions { direct: true }).unwrap();
    let mut page = Aligned([7; 8192]);
    file.write_at(&page.0[..4096], 4096).unwrap();
    file.read_exact_at(&mut page.0[..], 0).unwrap();
    for (range, offset) in [(0..4095, 0), (0..4096, 512), (512..4608, 0)] {
        let refused = file.write_at(&page.0[range.clone()], offset).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::InvalidInput);
        assert_eq!(file.read_at(&mut page.0[range], offset).unwrap_err().kind, ErrorKind::InvalidInput);
    }
}
