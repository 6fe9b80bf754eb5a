//! One cell: a workload on one target for some seconds, and what it cost the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::config::{Run, Setting};
use crate::error::{Error, Result};
use crate::journal::Figures;
use crate::process;
use crate::sample::{Follower, Sample, TemporaryFiles, machine_busy_seconds};
use crate::sysbench::{Load, Scripts, Second};
use crate::tables;
use crate::target::Target;
use crate::workload::{Data, Kind, Workload};

/// Fewer queries than this in the counted seconds, and the whole run is counted instead: whole queries would
/// be too coarse.
const COARSE_QUERIES: f64 = 500.0;

/// What cells have in common.
#[derive(Debug)]
pub struct Bench<'a> {
    run: &'a Run,
    scripts: Scripts,
    stop: Arc<AtomicBool>,
}

/// A flag that Ctrl-C sets, or a plain kill.
pub fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let handler = signal_hook::flag::register(signal, Arc::clone(&stop));
        handler.map_err(|e| Error::Config(format!("Ctrl-C cannot be caught: {e}")))?;
    }
    Ok(stop)
}

impl<'a> Bench<'a> {
    /// Writes what it needs below the output folder.
    pub fn new(run: &'a Run, stop: Arc<AtomicBool>) -> Result<Bench<'a>> {
        std::fs::create_dir_all(&run.out).map_err(Error::file(&run.out))?;
        Ok(Bench { run, scripts: Scripts::write_below(&run.out)?, stop })
    }

    /// Measures a workload on a target whose process is awake, at a setting.
    pub fn measure(
        &self,
        target: &Target,
        workload: &Workload,
        threads: usize,
        setting: Option<&Setting>,
    ) -> Result<Figures> {
        let run = self.run;
        if target.config.replays.is_none() {
            if let Some(setting) = setting {
                target.execute(&set_statements(setting))?;
            }
            if workload.kind == Kind::Consume {
                tables::reload(target, run, &mut |_| self.check_stop())?;
                target.execute(&tables::before(workload, run))?;
            }
        }
        let cores = run.pin_single.then(|| cores_for(threads));
        let prefix = prepare_processes(target, cores.as_deref(), run.realtime)?;
        let load = Load {
            address: &target.address,
            database: &run.database,
            tables: run.tables,
            rows: run.table_rows,
            threads,
            prefix: &prefix,
        };
        let mut meter = Meter::new(target, run.warmup_seconds);
        let temporary =
            (workload.data == Data::Groups).then(|| target.pid.map(TemporaryFiles::watch)).flatten();
        let seconds = run.warmup_seconds + run.seconds;
        let report = load.run(&self.scripts, workload, seconds, &mut |second| {
            meter.second_over(second);
            !self.stop.load(Ordering::Relaxed)
        })?;
        let mut figures = meter.figures(target, report.queries_per_second, report.queries);
        figures.set_latency(report.latency);
        figures.temp_bytes = temporary.map_or(f64::NAN, |files| files.most() as f64);
        Ok(figures)
    }

    /// # Errors  [`Error::Interrupted`] once Ctrl-C has come.
    pub fn check_stop(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Counts what a server uses in the seconds that count.
struct Meter {
    follower: Option<Follower>,
    warmup: u64,
    seconds: u64,
    queries: f64,
    /// Queries of the seconds that do not count.
    warm_queries: f64,
    retried: f64,
    begin: (Instant, Sample, Counters),
    end: Option<(Instant, Sample)>,
    machine_before: f64,
}

/// The server's own counters, where it has them.
#[derive(Clone, Copy, Default)]
struct Counters {
    log_bytes: Option<f64>,
    log_syncs: Option<f64>,
}

impl Counters {
    fn of(target: &Target) -> Counters {
        if target.config.replays.is_some() {
            return Counters::default();
        }
        Counters {
            log_bytes: target.status("Innodb_os_log_written"),
            log_syncs: target.status("Innodb_os_log_fsyncs"),
        }
    }

    fn since(before: Option<f64>, now: Option<f64>) -> f64 {
        before.zip(now).map_or(f64::NAN, |(before, now)| now - before)
    }
}

impl Meter {
    fn new(target: &Target, warmup: u64) -> Meter {
        let mut follower = target.pid.map(Follower::new);
        let sample = follower.as_mut().and_then(Follower::look).unwrap_or_default();
        Meter {
            follower,
            warmup,
            seconds: 0,
            queries: 0.0,
            warm_queries: 0.0,
            retried: 0.0,
            begin: (Instant::now(), sample, Counters::of(target)),
            end: None,
            machine_before: machine_busy_seconds(),
        }
    }

    fn look(&mut self) -> Sample {
        self.follower.as_mut().and_then(Follower::look).unwrap_or_default()
    }

    fn second_over(&mut self, second: Second) {
        let sample = self.look();
        self.seconds += 1;
        if self.seconds <= self.warmup {
            self.warm_queries += second.queries;
            self.begin = (Instant::now(), sample, self.begin.2);
            self.machine_before = machine_busy_seconds();
            return;
        }
        self.queries += second.queries;
        self.retried += second.errors;
        self.end = Some((Instant::now(), sample));
    }

    /// Seconds that count.
    fn counted(&self) -> u64 {
        self.seconds.saturating_sub(self.warmup)
    }

    /// `whole_qps` and `whole_queries` are those of the whole run.
    fn figures(mut self, target: &Target, whole_qps: f64, whole_queries: f64) -> Figures {
        let (began, before, counters) = self.begin;
        // Threads of connections have taken their counts with them when the run is over.
        let switches_are_known = self.end.is_some();
        let (ended, after) = self.end.unwrap_or_else(|| {
            // No second that counts was told of: what was used since the last one that was told is what the
            // rest of the run used.
            self.queries = whole_queries - self.warm_queries;
            (Instant::now(), self.look())
        });
        let elapsed = (ended - began).as_secs_f64();
        let per_query =
            |amount: f64| if self.follower.is_some() { amount / self.queries.max(1.0) } else { f64::NAN };
        let now = Counters::of(target);
        let count = |before: u64, after: u64| per_query(after.saturating_sub(before) as f64);
        let switches = |before, after| if switches_are_known { count(before, after) } else { f64::NAN };
        let of_all = |amount: f64| amount / whole_queries.max(1.0);
        let (user, system) =
            (after.user_seconds - before.user_seconds, after.system_seconds - before.system_seconds);
        Figures {
            qps: match self.counted() {
                0 => whole_qps,
                _ if self.queries < COARSE_QUERIES => whole_qps,
                seconds => self.queries / seconds as f64,
            },
            user_us: per_query(user * 1e6),
            system_us: per_query(system * 1e6),
            voluntary_switches: switches(before.voluntary_switches, after.voluntary_switches),
            involuntary_switches: switches(before.involuntary_switches, after.involuntary_switches),
            disk_bytes: count(before.written_bytes, after.written_bytes),
            log_bytes: of_all(Counters::since(counters.log_bytes, now.log_bytes)),
            log_syncs: of_all(Counters::since(counters.log_syncs, now.log_syncs)),
            peak_rss_bytes: if after.peak_rss_bytes > 0 { after.peak_rss_bytes as f64 } else { f64::NAN },
            other_cores: ((machine_busy_seconds() - self.machine_before - user - system) / elapsed).max(0.0),
            retried: self.retried / self.queries.max(1.0),
            ..Figures::default()
        }
    }
}

fn set_statements(setting: &Setting) -> Vec<String> {
    setting.set.iter().map(|(name, value)| format!("SET GLOBAL {name} = {value}")).collect()
}

/// With one client thread the last core, else all.
fn cores_for(threads: usize) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if threads == 1 { format!("{}", cores - 1) } else { format!("0-{}", cores - 1) }
}

/// Puts the server's threads where they belong; returns what the client is to be started by.
fn prepare_processes(target: &Target, cores: Option<&str>, realtime: bool) -> Result<Vec<String>> {
    let mut prefix = Vec::new();
    if let Some(cores) = cores {
        target.pid.map_or(Ok(()), |pid| process::pin(pid, cores))?;
        prefix.extend(["taskset", "-c", cores].map(str::to_owned));
    }
    if realtime {
        target.pid.map_or(Ok(()), process::make_realtime)?;
        prefix.extend(["chrt", "-r", "1"].map(str::to_owned));
    }
    Ok(prefix)
}
