//! Clients that commit at the same time: how many share a sync.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Instant;

use engine::Engine;

use crate::answers::Answers;
use crate::client::Client;
use crate::measure::{Measured, Runner};
use crate::operation::{Draw, Operation};
use crate::serve::{self, Watch};
use crate::slow_sync::SlowSyncDisk;
use crate::tables::SCHEMA;

/// Clients.
const CLIENTS: u32 = 16;
/// Executions of each before counting begins.
const WARM_UP: u32 = 20;

/// Runs `operation` on sixteen connections at once, each with rows of its own, against a server whose syncs
/// are not fast. The counts of single threads are not reported: they depend on which threads meet.
pub(crate) fn measure(datadir: &Path, operation: &Operation, seed: u64) -> Result<Measured, String> {
    let server = serve::open(datadir, Arc::new(SlowSyncDisk))?;
    let starts = Arc::new(Barrier::new(CLIENTS as usize + 1));
    let mut threads = Vec::new();
    for number in 0..CLIENTS {
        let socket = serve::connect(&server, Watch::Nothing)?;
        let (starts, operation) = (Arc::clone(&starts), *operation);
        threads.push(thread::spawn(move || work(socket, &operation, seed, number, &starts)));
    }
    starts.wait();
    let (syncs, log, begun) = (syncs(&server.engine), server.engine.store().log().current(), Instant::now());
    starts.wait();
    let mut answers = Answers::default();
    for thread in threads {
        answers.add_changes(&thread.join().map_err(|_| "a client panicked".to_owned())??);
    }
    Ok(Measured {
        units: u64::from(CLIENTS) * u64::from(operation.executions),
        allocations: None,
        copied_bytes: None,
        syscalls: None,
        log_bytes: server.engine.store().log().current().0 - log.0,
        syncs: self::syncs(&server.engine) - syncs,
        elapsed: begun.elapsed(),
        answers,
    })
}

fn syncs(engine: &Engine) -> u64 {
    engine.store().log().stats().syncs
}

/// One client. It comes to both barriers whatever happens, for the others wait there.
fn work(
    socket: UnixStream,
    operation: &Operation,
    seed: u64,
    number: u32,
    starts: &Barrier,
) -> Result<Answers, String> {
    let mut draw = Draw::new(seed);
    draw.skip(number * (WARM_UP + operation.executions));
    let mut client = Client::connect(socket, SCHEMA);
    let mut runner = match &mut client {
        Ok(client) => Runner::new(client, operation, draw),
        Err(error) => Err(error.clone()),
    };
    let warm = runner.as_mut().map_or_else(|error| Err(error.clone()), |runner| runner.run(WARM_UP));
    starts.wait();
    starts.wait();
    warm?;
    let mut runner = runner?;
    runner.take_answers();
    runner.run(operation.executions)?;
    Ok(runner.take_answers())
}
