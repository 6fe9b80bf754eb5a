//! Which build made a workload slower: a search by repeated paired comparison.
//!
//! The first build of the list is good, the last is bad: that is measured first ([`LOOKS`]). Builds in
//! between are measured side by side with the first, round by round, until it is clear whether they are
//! like the first or lose as the last does ([`GOOD_MIN`]): a round counts for one side, and the side that is
//! [`LEAD`] rounds ahead has won (a sequential probability ratio test of the sign: it asks nothing of the
//! noise but that more rounds than not tell the truth). Every round and decision is in a file, from which a
//! search continues.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cell::{Bench, stop_flag};
use crate::config::{Run, TargetConfig};
use crate::error::{Error, Result};
use crate::json_lines::JsonLines;
use crate::process;
use crate::stats::median;
use crate::tables;
use crate::target::Target;
use crate::workload::{Workload, catalogue};

/// Rounds that one side must be ahead. Where four of five rounds tell the truth, one decision in 4,000 is
/// wrong.
pub const LEAD: i32 = 6;
/// The last build is bad if, after `.0` rounds, `.1` of them were slower: by
/// chance one search in 200 passes any of the three.
pub const LOOKS: [(usize, usize); 3] = [(12, 11), (24, 20), (48, 35)];
/// A build is bad if its queries a second are nearer to the last build's than to the first's, or less than
/// this part of the first's: what a large loss comes to may change with the machine while builds are
/// measured (a sync takes longer beside other writers), what no loss comes to does not.
pub const GOOD_MIN: f64 = 0.75;
/// A build that is undecided after this number of rounds is too noisy.
pub const ROUNDS_MAX: usize = 60;

/// A search.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BisectConfig {
    /// How rounds are measured; its lists of threads and workloads have one element.
    #[serde(default)]
    pub run: Run,
    /// The builds.
    pub builds: Builds,
}

/// Where builds come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Builds {
    /// Names of builds, the good one first, the bad one last.
    #[serde(default)]
    pub list: Vec<String>,
    /// Instead of a list: the commits after the first up to the second, and the first itself.
    pub git: Option<GitRange>,
    /// Shell command that starts the build `{build}` with a data directory of its own at port `{port}` and
    /// returns when it answers. Builds the lab is done with are stopped before.
    pub start: String,
    /// Shell command that stops it.
    pub stop: String,
    /// The first build's port; the one compared to it has the next.
    pub port: u16,
}

/// Commits of a repository.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitRange {
    /// The repository.
    pub directory: PathBuf,
    /// A commit that is fast.
    pub good: String,
    /// A later one that is slow.
    pub bad: String,
}

/// What a search has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The first bad build.
    First(String),
    /// The last is not shown to be slower than the first.
    NoDifference,
    /// It is among these; the next one to read could not be decided.
    Among(Vec<String>),
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// The builds of the search, in order.
    Builds(Vec<String>),
    /// The log of a build's queries a second over the first's, in one round.
    Round { build: String, log_ratio: f64 },
    /// What the rounds of a build say.
    Decided { build: String, bad: bool, rounds: usize, ratio: f64 },
}

/// Measures one round: the log of a build's queries a second over the first build's.
pub trait Rounds {
    /// Of the build at this position, which is not the first.
    fn round(&mut self, build: usize) -> Result<f64>;
}

/// Reads and looks through a file.
pub fn read(path: &Path) -> Result<BisectConfig> {
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    let refuse = |what: &str| Err(Error::Config(format!("{}: {what}", path.display())));
    let config: BisectConfig = match toml::from_str(&text) {
        Ok(config) => config,
        Err(error) => return refuse(error.message()),
    };
    if config.run.workloads.len() != 1 || config.run.threads.len() != 1 {
        return refuse("a search has one workload and one number of threads");
    }
    if !catalogue().iter().any(|w| w.name == config.run.workloads[0]) {
        return refuse(&format!("no workload is called {:?}", config.run.workloads[0]));
    }
    if config.builds.list.is_empty() == config.builds.git.is_none() {
        return refuse("builds are either a list or a range of git commits");
    }
    if config.builds.git.is_none() && config.builds.list.len() < 2 {
        return refuse("two builds are needed at least");
    }
    Ok(config)
}

