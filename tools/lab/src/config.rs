//! What to measure: one TOML file, or two URLs.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::workload::{Kind, Workload, catalogue, is_meant};

/// A whole run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How rows are measured.
    #[serde(default)]
    pub run: Run,
    /// Servers. The first is the base that the others are compared to.
    #[serde(rename = "target", default)]
    pub targets: Vec<TargetConfig>,
    /// Settings at which writes are measured; none: as the servers are.
    #[serde(rename = "setting", default)]
    pub settings: Vec<Setting>,
}

/// How rows are measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Rounds; in each, every target is measured once, in random order.
    pub repetitions: usize,
    /// Rounds after them for rows that look different, which alone decide about those.
    pub confirmations: usize,
    /// Measured seconds a cell.
    pub seconds: u64,
    /// Seconds before them that do not count.
    pub warmup_seconds: u64,
    /// Seconds for the whole run: rows share them, and have fewer rounds where they do not
    /// suffice. None: it takes what it takes.
    pub budget_seconds: Option<u64>,
    /// Numbers of client threads.
    pub threads: Vec<usize>,
    /// Tables of the data set.
    pub tables: usize,
    /// Rows in each.
    pub table_rows: usize,
    /// Database the lab may drop and create.
    pub database: String,
    /// Patterns of workloads' names; `*` stands for any text.
    pub workloads: Vec<String>,
    /// Journal and report go there.
    pub out: PathBuf,
    /// Of the order of targets, and of the data.
    pub seed: u64,
    /// Client and servers in the round-robin real-time class, where that is permitted.
    pub realtime: bool,
    /// With one client thread, client and server on the machine's last core.
    pub pin_single: bool,
    /// Stops the processes of the targets that are not being measured.
    pub pause_others: bool,
}

/// What [`Config::make_quick`] allows; a round or two may end later.
const QUICK_SECONDS: u64 = 160;

impl Default for Run {
    fn default() -> Self {
        Run {
            repetitions: 5,
            confirmations: 10,
            seconds: 5,
            warmup_seconds: 1,
            budget_seconds: None,
            threads: vec![1, 4],
            tables: 2,
            table_rows: 200_000,
            database: "lab".to_owned(),
            workloads: vec!["*".to_owned()],
            out: PathBuf::from("lab-out"),
            seed: 1,
            realtime: false,
            pin_single: false,
            pause_others: true,
        }
    }
}

/// A server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetConfig {
    /// Its name in journal and report.
    pub name: String,
    /// `mysql://user:password@host:port?socket=path`; the socket, if named, is used instead of TCP.
    pub url: String,
    /// Shell command that starts it and returns when it answers.
    pub start: Option<String>,
    /// Shell command that stops it; for one that the lab started.
    pub stop: Option<String>,
    /// It answers from memory what this other target has answered (the physical floor): nothing is loaded,
    /// set or compared.
    pub replays: Option<String>,
}

/// Server variables at which writes are measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Its name in journal and report.
    pub name: String,
    /// `SET GLOBAL` name and value.
    pub set: std::collections::BTreeMap<String, String>,
}

impl Config {
    /// Reads and looks through a file.
    pub fn read(path: &Path) -> Result<Config> {
        let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
        let config: Config = toml::from_str(&text)
            .map_err(|e| Error::Config(format!("{}: {}", path.display(), e.to_string().trim_end())))?;
        config.look_through()?;
        Ok(config)
    }

    /// Two or more URLs with defaults.
    pub fn of_urls(urls: &[String]) -> Result<Config> {
        let target = |(i, url): (usize, &String)| TargetConfig {
            name: char::from(b'A' + (i % 26) as u8).to_string(),
            url: url.clone(),
            start: None,
            stop: None,
            replays: None,
        };
        let targets = urls.iter().enumerate().map(target).collect();
        let config = Config { run: Run::default(), targets, settings: Vec::new() };
        config.look_through()?;
        Ok(config)
    }

