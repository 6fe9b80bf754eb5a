//! Runs operations and reports what they cost.

use std::time::{Duration, Instant};

use crate::callgrind;
use crate::client::{Client, Prepared};
use crate::counters;
use crate::operation::{Draw, Operation, Request, Unit};
use crate::syscalls;

/// Executions before counting begins, at most.
const WARM_UP: u32 = 1000;

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
            Request::Ping | Request::Text(_) => None,
        };
        Ok(Runner { client, request: operation.request, prepared, draw })
    }

    /// Rows of the answers.
    pub(crate) fn run(&mut self, executions: u32) -> Result<u64, String> {
        let mut rows = 0;
        for _ in 0..executions {
            rows += match (self.request, &mut self.prepared) {
                (Request::Ping, _) => self.client.ping()?,
                (Request::Text(make), _) => self.client.query(&make(&mut self.draw))?,
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
/// `log_so_far`: the position that the engine's log has reached, and its syncs.
///
/// # Errors
/// What the server answered instead.
pub(crate) fn measure(
    client: &mut Client,
    operation: &Operation,
    seed: u64,
    log_so_far: impl Fn() -> (u64, u64),
) -> Result<Measured, String> {
    let fixed_units = match operation.unit {
        Unit::RowOf(query) => Some(client.query(query)?),
        Unit::Rows(rows) => Some(rows * u64::from(operation.executions)),
        Unit::Statement => Some(u64::from(operation.executions)),
        Unit::SentRow => None,
    };
    let mut runner = Runner::new(client, operation, Draw::new(seed))?;
    runner.run(WARM_UP.min(operation.executions))?;
    let before = (counters::allocations(), counters::copied_bytes(), syscalls::counted());
    let log_before = log_so_far();
    let begun = Instant::now();
    callgrind::zero();
    let rows = runner.run(operation.executions);
    callgrind::dump(operation.name);
    let elapsed = begun.elapsed();
    let log_after = log_so_far();
    Ok(Measured {
        units: fixed_units.unwrap_or(rows?).max(1),
        allocations: Some(counters::allocations() - before.0),
        copied_bytes: counters::copied_bytes().zip(before.1).map(|(now, before)| now - before),
        syscalls: syscalls::counted().zip(before.2).map(|(now, before)| now - before),
        log_bytes: log_after.0 - log_before.0,
        syncs: log_after.1 - log_before.1,
        elapsed,
    })
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
        Request::Ping | Request::Text(_) => None,
    };
    for _ in 0..passes {
        let draw = Draw::new(seed);
        let mut runner =
            Runner { client: &mut *client, request: operation.request, prepared: prepared.take(), draw };
        runner.run(operation.executions)?;
        prepared = runner.prepared;
    }
    Ok(())
}
