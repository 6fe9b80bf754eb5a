use super::*;
use std::collections::BTreeSet;

/// A disk with a durable file `f` of `sectors` sectors of 1.
fn disk_with(seed: u64, sectors: usize) -> (SimDisk, Arc<dyn File>) {
    let disk = SimDisk::seeded(seed);
    let file = file(&disk, "f");
    file.write_at(&vec![1; sectors * SECTOR], 0).unwrap();
    file.sync_data().unwrap();
    disk.sync_dir(Path::new("")).unwrap();
    (disk, file)
}

fn names(disk: &SimDisk) -> Vec<String> {
    let names = disk.list(Path::new("")).unwrap();
    names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn what_was_synced_survives_every_crash() {
    for seed in 0..50 {
        let (disk, file) = disk_with(seed, 8);
        file.write_at(&[2; SECTOR], 3 * SECTOR_BYTES).unwrap();
        file.sync_data().unwrap();
        assert!(disk.unsynced().is_empty());
        assert_eq!(sectors(&*open(&disk.crash(), "f")), [1, 1, 1, 2, 1, 1, 1, 1]);
    }
}

#[test]
fn a_crash_without_loss_keeps_everything() {
    let disk = SimDisk::new();
    file(&disk, "f").write_at(&[1; 700], 0).unwrap();
    assert_eq!(bytes(&*open(&disk.crash(), "f")), [1; 700]);
}

#[test]
fn unsynced_sectors_are_old_or_new_each_for_itself() {
    let mut outcomes = BTreeSet::new();
    for seed in 0..400 {
        let (disk, file) = disk_with(seed, 4);
        file.write_at(&[2; 3 * SECTOR], 0).unwrap();
        assert_eq!(disk.unsynced(), [PathBuf::from("f")]);
        let found = sectors(&*open(&disk.crash(), "f"));
        assert!(found[..3].iter().all(|b| [1, 2].contains(b)) && found[3] == 1);
        outcomes.insert(found);
    }
    assert_eq!(outcomes.len(), 8);
}

#[test]
fn a_sector_written_more_than_once_may_be_any_of_its_versions() {
    let found = |seed| {
        let (disk, file) = disk_with(seed, 1);
        file.write_at(&[2; SECTOR], 0).unwrap();
        file.write_at(&[3; SECTOR], 0).unwrap();
        sectors(&*open(&disk.crash(), "f"))[0]
    };
    assert_eq!((0..100).map(found).collect::<BTreeSet<u8>>(), BTreeSet::from([1, 2, 3]));
}

#[test]
fn the_caller_may_decide_which_sectors_survive() {
    let (disk, file) = disk_with(1, 4);
    file.write_at(&[2; 4 * SECTOR], 0).unwrap();
    let torn = disk.crash_keeping(|path, sector| path == Path::new("f") && sector % 2 == 1);
    assert_eq!(sectors(&*open(&torn, "f")), [1, 2, 1, 2]);
    let other = disk.crash_keeping(|_, sector| sector == 0);
    assert_eq!(sectors(&*open(&other, "f")), [2, 1, 1, 1]);
}

#[test]
fn a_length_is_old_or_new_and_lost_growth_is_lost_data() {
    let mut lens = BTreeSet::new();
    for seed in 0..200 {
        let (disk, file) = disk_with(seed, 2);
        file.write_at(&[2; SECTOR], 2 * SECTOR_BYTES).unwrap();
        file.set_len(SECTOR_BYTES).unwrap();
        let found = sectors(&*open(&disk.crash(), "f"));
        lens.insert(found.len());
        assert_eq!(found[0], 1);
        assert!(found.iter().skip(1).all(|b| [0, 1, 2].contains(b)));
    }
    assert_eq!(lens, BTreeSet::from([1, 2, 3]));
}

#[test]
fn holes_and_reservations_may_be_lost() {
    let outcomes: BTreeSet<Vec<u8>> = (0..100)
        .map(|seed| {
            let (disk, file) = disk_with(seed, 2);
            file.punch_hole(0, SECTOR_BYTES).unwrap();
            file.allocate(2 * SECTOR_BYTES, SECTOR_BYTES).unwrap();
            sectors(&*open(&disk.crash(), "f"))
        })
        .collect();
    assert_eq!(outcomes, BTreeSet::from([vec![0, 1], vec![0, 1, 0], vec![1, 1], vec![1, 1, 0]]));
}

#[test]
fn one_seed_is_one_outcome() {
    let run = |seed| {
        let (disk, file) = disk_with(seed, 64);
        file.write_at(&vec![2; 64 * SECTOR], 0).unwrap();
        let first = sectors(&*open(&disk.crash(), "f"));
        (first, sectors(&*open(&disk.crash(), "f")))
    };
    for seed in 0..20 {
        assert_eq!(run(seed), run(seed));
    }
    assert!((0..20).any(|seed| run(seed).0 != run(seed).1), "a second crash is another one");
}

#[test]
fn unsynced_names_are_kept_or_lost() {
    let mut outcomes = BTreeSet::new();
    for seed in 0..400 {
        let (disk, _) = disk_with(seed, 1);
        disk.create_dir(Path::new("d")).unwrap();
        file(&disk, "d/inner");
        file(&disk, "new");
        disk.rename(Path::new("f"), Path::new("g")).unwrap();
        let disk = disk.crash();
        let mut found = names(&disk);
        assert!(found.contains(&"f".to_owned()) != found.contains(&"g".to_owned()), "a rename is atomic");
        if found.contains(&"d".to_owned()) && disk.exists(Path::new("d/inner")).unwrap() {
            found.push("inner".to_owned());
        }
        outcomes.insert(found);
    }
    // The file is f or g; new is there or not; the folder is missing, empty or not.
    assert_eq!(outcomes.len(), 2 * 2 * 3);
}

#[test]
fn a_synced_folder_keeps_its_names_and_removals_but_not_those_of_other_folders() {
    for seed in 0..50 {
        let (disk, _) = disk_with(seed, 1);
        disk.create_dir(Path::new("d")).unwrap();
        file(&disk, "d/inner");
        disk.remove(Path::new("f")).unwrap();
        disk.sync_dir(Path::new("")).unwrap();
        assert_eq!(names(&disk.crash()), ["d"]);
        let kept = disk.crash_keeping(|_, _| true);
        assert!(kept.exists(Path::new("d/inner")).unwrap());
    }
    let (disk, _) = disk_with(1, 1);
    disk.create_dir(Path::new("d")).unwrap();
    file(&disk, "d/inner");
    disk.sync_dir(Path::new("")).unwrap();
    let survives = |_| disk.crash().exists(Path::new("d/inner")).unwrap();
    assert_eq!((0..50).map(survives).collect::<BTreeSet<bool>>().len(), 2);
}

#[test]
fn what_follows_a_lost_change_of_the_same_name_is_lost() {
    for seed in 0..200 {
        let (disk, old) = disk_with(seed, 1);
        drop(old);
        disk.rename(Path::new("f"), Path::new("g")).unwrap();
        file(&disk, "f");
        let disk = disk.crash();
        let found =
            |name: &str| disk.exists(Path::new(name)).unwrap().then(|| open(&disk, name).len().unwrap());
        let file_is_somewhere = [found("f"), found("g")].contains(&Some(SECTOR_BYTES));
        assert!(file_is_somewhere, "the renamed file is under one of its names");
    }
}

#[test]
fn after_a_failed_sync_a_later_one_does_not_save_what_was_given_up() {
    let outcomes: BTreeSet<Vec<u8>> = (0..200)
        .map(|seed| {
            let (disk, file) = disk_with(seed, 2);
            file.write_at(&[2; 2 * SECTOR], 0).unwrap();
            disk.schedule(Some(IoOp::Sync), 1, FaultKind::Error(ErrorKind::Other));
            file.sync_data().unwrap_err();
            assert_eq!(sectors(&*file), [2, 2], "readers see what was written");
            file.sync_data().unwrap();
            sectors(&*open(&disk.crash(), "f"))
        })
        .collect();
    assert_eq!(outcomes.len(), 4);
}

#[test]
fn a_sector_that_was_given_up_can_be_written_again() {
    for seed in 0..100 {
        let (disk, file) = disk_with(seed, 1);
        file.write_at(&[2; SECTOR], 0).unwrap();
        disk.schedule(Some(IoOp::Sync), 1, FaultKind::Error(ErrorKind::Other));
        file.sync_data().unwrap_err();
        file.write_at(&[3; SECTOR], 0).unwrap();
        file.sync_data().unwrap();
        assert_eq!(sectors(&*open(&disk.crash(), "f")), [3]);
    }
}

#[test]
fn power_goes_off_before_the_nth_operation_and_all_handles_fail() {
    let (disk, file) = disk_with(1, 1);
    disk.schedule(None, 2, FaultKind::PowerOff);
    file.write_at(&[2; SECTOR], 0).unwrap();
    assert_eq!(file.sync_data().unwrap_err().kind, ErrorKind::NotConnected);
    assert!(disk.is_powered_off());
    assert_eq!(file.read_at(&mut [0; 4], 0).unwrap_err().kind, ErrorKind::NotConnected);
    assert_eq!(file.len().unwrap_err().kind, ErrorKind::NotConnected);
    assert_eq!(disk.exists(Path::new("f")).unwrap_err().kind, ErrorKind::NotConnected);
    let after = disk.crash();
    assert_eq!(open(&after, "f").len(), Ok(SECTOR_BYTES));
    assert!(disk.open(Path::new("f"), OpenOptions::default()).is_err());
}

#[test]
fn a_crash_frees_locks() {
    let (disk, _) = disk_with(1, 1);
    let _held = disk.lock_exclusive(Path::new("lock")).unwrap();
    disk.crash().lock_exclusive(Path::new("lock")).unwrap();
}

#[test]
fn a_device_that_writes_blocks_whole_tears_none() {
    let mut outcomes = BTreeSet::new();
    for seed in 0..200 {
        let (disk, file) = disk_with(seed, 16);
        disk.set_atomic_write_bytes(8 * SECTOR);
        file.write_at(&[2; 8 * SECTOR], 0).unwrap();
        file.write_at(&[2; 8 * SECTOR], 8 * SECTOR_BYTES).unwrap();
        let found = sectors(&*open(&disk.crash(), "f"));
        assert!(found.chunks(8).all(|block| block.iter().all(|b| *b == block[0])));
        outcomes.insert((found[0], found[8]));
    }
    assert_eq!(outcomes.len(), 4);
}
