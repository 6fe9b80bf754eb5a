//! `scripts/setup` on machines that are pretended: its PATH has nothing but the programs a test puts there.

#![allow(clippy::unwrap_used, reason = "test code")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What every machine has.
const EVERYWHERE: [&str; 12] =
    ["bash", "cat", "chmod", "dirname", "env", "grep", "mkdir", "mktemp", "rm", "sed", "sha256sum", "uname"];

/// What setup searches for besides the toolchain.
const TOOLS: [&str; 8] =
    ["cc", "cmake", "git", "curl", "valgrind", "mariadb", "sysbench", "mariadb-install-db"];

/// A rustup that has every toolchain, and an `rustup-init` that puts it where the real one does.
const RUSTUP: &str =
    "[ \"$1 $2\" = 'toolchain list' ] && sed -n 's/^channel = \"\\(.*\\)\"/\\1/p' rust-toolchain.toml";

struct Machine {
    folder: PathBuf,
}

/// What setup said and how it ended.
struct Outcome {
    is_ok: bool,
    text: String,
}

impl Machine {
    /// A machine with the tools, but without Rust. `name` is the test's own.
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("setup-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("bin")).unwrap();
        let machine = Self { folder };
        for name in EVERYWHERE {
            let found =
                ["/usr/bin", "/bin"].iter().map(|dir| Path::new(dir).join(name)).find(|path| path.exists());
            symlink(found.unwrap_or_else(|| panic!("no {name} here")), machine.bin().join(name)).unwrap();
        }
        for name in TOOLS {
            machine.program(name, "exit 0");
        }
        machine.program("id", "echo 0");
        machine
    }

    fn bin(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// Puts a program there that notes its call in `calls` and then runs `script`.
    fn program(&self, name: &str, script: &str) {
        let path = self.bin().join(name);
        let _ = fs::remove_file(&path);
        let calls = self.folder.join("calls");
        let text = format!("#!/bin/bash\necho \"{name} $*\" >> {}\n{script}\n", calls.display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A curl whose download is the script `payload`.
    fn curl_fetches(&self, payload: &str) {
        let source = self.folder.join("payload");
        fs::write(&source, format!("#!/bin/bash\n{payload}\n")).unwrap();
        let find_output = "while [ \"$1\" != --output ]; do shift; done";
        self.program("curl", &format!("{find_output}; cat {} > \"$2\"", source.display()));
    }

    fn setup(&self) -> Outcome {
        self.setup_for(None)
    }

    /// Runs the script for everything, or for `purpose` alone.
    fn setup_for(&self, purpose: Option<&str>) -> Outcome {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("scripts/setup");
        let out = Command::new("/bin/bash")
            .arg(script)
            .args(purpose)
            .env_clear()
            .env("PATH", self.bin())
            .env("HOME", &self.folder)
            .output()
            .unwrap();
        let text =
            format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        Outcome { is_ok: out.status.success(), text }
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.folder.join("calls")).unwrap_or_default()
    }
}

#[test]
fn a_complete_machine_gets_and_is_told_nothing() {
    let machine = Machine::new("complete");
    machine.program("rustup", RUSTUP);
    machine.program("cargo", "exit 0");
    let outcome = machine.setup();
    assert!(outcome.is_ok, "{}", outcome.text);
    assert_eq!(outcome.text, "");
    assert_eq!(machine.calls(), "id -u\nrustup toolchain list\n");
}

#[test]
fn what_only_tests_need_is_not_installed_to_build() {
    for (purpose, installs) in [(None, true), (Some("build"), false)] {
        let machine = Machine::new("purpose");
        fs::remove_file(machine.bin().join("sysbench")).unwrap();
        machine.program("rustup", RUSTUP);
        machine.program("cargo", "exit 0");
        machine.program("apt-get", "exit 0");
        let outcome = machine.setup_for(purpose);
        assert!(outcome.is_ok, "{}", outcome.text);
        let said = outcome.text.contains("setup: installing sysbench\n");
        assert_eq!(said, installs, "{purpose:?}: {}", outcome.text);
    }
}

#[test]
fn rustup_comes_from_apt_where_apt_has_it() {
    let machine = Machine::new("apt");
    machine.program("apt-cache", "echo '  Candidate: 1.27.1-3'");
    let bin = machine.bin().display().to_string();
    let put = format!("echo '{}' > {bin}/rustup; echo 'exit 0' > {bin}/cargo", RUSTUP.replace('\'', "'\\''"));
    machine.program(
        "apt-get",
        &format!("[ \"$1\" = install ] && {{ {put}; chmod +x {bin}/rustup {bin}/cargo; }}; exit 0"),
    );
    let outcome = machine.setup();
    assert!(outcome.is_ok, "{}", outcome.text);
    assert!(outcome.text.contains("setup: installing rustup\n"), "{}", outcome.text);
    assert!(!machine.calls().contains("curl"), "{}", machine.calls());
}

#[test]
fn rustup_comes_from_its_installer_where_apt_has_none() {
    let machine = Machine::new("installer");
    machine.program("apt-cache", "echo '  Candidate: (none)'");
    // The checksum of the real installer cannot be had by a pretended one.
    machine.program("sha256sum", "read -r sum; [ \"$*\" = '--check --status' ]");
    let home = machine.folder.join(".cargo/bin").display().to_string();
    let put = format!("mkdir -p {home}; echo '{}' > {home}/rustup", RUSTUP.replace('\'', "'\\''"));
    machine.curl_fetches(&format!("{put}; echo 'exit 0' > {home}/cargo; chmod +x {home}/*"));
    let outcome = machine.setup();
    assert!(outcome.is_ok, "{}", outcome.text);
    assert!(
        outcome.text.contains("fetching https://static.rust-lang.org/rustup/archive/"),
        "{}",
        outcome.text
    );
    assert!(machine.calls().contains("--proto =https"), "{}", machine.calls());
}

#[test]
fn an_installer_with_another_checksum_is_not_run() {
    let machine = Machine::new("checksum");
    let trace = machine.folder.join("was-run");
    machine.curl_fetches(&format!("echo run > {}", trace.display()));
    let outcome = machine.setup();
    assert!(!outcome.is_ok);
    assert!(outcome.text.contains("not run\nsetup: still missing:\n  Rust "), "{}", outcome.text);
    assert!(!trace.exists());
}

#[test]
fn an_unreachable_host_is_named_with_what_is_missing() {
    let machine = Machine::new("unreachable");
    machine.program("curl", "exit 6");
    let outcome = machine.setup();
    assert!(!outcome.is_ok);
    let told = "setup: cannot reach https://static.rust-lang.org\nsetup: still missing:\n  Rust ";
    assert!(outcome.text.contains(told), "{}", outcome.text);
}

#[test]
fn packages_that_cannot_be_installed_are_listed() {
    let machine = Machine::new("packages");
    fs::remove_file(machine.bin().join("valgrind")).unwrap();
    fs::remove_file(machine.bin().join("sysbench")).unwrap();
    machine.program("apt-get", "exit 100");
    let outcome = machine.setup();
    assert!(!outcome.is_ok);
    let told = "setup: apt-get update failed\nsetup: still missing:\n  valgrind\n  sysbench\n";
    assert!(outcome.text.contains(told), "{}", outcome.text);
}
