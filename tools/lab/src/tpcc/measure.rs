//! One run: terminals on one server for some seconds.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::target::Address;
use crate::tpcc::crew::{self, Alarm, Member};
use crate::tpcc::dialect::Dialect;
use crate::tpcc::link::Link;
use crate::tpcc::mix::Kind;
use crate::tpcc::scale::Scale;
use crate::tpcc::session::{Outcome, Session};
use crate::tpcc::terminal::{Schedule, Tally, Terminal, in_words};

/// How terminals work.
#[derive(Clone, Debug)]
pub struct Load {
    /// Rows of the tables.
    pub scale: Scale,
    /// Database of the tables.
    pub database: String,
    /// How transactions are put into statements.
    pub dialect: Dialect,
    /// Terminals.
    pub terminals: usize,
    /// Threads that serve them.
    pub client_threads: usize,
    /// Whether each terminal has a home warehouse; if not, every transaction chooses one.
    pub is_bound: bool,
    /// Time that does not count.
    pub warmup: Duration,
    /// Time that counts.
    pub measured: Duration,
    /// Of the terminals' choices.
    pub seed: u64,
}

/// What the transactions of a kind came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfKind {
    /// Which.
    pub kind: Kind,
    /// Transactions that ended, rolled back ones among them.
    pub count: u64,
    /// Those that were rolled back as their input required.
    pub rolled_back: u64,
    /// Response times, retries included, milliseconds: half are shorter.
    pub p50_ms: f64,
    /// 95 of 100 are shorter.
    pub p95_ms: f64,
    /// 99 of 100 are shorter.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// Tries that ended with a deadlock.
    pub deadlocks: u64,
    /// Tries that ended with a lock wait timeout.
    pub timeouts: u64,
}

/// A run's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// New-Order transactions committed a minute.
    pub tpm_c: f64,
    /// Per kind, in the order of [`Kind::ALL`].
    pub kinds: Vec<OfKind>,
}

/// Runs the terminals. Setting `interrupted` ends them.
///
/// # Errors  The first terminal's failure, in words.
pub fn measure(server: &Address, load: &Load, interrupted: &AtomicBool) -> Result<Figures, String> {
    let link = |number| Link::connect(server, &load.database).map(|link| (number, link));
    let links = (0..load.terminals).map(link).collect::<Outcome<Vec<_>>>().map_err(|e| e.to_string())?;
    let mut crews: Vec<Vec<(usize, Link)>> = (0..load.client_threads).map(|_| Vec::new()).collect();
    for (number, link) in links {
        crews[number % load.client_threads].push((number, link));
    }
    let from = Instant::now() + load.warmup;
    let failed = AtomicBool::new(false);
    let schedule = Schedule { from, until: from + load.measured, interrupted, failed: &failed };
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let start = |crew| scope.spawn(|| run_crew(crew, load, &schedule));
        let threads: Vec<_> = crews.into_iter().map(start).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|e| std::panic::resume_unwind(e))
        };
        threads.into_iter().map(join).collect()
    });
    let mut tallies: [Tally; 5] = Default::default();
    for outcome in outcomes.into_iter().flatten() {
        for (sum, tally) in tallies.iter_mut().zip(outcome.map_err(|failure| in_words(&failure))?) {
            sum.add(tally);
        }
    }
    Ok(figures(tallies, load.measured))
}

/// Runs terminals on this thread.
fn run_crew(links: Vec<(usize, Link)>, load: &Load, schedule: &Schedule<'_>) -> Vec<Outcome<[Tally; 5]>> {
    let member = |(number, link): (usize, Link)| {
        let (alarm, socket) = (Rc::new(Alarm::default()), link.descriptor()?);
        let session = Session::new(link, Rc::clone(&alarm));
        let settings = (load.scale, load.dialect, load.is_bound);
        let terminal = Terminal::new(number, session, settings, load.seed);
        let work = async {
            let outcome = terminal.work(schedule).await;
            if outcome.is_err() {
                schedule.failed.store(true, Ordering::Relaxed);
            }
            outcome
        };
        Ok(Member { socket, alarm, work: Box::pin(work) })
    };
    let members: std::io::Result<Vec<_>> = links.into_iter().map(member).collect();
    members.and_then(crew::run).unwrap_or_else(|error| {
        schedule.failed.store(true, Ordering::Relaxed);
        vec![Err(error.into())]
    })
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.times_us.extend(other.times_us);
        self.rolled_back += other.rolled_back;
        self.deadlocks += other.deadlocks;
        self.timeouts += other.timeouts;
    }
}

fn figures(tallies: [Tally; 5], measured: Duration) -> Figures {
    let kinds: Vec<OfKind> =
        Kind::ALL.into_iter().zip(tallies).map(|(kind, tally)| of_kind(kind, tally)).collect();
    let new_orders = &kinds[Kind::NewOrder as usize];
    let committed = new_orders.count - new_orders.rolled_back;
    Figures { tpm_c: committed as f64 * 60.0 / measured.as_secs_f64(), kinds }
}

fn of_kind(kind: Kind, mut tally: Tally) -> OfKind {
    tally.times_us.sort_unstable();
    let times = &tally.times_us;
    let quantile = |percent: usize| {
        let at = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times.get(at).map_or(0.0, |&time| f64::from(time) / 1000.0)
    };
    OfKind {
        kind,
        count: times.len() as u64,
        rolled_back: tally.rolled_back,
        p50_ms: quantile(50),
        p95_ms: quantile(95),
        p99_ms: quantile(99),
        max_ms: quantile(100),
        deadlocks: tally.deadlocks,
        timeouts: tally.timeouts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_all_terminals_and_rolled_back_orders_do_not_count() {
        let mut tallies: [Tally; 5] = Default::default();
        tallies[0].add(Tally {
            times_us: (1..=60).map(|n| n * 1000).collect(),
            rolled_back: 1,
            ..Tally::default()
        });
        tallies[0].add(Tally {
            times_us: (61..=100).map(|n| n * 1000).collect(),
            deadlocks: 2,
            ..Tally::default()
        });
        let figures = figures(tallies, Duration::from_secs(30));
        assert_eq!(figures.tpm_c, 198.0);
        let orders = &figures.kinds[0];
        assert_eq!((orders.count, orders.rolled_back, orders.deadlocks), (100, 1, 2));
        assert_eq!((orders.p50_ms, orders.p95_ms, orders.p99_ms, orders.max_ms), (50.0, 95.0, 99.0, 100.0));
        assert_eq!(figures.kinds[1].p99_ms, 0.0);
    }
}
