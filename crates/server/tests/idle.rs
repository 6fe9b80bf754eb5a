//! What a server costs before it has anything to do: time to start, memory.

#![allow(clippy::unwrap_used, reason = "test code")]
#![allow(clippy::print_stdout, reason = "tells what was measured")]

use std::path::Path;
use std::time::{Duration, Instant};

use testkit::runner::Target;
use testkit::server::TestServer;

/// Far above what a start takes, so that a busy machine does not fail the test.
const START_MAX: Duration = Duration::from_secs(3);
const RSS_KIB_MAX: u64 = 60 * 1024;

fn start(datadir: &Path) -> (TestServer, Duration) {
    let begin = Instant::now();
    let server = TestServer::start_on(Path::new(env!("CARGO_BIN_EXE_ratchetd")), datadir, &[]).unwrap();
    (server, begin.elapsed())
}

/// Resident memory of a process.
fn rss_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_server_starts_fast_and_small() {
    let folder = tempfile::tempdir().unwrap();
    let datadir = folder.path().join("data");
    let (mut server, on_empty) = start(&datadir);
    server.shut_down().unwrap();
    let (server, on_existing) = start(&datadir);
    drop(Target { port: server.port, user: "root".to_owned() }.connect(None).unwrap());
    let rss = rss_kib(server.pid());
    println!(
        "start on an empty directory: {on_empty:?}, on an existing one: {on_existing:?}, idle: {rss} KiB"
    );
    assert!(on_empty < START_MAX, "a start on an empty directory took {on_empty:?}");
    assert!(on_existing < START_MAX, "a start on an existing directory took {on_existing:?}");
    assert!(rss < RSS_KIB_MAX, "an idle server has {rss} KiB in memory");
}
