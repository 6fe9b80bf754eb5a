//! Queries that read one stretch of one index and send its rows as they are, or integer aggregates of all
//! of them: straight functions over leaves, in the connection's memory. [`QueryRun::rows`] answers the same
//! with operators.

use std::io;

use engine::{Direction, Scan};
use wire::OutBuffer;

use crate::access::{Keys, range_bounds};
use crate::aggregate_ints::IntState;
use crate::context::Scratch;
use crate::error::{ExecError, Result};
use crate::op::{AccessOp, AggregateOp, Op, PathOp};
use crate::outputs::OutputValue;
use crate::project::put_versioned_batch;
use crate::query::QueryProgram;
use crate::query_run::QueryRun;
use crate::reader::RowEnv;
use crate::record_projection::{ClientFormat, RecordProjection, put_batch};
use crate::row_target::RowTarget;
use crate::source::RowBatch;

/// What such a query does with the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LeafScan {
    /// Sends them.
    Rows,
    /// Sends the aggregates, which are the output columns.
    Aggregates,
}

/// The client's side of a scan.
pub(crate) struct ScanClient<'c> {
    pub(crate) target: RowTarget<'c>,
    pub(crate) flush: &'c mut dyn FnMut(&mut OutBuffer) -> io::Result<()>,
}

impl LeafScan {
    /// The scan that `query` is; `None` if it is more than that.
    pub(crate) fn of_query(query: &QueryProgram) -> Option<Self> {
        match &query.root {
            Op::Access(access) if is_simple(access) && query.plain.is_some() => Some(LeafScan::Rows),
            Op::Aggregate(aggregate) => {
                let Op::Access(access) = &aggregate.input else { return None };
                let is_whole = aggregate.groups.is_empty() && aggregate.ints.is_some();
                let simple = is_simple(access) && is_whole;
                let is_aggregate = |value: &OutputValue| match value {
                    OutputValue::Column { rel, .. } => aggregate.layout.has(*rel),
                    OutputValue::Expr(_) => false,
                };
                let all = query.outputs.iter().all(|output| is_aggregate(&output.value));
                (simple && all).then_some(LeafScan::Aggregates)
            }
            _ => None,
        }
    }