/// Searches, telling each step.
pub fn run(config: &BisectConfig, tell: &mut dyn FnMut(&str)) -> Result<Found> {
    let builds = match &config.builds.git {
        Some(range) => commits(range)?,
        None => config.builds.list.clone(),
    };
    let Some(workload) = catalogue().into_iter().find(|w| w.name == config.run.workloads[0]) else {
        return Err(Error::Config(format!("no workload is called {:?}", config.run.workloads[0])));
    };
    let bench = Bench::new(&config.run, stop_flag()?)?;
    let mut log = Log::open(&config.run.out.join("bisect.jsonl"), &builds)?;
    let mut servers =
        Servers { config, builds: &builds, workload, bench, first: None, other: None, turn: false };
    search(&builds, &mut servers, &mut log, tell)
}

/// The search itself.
fn search(
    builds: &[String],
    rounds: &mut dyn Rounds,
    log: &mut Log,
    tell: &mut dyn FnMut(&str),
) -> Result<Found> {
    let last = builds.len() - 1;
    let Some(whole) = difference(builds, rounds, log, tell)? else { return Ok(Found::NoDifference) };
    let threshold = f64::max(whole / 2.0, GOOD_MIN.ln());
    let (mut good, mut bad) = (0, last);
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        match decide(builds, middle, threshold, rounds, log, tell)? {
            Some(true) => bad = middle,
            Some(false) => good = middle,
            None => return Ok(Found::Among(builds[good + 1..=bad].to_vec())),
        }
    }
    Ok(Found::First(builds[bad].clone()))
}

