//! Runs operations and reports what they cost.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use engine::Engine;

use crate::answers::Answers;
use crate::callgrind;
use crate::client::{Client, Prepared};
use crate::counters;
use crate::operation::{Draw, Operation, Request, Unit, Work, settle};
use crate::syscalls;

/// Executions before counting begins, at most.
const WARM_UP: u32 = 1000;
/// Ids that other operations may have taken, more than they do.
const IDS_OF_STATEMENTS: u32 = 100_000;

/// What the counted executions of an operation did.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Statements or rows, as the operation's unit says.
    pub(crate) units: u64,
    /// Allocations by the serving thread; `None` if they are not counted.
    pub(crate) allocations: Option<u64>,
    /// Bytes copied by the serving thread; `None` without the preloaded library.
    pub(crate) copied_bytes: Option<u64>,
    /// System calls by the serving thread; `None` if they are not counted.
    pub(crate) syscalls: Option<u64>,
    /// Bytes that the log has grown by.
    pub(crate) log_bytes: u64,
    /// Syncs of the log, as the engine counts them.
    pub(crate) syncs: u64,
    /// Time from the first statement to the last answer.
    pub(crate) elapsed: Duration,
    /// The answers to the statements.
    pub(crate) answers: Answers,
}

/// An operation on its connection.
pub(crate) struct Runner<'a> {
    client: &'a mut Client,
    request: Request,
    prepared: Option<Prepared>,
    draw: Draw,
}

impl<'a> Runner<'a> {
    /// The operation's statement is prepared, if it is to be.
    pub(crate) fn new(client: &'a mut Client, operation: &Operation, draw: Draw) -> Result<Self, String> {
        let prepared = match operation.request {
            Request::Prepared(text, _) => Some(client.prepare(text)?),
            Request::Ping | Request::Text(_) | Request::Load(..) => None,
        };
        Ok(Runner { client, request: operation.request, prepared, draw })
    }

    /// Runs statements in place of the operation's.
    fn run_all(&mut self, statements: &[&str]) -> Result<(), String> {
        statements.iter().try_for_each(|text| self.client.query(text).map(drop))
    }

    /// The answers since the last call.
    pub(crate) fn take_answers(&mut self) -> Answers {
        self.client.take_answers()
    }

    /// Rows of the answers.
    pub(crate) fn run(&mut self, executions: u32) -> Result<u64, String> {
        let mut rows = 0;
        for _ in 0..executions {
            rows += match (self.request, &mut self.prepared) {
                (Request::Ping, _) => self.client.ping()?,
                (Request::Text(make), _) => self.client.query(&make(&mut self.draw))?,
                (Request::Load(text, make), _) => self.client.load(text, &make(&mut self.draw))?,
                (Request::Prepared(_, make), Some(prepared)) => {
                    self.client.execute(prepared, &make(&mut self.draw))?
                }
                (Request::Prepared(..), None) => return Err("executed before it was prepared".to_owned()),
            };
        }
        Ok(rows)
    }
}

/// Warms the operation up and counts it. Under callgrind the counts are dumped under the operation's name.
///
/// # Errors
/// What the server answered instead.
pub(crate) fn measure(
    client: &mut Client,
    operation: &Operation,
    seed: u64,
    engine: &Arc<Engine>,
) -> Result<Measured, String> {
    let fixed_units = match operation.unit {
        Unit::RowOf(query) => Some(client.query(query)?),
        Unit::Rows(rows) => Some(rows * u64::from(operation.executions)),
        Unit::Statement => Some(u64::from(operation.executions)),
        Unit::SentRow | Unit::Work => None,
    };
    let mut draw = Draw::new(seed);
    if operation.work.is_some() {
        draw.skip(IDS_OF_STATEMENTS);
    }
    let mut runner = Runner::new(client, operation, draw)?;
    runner.run_all(operation.before)?;
    runner.run(WARM_UP.min(operation.executions))?;
    runner.run_all(operation.after)?;
    runner.run_all(operation.before)?;
    runner.take_answers();
    let (counts, units) = match operation.work {
        None => count(engine, operation.name, || runner.run(operation.executions))?,
        Some(work) => {
            settle(engine).map_err(|e| e.to_string())?;
            runner.run(operation.executions)?;
            count_in_background(engine, operation.name, work)?
        }
    };
    let answers = runner.take_answers();
    runner.run_all(operation.after)?;
    Ok(Measured { answers, units: fixed_units.unwrap_or(units).max(1), ..counts })
}

/// Runs `work` between two checks of the counters; what it did, and its answer.
fn count(
    engine: &Engine,
    name: &str,
    work: impl FnOnce() -> Result<u64, String>,
) -> Result<(Measured, u64), String> {
    let log = engine.store().log();
    let log_so_far = || (log.current().0, log.stats().syncs);
    let before = (counters::allocations(), counters::copied_bytes(), syscalls::counted());
    let log_before = log_so_far();
    let begun = Instant::now();
    callgrind::zero();
    let units = work();
    callgrind::dump(name);
    let elapsed = begun.elapsed();
    let log_after = log_so_far();
    let measured = Measured {
        units: 1,
        allocations: Some(counters::allocations() - before.0),
        copied_bytes: counters::copied_bytes().zip(before.1).map(|(now, before)| now - before),
        syscalls: syscalls::counted().zip(before.2).map(|(now, before)| now - before),
        log_bytes: log_after.0 - log_before.0,
        syncs: log_after.1 - log_before.1,
        elapsed,
        answers: Answers::default(),
    };
    Ok((measured, units?))
}

/// [`count`] of work on a thread of its own, as in the server. Its system calls are not counted.
fn count_in_background(engine: &Arc<Engine>, name: &str, work: Work) -> Result<(Measured, u64), String> {
    let (engine, name) = (Arc::clone(engine), name.to_owned());
    let thread = thread::spawn(move || {
        counters::count_this_thread();
        callgrind::toggle_this_thread();
        let counted = count(&engine, &name, || work(&engine).map_err(|e| e.to_string()));
        callgrind::toggle_this_thread();
        counted.map(|(measured, units)| (Measured { syscalls: None, ..measured }, units))
    });
    thread.join().map_err(|_| "the background work panicked".to_owned())?
}

/// Runs an operation `passes` times over the same values, for a server that is counted from outside.
pub(crate) fn repeat(
    client: &mut Client,
    operation: &Operation,
    seed: u64,
    passes: u32,
) -> Result<(), String> {
    let mut prepared = match operation.request {
        Request::Prepared(text, _) => Some(client.prepare(text)?),
        Request::Ping | Request::Text(_) | Request::Load(..) => None,
    };
    for _ in 0..passes {
        let draw = Draw::new(seed);
        let mut runner =
            Runner { client: &mut *client, request: operation.request, prepared: prepared.take(), draw };
        runner.run_all(operation.before)?;
        runner.run(operation.executions)?;
        runner.run_all(operation.after)?;
        prepared = runner.prepared;
    }
    Ok(())
}
