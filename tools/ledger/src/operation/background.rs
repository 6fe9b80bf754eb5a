//! Work that statements leave to background threads: the operations' statements are not counted, the work is.

use engine::{Engine, Result};

use super::whole_tables::{CREATE, DROP, FILL};
use super::{Draw, NONINDEX, Operation, Request, Unit, nonindex_update, of};
use crate::client::Param;

/// All of one kind of work that there is to do; the entries or pages that it was.
pub(crate) type Work = fn(&Engine) -> Result<u64>;

/// Statements that leave work, each for a row of its own.
const STATEMENTS: u32 = 5_000;
/// Transactions, and thus at most rows, of one step of purge.
const TRANSACTIONS_PER_STEP: usize = 1_000;

pub(super) fn all() -> Vec<Operation> {
    const INDEX: &str = "UPDATE sbtest2 SET k=k+1 WHERE id=?";
    const DELETE: &str = "DELETE FROM sbtest2 WHERE id=?";
    let by_id = |draw: &mut Draw| vec![Param::Int(draw.taken_id())];
    let left = |name, request, work: Work| Operation {
        work: Some(work),
        ..of(name, STATEMENTS, Unit::Work, request)
    };
    // All of them draw the same rows, which are gone at last.
    vec![
        left("write_back_page", Request::Prepared(NONINDEX, nonindex_update), write_back),
        left("purge_update_index", Request::Prepared(INDEX, by_id), purge),
        left("purge_delete", Request::Prepared(DELETE, by_id), purge),
        Operation {
            before: &[CREATE, FILL],
            after: &[DROP],
            work: Some(convert),
            ..of("convert_page", 1, Unit::Work, Request::Text(add_column))
        },
    ]
}

fn add_column(_: &mut Draw) -> String {
    "ALTER TABLE whole ADD COLUMN n INT NOT NULL DEFAULT 7 AFTER id".to_owned()
}

/// Purges; how many records and entries were removed.
fn purge(engine: &Engine) -> Result<u64> {
    let mut removed = 0;
    loop {
        let report = engine.purge_step(TRANSACTIONS_PER_STEP)?;
        if report.transactions == 0 {
            return Ok(removed);
        }
        removed += report.removed as u64;
    }
}

/// Writes all changed pages and a checkpoint; how many pages.
fn write_back(engine: &Engine) -> Result<u64> {
    let written = || engine.store().pool().stats().page_writes;
    let before = written();
    engine.checkpoint()?;
    Ok(written() - before)
}

/// Converts pages with an older row format version; how many.
fn convert(engine: &Engine) -> Result<u64> {
    let before = engine.store().conversions();
    while engine.conversion_step()? {}
    Ok(engine.store().conversions() - before)
}

/// Does all work that earlier statements have left.
pub(crate) fn settle(engine: &Engine) -> Result<()> {
    purge(engine)?;
    convert(engine)?;
    write_back(engine).map(drop)
}
