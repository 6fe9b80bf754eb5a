//! Where a run takes place, in words.

use serde::{Deserialize, Serialize};

/// The machine of the client, and of servers that are local.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Cores that may be used.
    pub cores: usize,
    /// Memory, MiB.
    pub memory_mib: u64,
    /// The kernel's release.
    pub kernel: String,
}

impl Machine {
    /// The one this runs on.
    pub fn this() -> Machine {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let (processors, memory) = (read("/proc/cpuinfo"), read("/proc/meminfo"));
        let behind = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.and_then(|l| l.split_once(':')).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let kib: u64 =
            behind(&memory, "MemTotal").split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0);
        Machine {
            processor: behind(&processors, "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mib: kib / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }

    /// One line for a report.
    pub fn in_words(&self) -> String {
        let Machine { processor, cores, memory_mib, kernel } = self;
        format!("{cores} cores of {processor}, {} GiB of memory, Linux {kernel}", (memory_mib + 512) / 1024)
    }
}

/// Today, UTC, as YYYY-MM-DD.
pub fn today() -> String {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_a_core_and_memory() {
        let machine = Machine::this();
        assert!(machine.cores > 0 && machine.memory_mib > 0 && !machine.kernel.is_empty());
    }
}
