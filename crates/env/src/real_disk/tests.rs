use super::*;

#[test]
fn a_real_folder_passes_the_contract() {
    let dir = tempfile::tempdir().unwrap();
    contract::check(&RealDisk, dir.path());
}

#[test]
fn a_vectored_write_of_more_parts_than_the_kernel_takes_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let file = RealDisk.create(&dir.path().join("f"), OpenOptions::default()).unwrap();
    let parts = vec![&b"xyz"[..]; PARTS_MAX + 5];
    file.write_vectored_at(&parts, 0).unwrap();
    let mut back = vec![0; parts.len() * 3];
    file.read_exact_at(&mut back, 0).unwrap();
    assert_eq!(back, parts.concat());
}

#[test]
fn an_error_names_operation_path_and_reason() {
    let error = RealDisk.open(Path::new("/nonexistent/f"), OpenOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "cannot open /nonexistent/f: No such file or directory (os error 2)");
}

#[test]
fn direct_access_reads_what_was_written_or_falls_back() {
    #[repr(align(4096))]
    struct Aligned([u8; 8192]);
    let dir = tempfile::tempdir().unwrap();
    // The last folder is in memory, where the page cache cannot always be bypassed.
    for path in [dir.path().join("f"), Path::new("/dev/shm").join(format!("env-test-{}", std::process::id()))]
    {
        let file = RealDisk.create(&path, OpenOptions { direct: true }).unwrap();
        let (written, mut back) = (Aligned([7; 8192]), Aligned([0; 8192]));
        file.write_at(&written.0, 4096).unwrap();
        file.read_exact_at(&mut back.0, 4096).unwrap();
        assert_eq!(back.0, written.0);
        if file.atomic_write_bytes() >= 4096 {
            file.write_atomic_at(&written.0[..4096], 0).unwrap();
        }
        let again = RealDisk.open(&path, OpenOptions { direct: true }).unwrap();
        assert_eq!(again.is_direct(), file.is_direct());
        RealDisk.remove(&path).unwrap();
    }
}
