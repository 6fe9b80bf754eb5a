//! A snapshot of all tables for a statement that has no transaction.

use std::sync::Arc;

use trx::{BeginOptions, ReadView, RollbackOnDrop, Trx, TrxOutcome};

use crate::engine::Engine;

/// What is committed when it is taken; purge keeps what it sees while this lives.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) view: ReadView,
    _reader: Trx,
}

impl Snapshot {
    /// Sees every transaction that has ended.
    pub(super) fn take(engine: &Engine) -> Self {
        engine.trx.advance(engine.store.log().current());
        let options = BeginOptions { read_only: true, ..BeginOptions::default() };
        let mut reader = Trx::begin(&engine.trx, Arc::new(NothingToUndo), options);
        Snapshot { view: reader.view(), _reader: reader }
    }
}

/// The owner of transactions that change nothing.
#[derive(Debug)]
struct NothingToUndo;

impl RollbackOnDrop for NothingToUndo {
    fn roll_back_dropped(&self, trx: &mut Trx) {
        trx.end(TrxOutcome::Nothing).unwrap_or_default();
    }
}
