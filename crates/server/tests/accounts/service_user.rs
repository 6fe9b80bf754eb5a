//! `--user`: a server that root starts becomes that user; nobody else becomes another.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;

use mysql::prelude::Queryable;
use testkit::runner::Target;
use testkit::server::TestServer;

/// The ids of `field`, Uid, Gid or Groups, of every thread of a process.
fn ids(pid: u32, field: &str) -> Vec<Vec<u32>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let status = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("status")).unwrap();
    let of_thread = |status: String| {
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap().to_owned();
        line.trim_start_matches(':').split_whitespace().map(|id| id.parse().unwrap()).collect()
    };
    threads.map(|thread| of_thread(status(thread.unwrap()))).collect()
}

#[test]
fn root_becomes_the_user_and_others_are_refused() {
    let binary = Path::new(env!("CARGO_BIN_EXE_ratchetd"));
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let refused = TestServer::refuse(binary, &datadir, &["--user=no-such-user"]).unwrap();
    assert!(refused.contains("there is no user 'no-such-user'"), "{refused}");
    let own = fs::metadata(folder.path()).unwrap().uid();
    if own != 0 {
        let refused = TestServer::refuse(binary, &datadir, &["--user=root"]).unwrap();
        assert!(refused.contains("only root can start the server as 'root'"), "{refused}");
        return;
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let nobody = passwd.lines().find(|line| line.starts_with("nobody:")).unwrap();
    let id = |field: usize| nobody.split(':').nth(field).unwrap().parse::<u32>().unwrap();
    chown(folder.path(), Some(id(2)), Some(id(3))).unwrap();
    let server = TestServer::start_on(binary, &datadir, &["--user=nobody"]).unwrap();
    let mut conn = Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap();
    conn.query_drop("CREATE DATABASE d").unwrap();
    for (field, id) in [("Uid", id(2)), ("Gid", id(3))] {
        let threads = ids(server.pid(), field);
        assert!(threads.len() > 1 && threads.iter().flatten().all(|found| *found == id), "{threads:?}");
    }
    assert!(ids(server.pid(), "Groups").iter().flatten().all(|group| *group != 0));
    let files = fs::read_dir(&datadir).unwrap().map(|file| file.unwrap().metadata().unwrap().uid());
    assert!(files.into_iter().all(|owner| owner == id(2)));
}