/// How much slower the last build is: the log of its queries a second over the first's. None: it is not shown
/// to be.
fn difference(
    builds: &[String],
    rounds: &mut dyn Rounds,
    log: &mut Log,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<f64>> {
    let last = builds.len() - 1;
    let build = &builds[last];
    let mut seen = log.rounds_of(build);
    for (look, slower_min) in LOOKS {
        while seen.len() < look {
            seen.push(log.measure(build, last, rounds)?);
        }
        let slower = seen[..look].iter().filter(|&&r| r < 0.0).count();
        if slower >= slower_min {
            let log_ratio = median(&seen[..look]);
            tell(&format!("{build}: bad (x {:.3}, slower in {slower} of {look} rounds)", log_ratio.exp()));
            log.decided(build, true, look, log_ratio.exp())?;
            return Ok(Some(log_ratio));
        }
    }
    tell(&format!("{build}: not shown to be slower than {}", builds[0]));
    Ok(None)
}

/// Measures a build until one side of `threshold` is ahead: true, the bad one. None: neither is.
fn decide(
    builds: &[String],
    at: usize,
    threshold: f64,
    rounds: &mut dyn Rounds,
    log: &mut Log,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<bool>> {
    let build = &builds[at];
    let mut seen: Vec<f64> = log.rounds_of(build);
    loop {
        let below = seen.iter().filter(|&&r| r < threshold).count() as i32;
        let ahead = 2 * below - seen.len() as i32;
        if ahead.abs() >= LEAD {
            let (bad, ratio) = (ahead > 0, median(&seen).exp());
            let side = if bad { "bad" } else { "good" };
            tell(&format!("{build}: {side} (x {ratio:.3} after {} rounds)", seen.len()));
            log.decided(build, bad, seen.len(), ratio)?;
            return Ok(Some(bad));
        }
        if seen.len() >= ROUNDS_MAX {
            tell(&format!("{build}: not decided after {ROUNDS_MAX} rounds"));
            return Ok(None);
        }
        seen.push(log.measure(build, at, rounds)?);
    }
}

/// The file of all rounds and decisions.
struct Log {
    file: JsonLines,
    lines: Vec<Line>,
}

impl Log {
    fn open(path: &Path, builds: &[String]) -> Result<Log> {
        let (file, lines) = JsonLines::open(path, "{\"builds\":")?;
        let mut log = Log { file, lines };
        match log.lines.first() {
            Some(Line::Builds(before)) if before == builds => Ok(log),
            Some(_) => {
                Err(Error::Config(format!("{} is of other builds: choose another folder", path.display())))
            }
            None => log.append(&Line::Builds(builds.to_vec())).map(|()| log),
        }
    }

    fn rounds_of(&self, wanted: &str) -> Vec<f64> {
        let of_line = |line: &Line| match line {
            Line::Round { build, log_ratio } if build == wanted => Some(*log_ratio),
            _ => None,
        };
        self.lines.iter().filter_map(of_line).collect()
    }

    /// Measures a round and notes it.
    fn measure(&mut self, build: &str, at: usize, rounds: &mut dyn Rounds) -> Result<f64> {
        let log_ratio = rounds.round(at)?;
        self.append(&Line::Round { build: build.to_owned(), log_ratio })?;
        Ok(log_ratio)
    }

    fn decided(&mut self, build: &str, bad: bool, rounds: usize, ratio: f64) -> Result<()> {
        let line = Line::Decided { build: build.to_owned(), bad, rounds, ratio };
        if self.lines.contains(&line) { Ok(()) } else { self.append(&line) }
    }

    fn append(&mut self, line: &Line) -> Result<()> {
        self.file.append(line)?;
        self.lines.push(line.clone());
        Ok(())
    }
}

/// The commits of a range, oldest first, with the good one.
fn commits(range: &GitRange) -> Result<Vec<String>> {
    let git = |args: &[&str]| -> Result<Vec<String>> {
        let failed = |what: String| Error::Program { program: "git".to_owned(), what };
        let output = std::process::Command::new("git").arg("-C").arg(&range.directory).args(args).output();
        let output = output.map_err(|e| failed(e.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    };
    let mut all = git(&["rev-parse", "--verify", &format!("{}^{{commit}}", range.good)])?;
    all.extend(git(&["rev-list", "--reverse", "--first-parent", &format!("{}..{}", range.good, range.bad)])?);
    if all.len() < 2 {
        return Err(Error::Config(format!("there is no commit between {} and {}", range.good, range.bad)));
    }
    Ok(all)
}

/// The first build, which stays, and the one that is compared to it.
struct Servers<'a> {
    config: &'a BisectConfig,
    builds: &'a [String],
    workload: Workload,
    bench: Bench<'a>,
    first: Option<Target>,
    other: Option<(usize, Target)>,
    /// Who of the two comes first in the next round.
    turn: bool,
}

impl Servers<'_> {
    fn start(&self, build: usize, port: u16) -> Result<Target> {
        let words = |command: &str| {
            command.replace("{build}", &self.builds[build]).replace("{port}", &port.to_string())
        };
        let builds = &self.config.builds;
        let target = Target::reach(&TargetConfig {
            name: self.builds[build].clone(),
            url: format!("mysql://root@127.0.0.1:{port}"),
            start: Some(words(&builds.start)),
            stop: Some(words(&builds.stop)),
            replays: None,
        })?;
        tables::load(&target, &self.config.run, &mut |_| self.bench.check_stop())?;
        Ok(target)
    }

    fn measure(&self, target: &Target, other: &Target) -> Result<f64> {
        let run = &self.config.run;
        let pause = |target: &Target, paused| {
            if let (true, Some(pid)) = (run.pause_others, target.pid) {
                process::set_paused(pid, paused);
            }
        };
        pause(other, true);
        let measured = self.bench.measure(target, &self.workload, run.threads[0], None);
        pause(other, false);
        Ok(measured?.qps)
    }
}

/// Waits until a server that was asked to stop does not answer any more: the next one is to have its port.
fn await_silence(stopped: &Target) -> Result<()> {
    for _ in 0..1200 {
        if stopped.connect().is_err() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(Error::Server { target: stopped.config.name.clone(), what: "does not stop".to_owned() })
}

impl Rounds for Servers<'_> {
    fn round(&mut self, build: usize) -> Result<f64> {
        self.bench.check_stop()?;
        let port = self.config.builds.port;
        if self.first.is_none() {
            self.first = Some(self.start(0, port)?);
        }
        if self.other.as_ref().is_none_or(|(at, _)| *at != build) {
            if let Some((_, done)) = self.other.take() {
                done.leave();
                await_silence(&done)?;
            }
            self.other = Some((build, self.start(build, port + 1)?));
        }
        let (Some(first), Some((_, other))) = (&self.first, &self.other) else {
            return Err(Error::Config("no servers".to_owned()));
        };
        self.turn = !self.turn;
        let (base, qps) = if self.turn {
            let base = self.measure(first, other)?;
            (base, self.measure(other, first)?)
        } else {
            let qps = self.measure(other, first)?;
            (self.measure(first, other)?, qps)
        };
        Ok((qps / base).ln())
    }
}

impl Drop for Servers<'_> {
    fn drop(&mut self) {
        let other = self.other.take().map(|(_, other)| other);
        for target in self.first.take().into_iter().chain(other) {
            target.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;

    /// Builds of which all from `bad` on are slower by `loss`, in noise; every twentieth round says nothing.
    struct Simulated {
        random: Random,
        bad: usize,
        loss: f64,
        /// The loss once the last build has been measured.
        later_loss: f64,
        noise: f64,
        rounds: usize,
        /// Ends the search before this round.
        stop_at: usize,
    }

    impl Rounds for Simulated {
        fn round(&mut self, build: usize) -> Result<f64> {
            if self.rounds == self.stop_at {
                return Err(Error::Interrupted);
            }
            self.rounds += 1;
            let loss = if self.rounds > LOOKS[0].0 { self.later_loss } else { self.loss };
            let truth = if build >= self.bad { (1.0 - loss).ln() } else { 0.0 };
            let disturbed = if self.random.below(20) == 0 { self.random.unit() - 0.5 } else { 0.0 };
            Ok(truth + self.noise * self.random.normal() + disturbed)
        }
    }

    fn simulated(seed: u64, bad: usize, loss: f64, noise: f64) -> Simulated {
        Simulated { random: Random(seed), bad, loss, later_loss: loss, noise, rounds: 0, stop_at: usize::MAX }
    }

    fn builds() -> Vec<String> {
        (0..22).map(|i| format!("build {i}")).collect()
    }

    fn search_in(folder: &Path, rounds: &mut Simulated) -> Result<Found> {
        let builds = builds();
        let mut log = Log::open(&folder.join("bisect.jsonl"), &builds)?;
        search(&builds, rounds, &mut log, &mut |_| {})
    }

    #[test]
    fn the_first_bad_of_22_builds_is_found_in_noise() {
        for seed in 0..100 {
            let bad = 1 + seed as usize % 21;
            let folder = tempfile::tempdir().unwrap();
            let found = search_in(folder.path(), &mut simulated(seed, bad, 0.08, 0.015)).unwrap();
            assert_eq!(found, Found::First(format!("build {bad}")), "seed {seed}");
        }
    }

    #[test]
    fn a_large_loss_that_becomes_smaller_meanwhile_is_still_one() {
        for seed in 0..100 {
            let bad = 1 + seed as usize % 21;
            let folder = tempfile::tempdir().unwrap();
            let mut rounds = Simulated { later_loss: 0.5, ..simulated(seed, bad, 0.85, 0.1) };
            let found = search_in(folder.path(), &mut rounds).unwrap();
            assert_eq!(found, Found::First(format!("build {bad}")), "seed {seed}");
        }
    }

    #[test]
    fn where_nothing_differs_nothing_is_named() {
        let named = (0..100).filter(|&seed| {
            let folder = tempfile::tempdir().unwrap();
            search_in(folder.path(), &mut simulated(seed, usize::MAX, 0.0, 0.015)).unwrap()
                != Found::NoDifference
        });
        assert!(named.count() <= 2);
    }

    #[test]
    fn a_search_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut rounds = simulated(5, 9, 0.08, 0.015);
        rounds.stop_at = 10;
        assert!(matches!(search_in(folder.path(), &mut rounds), Err(Error::Interrupted)));
        rounds.stop_at = usize::MAX;
        assert_eq!(search_in(folder.path(), &mut rounds).unwrap(), Found::First("build 9".to_owned()));
        let before = rounds.rounds;
        assert_eq!(search_in(folder.path(), &mut rounds).unwrap(), Found::First("build 9".to_owned()));
        assert_eq!(rounds.rounds, before);
        let other = vec!["a".to_owned(), "b".to_owned()];
        assert!(Log::open(&folder.path().join("bisect.jsonl"), &other).is_err());
    }
}
