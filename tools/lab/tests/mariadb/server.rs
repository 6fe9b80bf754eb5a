//! MariaDB servers of a test. `mariadbd` is what `scripts/setup` installs.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command};

use lab::config::TargetConfig;

/// A server that ends with the test.
pub(crate) struct Mariadb {
    process: Child,
    pub(crate) port: u16,
}

impl Mariadb {
    /// Starts one on a new data directory `folder`.
    pub(crate) fn start(folder: &Path, options: &[&str]) -> Mariadb {
        std::fs::create_dir(folder).unwrap();
        let of = |name: &str| folder.join(name).display().to_string();
        let log = File::create(folder.join("log")).unwrap();
        let mut installs = Command::new("mariadb-install-db");
        installs.args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"]);
        installs.args([format!("--datadir={}", of("data")), format!("--user={}", user())]);
        installs.stdout(log.try_clone().unwrap()).stderr(log.try_clone().unwrap());
        let installed = installs.status().expect("mariadb-install-db (scripts/setup installs it)");
        assert!(installed.success(), "{}", std::fs::read_to_string(folder.join("log")).unwrap());
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin";
        let mut starts = Command::new("mariadbd");
        starts.env("PATH", path).args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve"]);
        starts.args([format!("--datadir={}", of("data")), format!("--socket={}", of("socket"))]);
        starts.args([format!("--pid-file={}", of("pid")), format!("--port={port}")]);
        starts.arg(format!("--user={}", user())).args(options);
        let process = starts.stdout(log.try_clone().unwrap()).stderr(log).spawn();
        let server = Mariadb { process: process.expect("mariadbd (scripts/setup installs it)"), port };
        let ready = (0..1200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        assert!(ready, "{}", std::fs::read_to_string(folder.join("log")).unwrap());
        server
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// As a target.
    pub(crate) fn target(&self, name: &str) -> TargetConfig {
        let url = format!("mysql://root@127.0.0.1:{}", self.port);
        TargetConfig { name: name.into(), url, start: None, stop: None, replays: None }
    }
}

impl Drop for Mariadb {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// The account that this test runs under: a server run by root wants to be told so.
fn user() -> String {
    let id = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(id.stdout).unwrap().trim().to_owned()
}
