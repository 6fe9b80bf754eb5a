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
