//! A data file that cannot grow, and a disk that is full: statements that need room fail, everything else
//! continues.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use mysql::Conn;
use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::{TestServer, binary_under_test};

const BINARY: &str = env!("CARGO_BIN_EXE_ratchetd");
/// Blocks of 1 KiB that any file of the server may have. The redo log's files are smaller.
const FILE_BLOCKS: usize = 24 << 10;

/// A server whose files are limited.
fn start(folder: &Path) -> TestServer {
    let script = folder.join("limited-ratchetd");
    let binary = binary_under_test(Path::new(BINARY));
    let text = format!("#!/bin/bash\nulimit -f {FILE_BLOCKS}\nexec {} \"$@\"\n", binary.display());
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    TestServer::start_on(&script, &folder.join("data"), &["--innodb-redo-log-capacity=16M"]).unwrap()
}

fn count(conn: &mut Conn, table: &str) -> i32 {
    conn.query_first(format!("SELECT COUNT(*) FROM {table}")).unwrap().unwrap()
}

/// Inserts until it is refused; returns how many rows were inserted, and the refusal.
fn fill(conn: &mut Conn, table: &str, value: &str) -> (i32, String) {
    let insert = format!("INSERT INTO {table} (body) VALUES ({value})");
    let error = |conn: &mut Conn| conn.query_drop(&insert).err();
    let mut inserted = 0;
    loop {
        match error(conn) {
            None => inserted += 1,
            Some(error) => return (inserted, error.to_string()),
        }
    }
}

#[test]
fn a_full_data_file_fails_the_statement_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let target = Target { port: server.port, user: "root".to_owned() };
    let mut conn = target.connect(None).unwrap();
    let table = "id INT PRIMARY KEY AUTO_INCREMENT, body LONGBLOB NOT NULL";
    conn.query_drop(format!("CREATE DATABASE d; USE d; CREATE TABLE t ({table}); CREATE TABLE s ({table})"))
        .unwrap();
    conn.query_drop("INSERT INTO s (body) VALUES ('small'), ('rows')").unwrap();

    // Values in pages of their own, then rows in leaves.
    let (values, refusal) = fill(&mut conn, "t", "REPEAT('v', 300000)");
    assert!(refusal.contains("ERROR 1114 (HY000)"), "{refusal}");
    assert!(values > 20, "{values}");
    let (rows, refusal) = fill(&mut conn, "t", "REPEAT('r', 3000)");
    assert!(refusal.contains("ERROR 1114 (HY000)"), "{refusal}");
    assert_eq!(count(&mut conn, "t"), values + rows);

    // A statement of many rows leaves none, and its transaction continues.
    conn.query_drop("BEGIN; UPDATE s SET body = 'changed' WHERE id = 1").unwrap();
    let many = "INSERT INTO t (body) SELECT REPEAT('m', 3000) FROM t";
    assert!(conn.query_drop(many).unwrap_err().to_string().contains("ERROR 1114 (HY000)"));
    assert_eq!(count(&mut conn, "t"), values + rows);
    conn.query_drop("COMMIT").unwrap();
    let changed: Vec<String> = conn.query("SELECT body FROM s ORDER BY id").unwrap();
    assert_eq!(changed, ["changed", "rows"]);

    // Rows that go make room, without a restart.
    conn.query_drop("DELETE FROM t WHERE id % 2 = 0").unwrap();
    let kept = count(&mut conn, "t");
    let insert = "INSERT INTO t (body) VALUES (REPEAT('n', 300000))";
    let made_room = (0..100_000).any(|_| conn.query_drop(insert).is_ok());
    assert!(made_room, "purge frees what was deleted");
    assert_eq!(count(&mut conn, "t"), kept + 1);

    // What was answered is there after a crash.
    server.kill().unwrap();
    let server = TestServer::start_on(Path::new(BINARY), &folder.path().join("data"), &[]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(Some("d")).unwrap();
    assert_eq!(count(&mut conn, "t"), kept + 1);
    let checked: Vec<(String, String, String, String)> = conn.query("CHECK TABLE t, s").unwrap();
    assert!(checked.iter().all(|line| line.3 == "OK"), "{checked:?}");
}

