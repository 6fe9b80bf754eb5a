use super::*;

#[test]
fn a_fault_fires_once_on_the_nth_operation_and_has_no_effect() {
    let disk = SimDisk::new();
    let file = file(&disk, "f");
    disk.schedule(Some(IoOp::Write), 2, FaultKind::Error(ErrorKind::StorageFull));
    file.write_at(b"one", 0).unwrap();
    let error = file.write_at(b"two", 0).unwrap_err();
    assert_eq!((error.op, error.kind), (IoOp::Write, ErrorKind::StorageFull));
    assert_eq!(error.to_string(), "cannot write f: no storage space");
    assert_eq!(bytes(&*file), b"one");
    file.write_at(b"two", 0).unwrap();
    assert_eq!(disk.count(IoOp::Write), 3);
}

#[test]
fn operations_are_counted_by_kind_and_together() {
    let disk = SimDisk::new();
    let file = file(&disk, "f");
    file.write_at(b"x", 0).unwrap();
    file.sync_data().unwrap();
    disk.sync_dir(Path::new("")).unwrap();
    disk.open(Path::new("g"), OpenOptions::default()).unwrap_err();
    let counts = [IoOp::Create, IoOp::Write, IoOp::Sync, IoOp::SyncDir, IoOp::Open].map(|op| disk.count(op));
    assert_eq!((counts, disk.count_all()), ([1; 5], 5));
}

#[test]
fn a_flipped_bit_is_read_back_flipped_and_survives_a_crash() {
    let disk = SimDisk::seeded(3);
    let file = file(&disk, "f");
    file.write_at(&[0; 4], 0).unwrap();
    disk.sync_dir(Path::new("")).unwrap();
    file.sync_data().unwrap();
    disk.flip_bit(Path::new("f"), 2);
    assert_eq!(bytes(&*file), [0, 0, 1, 0]);
    assert_eq!(bytes(&*open(&disk.crash(), "f")), [0, 0, 1, 0]);
}

#[test]
fn bit_rot_met_by_a_read_stays() {
    let disk = SimDisk::new();
    let file = file(&disk, "f");
    file.write_at(&[0; 64], 0).unwrap();
    disk.schedule(Some(IoOp::Read), 1, FaultKind::BitRot);
    let rotten = bytes(&*file);
    assert_eq!(rotten.iter().map(|b| b.count_ones()).sum::<u32>(), 1);
    assert_eq!(bytes(&*file), rotten);
}

#[test]
fn a_short_read_ends_before_what_there_is() {
    let disk = SimDisk::new();
    let file = file(&disk, "f");
    file.write_at(&[1; 100], 0).unwrap();
    disk.schedule(Some(IoOp::Read), 1, FaultKind::ShortRead);
    assert!(file.read_at(&mut [0; 100], 0).unwrap() < 100);
    disk.schedule(Some(IoOp::Read), 1, FaultKind::ShortRead);
    assert_eq!(file.read_exact_at(&mut [0; 100], 0).unwrap_err().kind, ErrorKind::UnexpectedEof);
    assert_eq!(file.read_at(&mut [0; 100], 0), Ok(100));
}

#[test]
fn a_partial_write_fails_and_leaves_some_first_sectors() {
    let disk = SimDisk::seeded(9);
    let file = file(&disk, "f");
    let mut stored = std::collections::BTreeSet::new();
    for _ in 0..50 {
        file.set_len(0).unwrap();
        disk.schedule(Some(IoOp::Write), 1, FaultKind::PartialWrite(ErrorKind::Other));
        assert_eq!(file.write_at(&[1; 4 * SECTOR], 0).unwrap_err().kind, ErrorKind::Other);
        let found = sectors(&*file);
        assert!(found.iter().all(|b| *b == 1));
        stored.insert(found.len());
    }
    assert_eq!(stored.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn a_lost_write_is_acknowledged_synced_and_not_there() {
    let disk = SimDisk::seeded(1);
    let file = file(&disk, "f");
    disk.sync_dir(Path::new("")).unwrap();
    file.write_at(&[1; SECTOR], 0).unwrap();
    disk.schedule(Some(IoOp::Write), 1, FaultKind::LostWrite);
    file.write_at(&[2; SECTOR], 0).unwrap();
    file.sync_data().unwrap();
    assert_eq!(sectors(&*file), [1]);
    assert_eq!(sectors(&*open(&disk.crash(), "f")), [1]);
}

#[test]
fn a_misdirected_write_lands_elsewhere() {
    let disk = SimDisk::seeded(5);
    let file = file(&disk, "f");
    file.write_at(&[1; 8 * SECTOR], 0).unwrap();
    for _ in 0..20 {
        disk.schedule(Some(IoOp::Write), 1, FaultKind::MisdirectedWrite);
        file.write_at(&[2; SECTOR], 3 * SECTOR_BYTES).unwrap();
        let found = sectors(&*file);
        assert_eq!(found[3], 1);
        assert_eq!(found.iter().map(|b| u32::from(*b == 2)).sum::<u32>(), 1);
        file.write_at(&[1; 8 * SECTOR], 0).unwrap();
    }
}

#[test]
fn a_full_disk_refuses_growth_and_has_room_again_after_a_removal() {
    let disk = SimDisk::new();
    disk.set_capacity(1000);
    let (f, g) = (file(&disk, "f"), file(&disk, "g"));
    f.write_at(&[1; 600], 0).unwrap();
    assert_eq!(g.write_at(&[1; 600], 0).unwrap_err().kind, ErrorKind::StorageFull);
    assert_eq!(g.allocate(0, 401).unwrap_err().kind, ErrorKind::StorageFull);
    assert_eq!(g.len(), Ok(0));
    f.write_at(&[2; 600], 0).unwrap();
    disk.remove(Path::new("f")).unwrap();
    g.write_at(&[1; 600], 0).unwrap();
    g.set_len(100).unwrap();
    file(&disk, "h").set_len(900).unwrap();
}

#[test]
fn a_disk_that_is_full_from_some_operation_on_refuses_what_may_need_space_until_it_has_some() {
    let disk = SimDisk::new();
    let f = file(&disk, "f");
    f.write_at(&[1; 600], 0).unwrap();
    disk.schedule(Some(IoOp::Write), 2, FaultKind::Full);
    f.write_at(&[2; 600], 0).unwrap();
    for _ in 0..2 {
        assert_eq!(f.write_at(&[3; 600], 0).unwrap_err().kind, ErrorKind::StorageFull);
        assert_eq!(f.allocate(0, 10).unwrap_err().kind, ErrorKind::StorageFull);
        assert!(disk.create(Path::new("g"), OpenOptions::default()).is_err());
    }
    f.sync_data().unwrap();
    assert_eq!(sectors(&*f)[0], 2);
    disk.set_capacity(u64::MAX);
    f.write_at(&[3; 600], 0).unwrap();
    disk.schedule(Some(IoOp::Write), 1, FaultKind::Full);
    disk.unschedule();
    f.write_at(&[4; 600], 0).unwrap();
}
