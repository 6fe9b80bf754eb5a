//! Server processes of this machine: found by their port, pinned, put into the real-time class, stopped for a
//! while.

use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::error::{Error, Result};

/// The process that listens on a TCP port of this machine, if there is one that may be seen.
pub fn listener_of(port: u16) -> Option<u32> {
    let sockets: Vec<u64> =
        ["/proc/net/tcp", "/proc/net/tcp6"].iter().flat_map(|file| listening(file, port)).collect();
    let is_listener = |fd: std::fs::DirEntry| {
        let link = std::fs::read_link(fd.path()).unwrap_or_default();
        let number = link.to_str().and_then(|l| l.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
        number.is_some_and(|inode| sockets.contains(&inode))
    };
    for process in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(fds) = std::fs::read_dir(process.path().join("fd")) else { continue };
        if fds.flatten().any(is_listener) {
            return Some(pid);
        }
    }
    None
}

/// Inodes of the sockets that listen on `port`.
fn listening(file: &str, port: u16) -> Vec<u64> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let of_line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let listens = *fields.get(3)? == "0A";
        let at = u16::from_str_radix(fields.get(1)?.rsplit_once(':')?.1, 16).ok()?;
        (listens && at == port).then(|| fields.get(9)?.parse().ok()).flatten()
    };
    text.lines().skip(1).filter_map(of_line).collect()
}

/// Stops a process where it is, or lets it continue.
pub fn set_paused(pid: u32, paused: bool) {
    let signal = if paused { Signal::STOP } else { Signal::CONT };
    if let Some(pid) = Pid::from_raw(pid as i32) {
        // One that is gone shows when it is measured.
        let _ = kill_process(pid, signal);
    }
}

/// Lets all threads of a process run on these cores only.
pub fn pin(pid: u32, cores: &str) -> Result<()> {
    run_quietly("taskset", &["-a", "-c", "-p", cores, &pid.to_string()])
}

/// Puts all threads of a process into the round-robin real-time class.
pub fn make_realtime(pid: u32) -> Result<()> {
    run_quietly("chrt", &["-a", "-r", "-p", "1", &pid.to_string()])
}

fn run_quietly(program: &str, args: &[&str]) -> Result<()> {
    let failed = |what: String| Error::Program { program: program.to_owned(), what };
    let output = Command::new(program).args(args).output().map_err(|e| failed(e.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_found_by_its_port() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        assert_eq!(listener_of(port), Some(std::process::id()));
        drop(socket);
        assert_eq!(listener_of(port), None);
    }

    /// A process that ends with the test, however that ends.
    struct Sleeper(std::process::Child);

    impl Sleeper {
        fn start() -> Sleeper {
            let mut command = Command::new("sleep");
            command.arg("60").stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            Sleeper(command.spawn().unwrap())
        }

        fn status(&self, name: &str) -> String {
            let text = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
            text.lines().find_map(|l| l.strip_prefix(name).map(|v| v.trim().to_owned())).unwrap()
        }

        /// A signal takes effect when the process comes to run.
        fn becomes_stopped(&self, stopped: bool) -> bool {
            (0..1000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                self.status("State:").starts_with('T') == stopped
            })
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn a_process_is_pinned_and_paused() {
        let sleeper = Sleeper::start();
        pin(sleeper.0.id(), "0").unwrap();
        assert_eq!(sleeper.status("Cpus_allowed_list:"), "0");
        set_paused(sleeper.0.id(), true);
        assert!(sleeper.becomes_stopped(true));
        set_paused(sleeper.0.id(), false);
        assert!(sleeper.becomes_stopped(false));
    }
}