/// A server on a file system of its own, in memory, that is seen through its process; none where this user
/// may not mount one.
fn start_on_small_disk(folder: &Path) -> Option<TestServer> {
    let (disk, script) = (folder.join("disk"), folder.join("limited-ratchetd"));
    fs::create_dir(&disk).unwrap();
    let mount = format!("mount -t tmpfs -o size=64m tmpfs {}", disk.display());
    let unshare = "unshare --map-root-user --mount bash -c";
    let may_mount = Command::new("bash").args(["-c", &format!("{unshare} '{mount}'")]).output().unwrap();
    if !may_mount.status.success() {
        eprintln!("no file system of its own: {}", String::from_utf8_lossy(&may_mount.stderr));
        return None;
    }
    let binary = binary_under_test(Path::new(BINARY));
    let text = format!(
        "#!/bin/bash\nexec {unshare} '{mount} && exec {} \"$@\"' ratchetd \"$@\"\n",
        binary.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let options = ["--innodb-redo-log-capacity=16M"];
    Some(TestServer::start_on(&script, &disk.join("data"), &options).unwrap())
}

/// Takes all space of the disk that holds `file`, except for `left` bytes.
fn fill_disk(file: &Path, left: u64) {
    let mut ballast = fs::File::create(file).unwrap();
    while ballast.write_all(&[1; 4096]).is_ok() {}
    let len = ballast.metadata().unwrap().len();
    ballast.set_len(len.saturating_sub(left)).unwrap();
}

#[test]
fn on_a_full_disk_changes_fail_until_there_is_room_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut server) = start_on_small_disk(folder.path()) else { return };
    let target = Target { port: server.port, user: "root".to_owned() };
    let (mut conn, mut open) = (target.connect(None).unwrap(), target.connect(None).unwrap());
    let table = "id INT PRIMARY KEY AUTO_INCREMENT, body VARCHAR(8000) NOT NULL";
    conn.query_drop(format!("CREATE DATABASE d; USE d; CREATE TABLE t ({table}); CREATE TABLE s ({table})"))
        .unwrap();
    conn.query_drop("INSERT INTO s (body) VALUES (REPEAT('s', 3000)), (REPEAT('s', 3000))").unwrap();
    // As the server sees it.
    let root = PathBuf::from(format!("/proc/{}/root", server.pid()));
    let ballast = root.join(folder.path().join("disk/ballast").strip_prefix("/").unwrap());
    let mut rows = 0;
    for left in [0, 1 << 20, 6 << 20] {
        open.query_drop("USE d; BEGIN; UPDATE s SET body = 'short' WHERE id = 1").unwrap();
        open.query_drop("INSERT INTO s (body) SELECT REPEAT('o', 3000) FROM s").unwrap();
        fill_disk(&ballast, left);
        let (inserted, refusal) = fill(&mut conn, "t", "REPEAT('r', 3000)");
        assert!(refusal.contains("ERROR 1114 (HY000)"), "{refusal}");
        rows += inserted;
        assert_eq!(count(&mut conn, "t"), rows);
        let refused = conn.query_drop("CREATE TABLE u (id INT PRIMARY KEY, body TEXT)").err();
        assert!(refused.is_none_or(|error| error.to_string().contains("ERROR 1114 (HY000)")));
        open.query_drop("ROLLBACK").unwrap();
        fs::remove_file(&ballast).unwrap();
        conn.query_drop("INSERT INTO t (body) VALUES (REPEAT('n', 3000)); DROP TABLE IF EXISTS u").unwrap();
        rows += 1;
    }
    let bodies: Vec<String> = conn.query("SELECT body FROM s ORDER BY id").unwrap();
    assert_eq!(bodies, ["s".repeat(3000), "s".repeat(3000)]);
    assert_eq!(count(&mut conn, "t"), rows);
    let checked: Vec<(String, String, String, String)> = conn.query("CHECK TABLE t, s").unwrap();
    assert!(checked.iter().all(|line| line.3 == "OK"), "{checked:?}");
    server.shut_down().unwrap();
}