    /// Answers the query; how many rows were sent. `None`, and nothing done, if the client wants text in
    /// another character set. Cost: no allocation once the connection's memory has grown.
    pub(crate) fn run(
        self,
        run: &QueryRun<'_>,
        client: ScanClient<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<u64>> {
        match (self, &run.program.root, &run.program.plain) {
            (LeafScan::Rows, Op::Access(access), Some(plain)) => {
                if access.is_versioned() {
                    return send_versions(access, run, client, scratch);
                }
                match plain.projection(run.program, &client.target) {
                    Some(projection) => send_rows(access, projection, run, client, scratch).map(Some),
                    None => Ok(None),
                }
            }
            (LeafScan::Aggregates, Op::Aggregate(aggregate), _) => {
                send_aggregates(aggregate, run, client.target, scratch).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Whether the rows are a leaf's records as they are, and nothing else is read meanwhile.
fn is_simple(access: &AccessOp) -> bool {
    access.batched && !access.detached && matches!(access.path, PathOp::Scan { .. } | PathOp::Range { .. })
}

/// The scan of the access's stretch; `None` if nothing can lie in it.
fn open<'r>(access: &'r AccessOp, run: &QueryRun<'r>, scratch: &mut Scratch) -> Result<Option<Scan<'r>>> {
    let (PathOp::Scan { reverse } | PathOp::Range { reverse, .. }) = access.path else { return Ok(None) };
    let Scratch { arena, range_keys, scan, .. } = scratch;
    let Some((from, to)) = range_bounds(run, &access.path, &access.key, None, range_keys, arena)? else {
        return Ok(None);
    };
    let mut memory = scan.take().unwrap_or_default();
    let Keys { lower, upper, .. } = range_keys;
    memory.range.set(from.on(lower), to.on(upper));
    let direction = if reverse { Direction::Backward } else { Direction::Forward };
    let st = run.st;
    Ok(Some(Scan::open_in(st.engine, &access.table, access.index, st.view, memory, direction)?))
}

fn send_rows(
    access: &AccessOp,
    projection: &RecordProjection,
    run: &QueryRun<'_>,
    client: ScanClient<'_>,
    scratch: &mut Scratch,
) -> Result<u64> {
    let ScanClient { target, flush } = client;
    let Some(mut scan) = open(access, run, scratch)? else { return Ok(0) };
    let format = ClientFormat { zone: run.st.zone, charset: target.charset };
    let mut rows = 0;
    while let Some(batch) = scan.next_batch()? {
        put_batch(projection, &mut scratch.projection, format, &batch, target.out);
        rows += batch.len() as u64;
        run.st.count_examined(batch.len());
        run.st.fail_if_killed()?;
        if target.out.wants_flush() {
            scan.suspend();
            flush(target.out).map_err(ExecError::Send)?;
        }
    }
    scratch.scan = Some(scan.into_memory());
    Ok(rows)
}

/// As [`send_rows`], of rows that may have older row format versions.
#[cold]
#[inline(never)]
fn send_versions(
    access: &AccessOp,
    run: &QueryRun<'_>,
    client: ScanClient<'_>,
    scratch: &mut Scratch,
) -> Result<Option<u64>> {
    let ScanClient { mut target, flush } = client;
    let Some(scan) = open(access, run, scratch)? else { return Ok(Some(0)) };
    let (mut scan, mut rows) = (scan.versioned(), 0);
    while let Some((batch, older)) = scan.next_versioned_batch()? {
        let env = RowEnv { st: run.st, arena: &scratch.arena };
        let reader = access.reader.of_version(older);
        put_versioned_batch(run.program, reader, &batch, &mut target, &mut scratch.projection, env);
        rows += batch.len() as u64;
        run.st.count_examined(batch.len());
        run.st.fail_if_killed()?;
        if target.out.wants_flush() {
            scan.suspend();
            flush(target.out).map_err(ExecError::Send)?;
        }
    }
    scratch.scan = Some(scan.into_memory());
    Ok(Some(rows))
}

fn send_aggregates(
    aggregate: &AggregateOp,
    run: &QueryRun<'_>,
    mut target: RowTarget<'_>,
    scratch: &mut Scratch,
) -> Result<u64> {
    let Op::Access(access) = &aggregate.input else { return Ok(0) };
    let mut states = std::mem::take(&mut scratch.ints);
    states.clear();
    states.extend(aggregate.ints.iter().flatten().map(|spec| IntState::new(*spec)));
    if access.is_versioned() {
        fold_versions(access, run, &mut states, scratch)?;
    } else if let Some(mut scan) = open(access, run, scratch)? {
        let env = RowEnv { st: run.st, arena: &scratch.arena };
        while let Some(rows) = scan.next_batch()? {
            run.st.count_examined(rows.len());
            let batch = RowBatch { rel: access.rel, rows, reader: &access.reader, env, parent: None };
            for state in &mut states {
                state.batch(&batch);
            }
            run.st.fail_if_killed()?;
        }
        scratch.scan = Some(scan.into_memory());
    }
    let outputs = &run.program.outputs;
    let packet = target.begin(outputs.len());
    for (i, output) in outputs.iter().enumerate() {
        if let OutputValue::Column { col, .. } = output.value {
            let position = usize::from(col);
            let value = states[position].result(&aggregate.aggs[position].ty);
            output.encoder.put_value(&value, packet.map(|packet| (packet, i)), target.charset, target.out);
        }
    }
    target.out.end_packet();
    scratch.ints = states;
    Ok(1)
}

/// Takes the access's rows, which may have older row format versions, into `states`.
#[cold]
#[inline(never)]
fn fold_versions(
    access: &AccessOp,
    run: &QueryRun<'_>,
    states: &mut [IntState],
    scratch: &mut Scratch,
) -> Result<()> {
    let Some(scan) = open(access, run, scratch)? else { return Ok(()) };
    let mut scan = scan.versioned();
    while let Some((rows, older)) = scan.next_versioned_batch()? {
        run.st.count_examined(rows.len());
        let env = RowEnv { st: run.st, arena: &scratch.arena };
        let reader = access.reader.of_version(older);
        let batch = RowBatch { rel: access.rel, rows, reader, env, parent: None };
        for state in states.iter_mut() {
            state.batch(&batch);
        }
        run.st.fail_if_killed()?;
        scratch.arena.reset();
    }
    scratch.scan = Some(scan.into_memory());
    Ok(())
}
