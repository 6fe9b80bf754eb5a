use super::*;

fn file(disk: &MemDisk, name: &str) -> Arc<dyn File> {
    disk.create(Path::new(name), OpenOptions::default()).unwrap()
}

#[test]
fn the_same_checks_as_on_a_real_disk_pass() {
    let disk = MemDisk::new();
    disk.create_dir(Path::new("/data")).unwrap();
    crate::real_disk::contract::check(&disk, Path::new("/data"));
}

#[test]
fn a_fault_fires_once_on_the_nth_operation_and_has_no_effect() {
    let disk = MemDisk::new();
    let file = file(&disk, "f");
    disk.inject(Fault { op: IoOp::Write, nth: 2, kind: ErrorKind::StorageFull });
    file.write_at(b"one", 0).unwrap();
    let error = file.write_at(b"two", 0).unwrap_err();
    assert_eq!((error.op, error.kind), (IoOp::Write, ErrorKind::StorageFull));
    assert_eq!(error.to_string(), "cannot write f: no storage space");
    let mut back = [0; 3];
    file.read_exact_at(&mut back, 0).unwrap();
    assert_eq!(&back, b"one");
    file.write_at(b"two", 0).unwrap();
    assert_eq!(disk.count(IoOp::Write), 3);
}

#[test]
fn a_flipped_bit_is_read_back_flipped() {
    let disk = MemDisk::new();
    let file = file(&disk, "f");
    file.write_at(&[0; 4], 0).unwrap();
    disk.flip_bit(Path::new("f"), 2);
    let mut back = [0; 4];
    file.read_exact_at(&mut back, 0).unwrap();
    assert_eq!(back, [0, 0, 1, 0]);
}

#[test]
fn files_survive_their_handles() {
    let disk = MemDisk::new();
    file(&disk, "f").write_at(b"kept", 0).unwrap();
    let again = disk.open(Path::new("f"), OpenOptions::default()).unwrap();
    assert_eq!(again.len(), Ok(4));
}