    /// Refuses what cannot be meant.
    pub fn look_through(&self) -> Result<()> {
        let refuse = |text: String| Err(Error::Config(text));
        if self.targets.len() < 2 {
            let how =
                "mysql://user:password@host:port of each, or a configuration file with [[target]] sections";
            return refuse(format!("two targets are needed at least: {how}"));
        }
        if self.targets[0].replays.is_some() {
            return refuse(format!("target {:?} replays: it cannot be the base", self.targets[0].name));
        }
        for (i, target) in self.targets.iter().enumerate() {
            if self.targets[..i].iter().any(|other| other.name == target.name) {
                return refuse(format!("two targets have the name {:?}", target.name));
            }
            if let Some(behind) = &target.replays
                && !self.targets.iter().any(|other| other.name == *behind && other.replays.is_none())
            {
                return refuse(format!("target {:?} replays {behind:?}, which is no target", target.name));
            }
        }
        let run = &self.run;
        for (name, value) in
            [("repetitions", run.repetitions), ("tables", run.tables), ("table_rows", run.table_rows)]
        {
            if value == 0 {
                return refuse(format!("{name} is 0"));
            }
        }
        if run.repetitions < 3 {
            return refuse("fewer than 3 repetitions tell nothing of the noise".to_owned());
        }
        if run.seconds == 0 || run.threads.is_empty() || run.threads.contains(&0) {
            return refuse("seconds and threads must be 1 or more".to_owned());
        }
        if run.database.is_empty() || !run.database.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return refuse(format!("database {:?} is not a plain name", run.database));
        }
        for pattern in &run.workloads {
            if !catalogue().iter().any(|w| is_meant(&w.name, pattern)) {
                let names: Vec<String> = catalogue().into_iter().map(|w| w.name).collect();
                return refuse(format!("no workload is called {pattern:?}; there are: {}", names.join(" ")));
            }
        }
        Ok(())
    }

    /// The workloads that are meant, in the order in which they run.
    pub fn workloads(&self) -> Vec<Workload> {
        catalogue()
            .into_iter()
            .filter(|w| self.run.workloads.iter().any(|pattern| is_meant(&w.name, pattern)))
            .collect()
    }

    /// The names of the settings at which a workload is measured; the empty name is "as they are".
    pub fn setting_names(&self, kind: Kind) -> Vec<String> {
        if kind == Kind::Read || self.settings.is_empty() {
            return vec![String::new()];
        }
        self.settings.iter().map(|s| s.name.clone()).collect()
    }

    /// A run of less than three minutes for two targets: few workloads that stand for the others, short
    /// cells.
    pub fn make_quick(&mut self) {
        let names = [
            "point-query.pre",
            "random-points.pre_range=100",
            "range-notcovered-pk.pre",
            "update-index",
            "scan",
            "insert",
        ];
        self.run.workloads = names.map(str::to_owned).to_vec();
        self.run.threads = vec![1];
        // Two seconds: sysbench tells of the first one while its connections are there.
        (self.run.repetitions, self.run.seconds, self.run.warmup_seconds) = (5, 2, 0);
        self.run.budget_seconds = Some(QUICK_SECONDS);
        (self.run.tables, self.run.table_rows) = (1, 20_000);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "[[target]]\nname='a'\nurl='mysql://root@127.0.0.1:1'\n[[target]]\nname='b'\nurl='mysql://root@127.0.0.1:2'\n";

    fn read(text: &str) -> Result<Config> {
        let file = tempfile::NamedTempFile::new().map_err(Error::file(Path::new("temporary")))?;
        std::fs::write(file.path(), text).map_err(Error::file(file.path()))?;
        Config::read(file.path())
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_name() {
        let config = read(&format!("[run]\nworkloads=['update-*']\n{TWO}")).unwrap();
        assert_eq!(config.workloads().len(), 7);
        for (text, said) in [
            ("", "two targets"),
            (&format!("[run]\nworkloads=['nothing']\n{TWO}")[..], "nothing"),
            (&format!("[run]\nrepetitions=0\n{TWO}"), "repetitions"),
            (&format!("[run]\nspeed=9\n{TWO}"), "speed"),
            (&format!("[run]\ndatabase='a b'\n{TWO}"), "plain name"),
            (&TWO.replace("'b'", "'a'"), "two targets have the name"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn writes_are_measured_at_each_setting_and_reads_once() {
        let settings = "[[setting]]\nname='flush 1'\nset={a='1'}\n[[setting]]\nname='flush 2'\nset={a='2'}\n";
        let config = read(&format!("{TWO}{settings}")).unwrap();
        assert_eq!(config.setting_names(Kind::Write), ["flush 1", "flush 2"]);
        assert_eq!(config.setting_names(Kind::Read), [""]);
    }
}
