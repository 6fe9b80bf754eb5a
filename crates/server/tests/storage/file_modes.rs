//! Modes of all that a server makes in the file system, whatever its umask is.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mysql::prelude::Queryable;
use testkit::server::binary_under_test;

/// A server that was started under `umask` on `folder`.
struct Server(Child);

impl Server {
    fn start(folder: &Path, umask: &str, options: &[&str]) -> Self {
        let at = |name: &str| folder.join(name).display().to_string();
        let mut child = Command::new("sh")
            .args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")])
            .arg(binary_under_test(Path::new(env!("CARGO_BIN_EXE_ratchetd"))))
            .arg("--no-defaults")
            .arg(format!("--datadir={}", at("data")))
            .arg(format!("--socket={}", at("sock")))
            .arg(format!("--pid-file={}", at("pid")))
            .arg(format!("--log-error={}", at("log")))
            .args(["--skip-networking", "--ratchet-undo-memory-size=1M"])
            .args(options)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("ready for connections")), "it did not start");
        Server(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o7777
}

/// Asserts the modes of a folder and of all below it; how many files there were.
fn assert_private(folder: &Path) -> usize {
    assert_eq!(mode(folder), 0o750, "{}", folder.display());
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            if path.is_dir() {
                return assert_private(&path);
            }
            let is_key = path.to_string_lossy().ends_with("-key.pem");
            assert_eq!(mode(&path), if is_key { 0o600 } else { 0o640 }, "{}", path.display());
            1
        })
        .sum()
}

#[test]
fn files_have_their_modes_under_every_umask() {
    for umask in ["000", "077"] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), umask, &[]);
        let options =
            mysql::OptsBuilder::new().socket(folder.path().join("sock").to_str()).user(Some("root"));
        let mut conn = mysql::Conn::new(options).unwrap();
        // A transaction that needs more memory for undo than there is: a file takes it.
        for sql in [
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, c VARCHAR(1000))",
            "INSERT INTO d.t (c) VALUES (REPEAT('x', 900))",
        ] {
            conn.query_drop(sql).unwrap();
        }
        for _ in 0..12 {
            conn.query_drop("INSERT INTO d.t (c) SELECT c FROM d.t").unwrap();
        }
        conn.query_drop("BEGIN").unwrap();
        conn.query_drop("UPDATE d.t SET c = REPEAT('y', 900)").unwrap();
        let data = folder.path().join("data");
        let files = assert_private(&data);
        assert!(
            files >= 11,
            "{files} files: FORMAT, the lock, data.pages, page copies, redo, undo, certificates"
        );
        for name in ["pid", "log"] {
            assert_eq!(mode(&folder.path().join(name)), 0o640, "{name}");
        }
        let socket = folder.path().join("sock");
        assert!(socket.symlink_metadata().unwrap().file_type().is_socket());
        assert_eq!(mode(&socket), 0o777);
        drop(server);
        let _server = Server::start(folder.path(), umask, &["--ratchet-socket-mode=0700"]);
        assert_private(&data);
        assert_eq!(mode(&socket), 0o700);
    }
}

#[test]
fn a_log_that_exists_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    std::fs::write(&log, "before\n").unwrap();
    std::fs::set_permissions(&log, std::fs::Permissions::from_mode(0o604)).unwrap();
    let _server = Server::start(folder.path(), "022", &[]);
    assert_eq!(mode(&log), 0o604);
    assert!(std::fs::read_to_string(&log).unwrap().starts_with("before\n"));
}
