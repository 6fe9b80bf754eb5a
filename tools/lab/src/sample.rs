//! What a process has used so far, by /proc: for any server, without its help.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Totals of a process at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// CPU seconds in user mode; of threads that have ended, too.
    pub user_seconds: f64,
    /// CPU seconds in the kernel.
    pub system_seconds: f64,
    /// Times a thread waited by its own doing.
    pub voluntary_switches: u64,
    /// Times a thread was made to wait.
    pub involuntary_switches: u64,
    /// Bytes it caused to be written to storage; 0 where that is not permitted to be read.
    pub written_bytes: u64,
    /// Largest resident set so far, bytes.
    pub peak_rss_bytes: u64,
}

/// Follows a process. Context switches are counted per thread while it lives: look often enough, and before
/// the threads of the clients' connections end.
#[derive(Debug)]
pub struct Follower {
    pid: u32,
    /// Per thread: the last counts seen.
    threads: HashMap<u32, (u64, u64)>,
}

impl Follower {
    /// For the process with this number.
    pub fn new(pid: u32) -> Self {
        Follower { pid, threads: HashMap::new() }
    }

    /// Looks now. None: the process is gone.
    pub fn look(&mut self) -> Option<Sample> {
        let root = format!("/proc/{}", self.pid);
        let stat = std::fs::read_to_string(format!("{root}/stat")).ok()?;
        let ticks: Vec<f64> =
            stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2).flat_map(str::parse).collect();
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        for entry in std::fs::read_dir(format!("{root}/task")).ok()?.flatten() {
            let Some(thread) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let Ok(status) = std::fs::read_to_string(entry.path().join("status")) else { continue };
            let counts =
                (field(&status, "voluntary_ctxt_switches:"), field(&status, "nonvoluntary_ctxt_switches:"));
            self.threads.insert(thread, counts);
        }
        let status = std::fs::read_to_string(format!("{root}/status")).ok()?;
        let io = std::fs::read_to_string(format!("{root}/io")).unwrap_or_default();
        Some(Sample {
            user_seconds: ticks.first()? / per_second,
            system_seconds: ticks.get(1)? / per_second,
            voluntary_switches: self.threads.values().map(|t| t.0).sum(),
            involuntary_switches: self.threads.values().map(|t| t.1).sum(),
            written_bytes: field(&io, "write_bytes:"),
            peak_rss_bytes: field(&status, "VmHWM:") * 1024,
        })
    }
}

/// Watches the files that a process holds open for the temporary ones among them: those without a name, and
/// InnoDB's own.
#[derive(Debug)]
pub struct TemporaryFiles {
    most: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    watcher: JoinHandle<()>,
}

impl TemporaryFiles {
    /// From now on, fifty times a second.
    pub fn watch(pid: u32) -> TemporaryFiles {
        let (most, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (most_seen, is_over) = (Arc::clone(&most), Arc::clone(&over));
        let before = temporary_bytes(pid);
        let watcher = std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                most_seen.fetch_max(temporary_bytes(pid).saturating_sub(before), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        TemporaryFiles { most, over, watcher }
    }

    /// Ends; the most bytes that there were at once, beyond those of the beginning.
    pub fn most(self) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        // It does nothing that could panic.
        let _ = self.watcher.join();
        self.most.load(Ordering::Relaxed)
    }
}

fn temporary_bytes(pid: u32) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return 0 };
    let of_entry = |entry: std::fs::DirEntry| {
        let link = std::fs::read_link(entry.path()).unwrap_or_default();
        let name = link.to_string_lossy();
        let is_temporary =
            name.ends_with("(deleted)") || name.contains("#innodb_temp") || name.contains("ibtmp");
        // Behind the link: a file without a name has a size all the same.
        if is_temporary { std::fs::metadata(entry.path()).map_or(0, |m| m.blocks() * 512) } else { 0 }
    };
    entries.flatten().map(of_entry).sum()
}

/// The number after the line that begins with `name`; 0 if there is none.
fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Core-seconds that the whole machine has worked so far: idle, waiting and stolen time left out.
pub fn machine_busy_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let numbers: Vec<f64> =
        stat.lines().next().unwrap_or_default().split_whitespace().skip(1).flat_map(str::parse).collect();
    let busy: f64 = [0, 1, 2, 5, 6].iter().filter_map(|&i| numbers.get(i)).sum();
    busy / rustix::param::clock_ticks_per_second() as f64
}

/// Bytes in a directory's files, as allocated.
pub fn directory_bytes(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    let of_entry = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => directory_bytes(&entry.path()),
        Ok(metadata) => metadata.blocks() * 512,
        Err(_) => 0,
    };
    entries.flatten().map(of_entry).sum()
}

#[cfg(test)]
mod tests {
    use rustix::time::{ClockId, clock_gettime};

    use super::*;

    #[test]
    fn own_work_is_seen() {
        let mut follower = Follower::new(std::process::id());
        let before = follower.look().unwrap();
        // Of its own processor time: a busy machine may leave it little of a tenth of a second.
        let worked = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
        let (began, mut x) = (worked(), 0u64);
        while worked().saturating_sub(began) < Duration::from_millis(100) {
            x = std::hint::black_box(x.wrapping_mul(31) + 1);
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
        let after = follower.look().unwrap();
        let used = after.user_seconds + after.system_seconds - before.user_seconds - before.system_seconds;
        assert!((0.02..1.0).contains(&used), "{used}");
        assert!(after.voluntary_switches > before.voluntary_switches);
        assert!(after.peak_rss_bytes > 1 << 20);
    }

    #[test]
    fn files_without_a_name_are_counted() {
        use std::io::Write;
        let watched = TemporaryFiles::watch(std::process::id());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; 1 << 20]).unwrap();
        file.sync_all().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert!(watched.most() >= 1 << 20);
    }

    #[test]
    fn a_process_that_is_gone_has_no_sample() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(Follower::new(child.id()).look(), None);
    }
}
