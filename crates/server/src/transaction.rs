//! Where sessions begin and end transactions.
//!
//! A session has one [`Trx`] object for its life. Between transactions it holds nothing; every statement that
//! reads or changes rows restarts it if no transaction is open, and gives it back when the statement is over.

use std::sync::Arc;
use std::time::Duration;

use ::trx::{Client, ClientSettings};
use engine::{BeginOptions, Effect, Trx};

use crate::engine_error;
use crate::error_map::{self, SqlError};
use crate::process_list::Kill;
use crate::session::transaction_state::TransactionState;
use crate::session::{NextTransaction, Session};
use crate::status::Com;

/// BEGIN or START TRANSACTION: commits what is open, then begins.
///
/// # Errors
/// Those of [`commit`].
pub fn begin(session: &mut Session, read_only: bool, snapshot: bool) -> Result<(), SqlError> {
    if session.transaction.open {
        let next = session.next_transaction;
        commit(session)?;
        session.next_transaction = next;
    }
    session.release_table_locks();
    session.next_transaction.read_only = Some(read_only);
    let mut trx = enter(session);
    if snapshot && (trx.isolation() == trx::Isolation::RepeatableRead || trx.is_snapshot()) {
        trx.view();
    }
    let noted = trx.is_active();
    if noted {
        show_open_transaction(session, &trx);
    }
    session.transaction = TransactionState { open: true, read_only, noted, trx: Some(trx) };
    Ok(())
}

/// COMMIT; without an open transaction nothing happens.
///
/// # Errors
/// 1053: the engine has rolled the transaction back on its way out.
#[inline]
pub fn commit(session: &mut Session) -> Result<(), SqlError> {
    session.next_transaction = NextTransaction::default();
    commit_open(session)
}

/// As [`commit`], but what SET TRANSACTION said of the next transaction stays in force.
#[inline]
fn commit_open(session: &mut Session) -> Result<(), SqlError> {
    end(session);
    match &mut session.transaction.trx {
        Some(trx) if trx.is_open() => session.server.engine.commit(trx).map_err(|error| {
            if error.effect() == Effect::Server {
                // Whether the changes are durable is unknown, so neither answer may be sent.
                session.server.fail(&error);
            }
            engine_error::plain(&error)
        }),
        _ => Ok(()),
    }
}

/// The transaction state that the client sees from here on.
#[inline]
fn end(session: &mut Session) {
    let state = &mut session.transaction;
    state.open = false;
    state.read_only = false;
    if state.noted {
        state.noted = false;
        session.process.end_transaction();
        session.publish_settings();
    }
}

/// Tells the process list of a transaction that stays open after its statement.
fn show_open_transaction(session: &Session, trx: &Trx) {
    let settings = session.settings();
    session.process.set_settings(ClientSettings {
        isolation: trx.isolation(),
        read_only: trx.read_only(),
        ..settings
    });
    session.process.begin_transaction();
}

/// ROLLBACK; without an open transaction nothing happens.
pub fn rollback(session: &mut Session) {
    session.next_transaction = NextTransaction::default();
    end(session);
    if let Some(trx) = &mut session.transaction.trx
        && trx.is_open()
    {
        session.process.begin_rollback();
        if let Err(error) = session.server.engine.rollback(trx) {
            not_undone(session, &error);
        }
        session.process.end_rollback();
    }
}

/// A transaction cannot be rolled back. One whose undo cannot be read stays in progress without its session,
/// until a start undoes it by the log.
#[cold]
fn not_undone(session: &Session, error: &engine::Error) {
    if error.effect() != Effect::Connection {
        // Pages that cannot be changed back: nothing that is written from here on could be trusted.
        session.server.fail(error);
    }
    session.server.log.error(&error.to_string());
    session.process.kill_self(Kill::Connection);
}

/// SAVEPOINT. Outside a transaction there is nothing to come back to.
///
/// # Errors
/// None.
pub fn savepoint(session: &mut Session, name: &str) -> Result<(), SqlError> {
    session.counters.count(Com::Savepoint);
    if !session.transaction.open && session.variables.hot.autocommit {
        return Ok(());
    }
    let mut trx = enter(session);
    trx.set_savepoint(name);
    session.transaction.open = true;
    session.transaction.trx = Some(trx);
    Ok(())
}

/// ROLLBACK TO SAVEPOINT.
///
/// # Errors
/// 1305.
pub fn rollback_to(session: &mut Session, name: &str) -> Result<(), SqlError> {
    session.counters.count(Com::RollbackToSavepoint);
    let server = &session.server;
    let trx = session.transaction.trx.as_mut().filter(|trx| trx.is_open());
    let trx = trx.ok_or_else(|| no_savepoint(name))?;
    match server.engine.rollback_to_savepoint(trx, name) {
        Err(engine::Error::Lock(trx::Error::NoSuchSavepoint)) => Err(no_savepoint(name)),
        // Half of it is undone, and the rest must not be committed.
        Err(error) if matches!(error.effect(), Effect::Server | Effect::Connection) => {
            not_undone(session, &error);
            Err(engine_error::plain(&error))
        }
        other => other.map_err(|e| engine_error::plain(&e)),
    }
}

/// RELEASE SAVEPOINT.
///
/// # Errors
/// 1305.
pub fn release_savepoint(session: &mut Session, name: &str) -> Result<(), SqlError> {
    let trx = session.transaction.trx.as_mut().filter(|trx| trx.is_open());
    let trx = trx.ok_or_else(|| no_savepoint(name))?;
    trx.release_savepoint(name).map_err(|_| no_savepoint(name))
}

#[cold]
fn no_savepoint(name: &str) -> SqlError {
    error_map::SP_DOES_NOT_EXIST.with(&[&"SAVEPOINT", &name])
}

/// Commits before a statement that cannot be undone.
///
/// # Errors
/// 1792 where the session's transactions are READ ONLY, and those of [`commit`].
pub(crate) fn commit_implicitly(session: &mut Session) -> Result<(), SqlError> {
    commit(session)?;
    ensure_may_write(session)
}

/// Error 1792 where a transaction that begins now is READ ONLY.
///
/// # Errors
/// See above.
pub(crate) fn ensure_may_write(session: &Session) -> Result<(), SqlError> {
    if options(session).read_only {
        return Err(error_map::CANT_EXECUTE_IN_READ_ONLY_TRANSACTION.bare());
    }
    Ok(())
}

/// Whether a statement that begins now is a transaction of its own.
#[inline]
pub(crate) fn is_autocommit(session: &Session) -> bool {
    !session.transaction.open && session.variables.hot.autocommit
}

/// The session's transaction object, open, for one statement. [`leave`] takes it back; if it never comes
/// there, as when the statement panics, its drop rolls the transaction back. Cost: no allocation but the
/// session's first.
#[inline]
pub fn enter(session: &mut Session) -> Box<Trx> {
    match session.transaction.trx.take() {
        Some(trx) if trx.is_open() => trx,
        Some(mut trx) => {
            trx.restart(options(session));
            trx
        }
        None => first(session),
    }
}

/// Gives the open transaction the time limits of the session's variables: each wait obeys them as they are
/// when it begins.
pub(crate) fn take_lock_waits(session: &mut Session) {
    let BeginOptions { lock_wait, metadata_wait, .. } = options(session);
    if let Some(trx) = &mut session.transaction.trx {
        trx.set_lock_waits(lock_wait, metadata_wait);
    }
}

#[cold]
fn first(session: &Session) -> Box<Trx> {
    let mut trx = session.server.engine.begin(options(session));
    trx.set_interrupt(session.process.interrupt());
    let client: Arc<dyn Client> = Arc::clone(&session.process) as _;
    trx.set_client(Arc::downgrade(&client));
    trx.set_session(u64::from(session.process.id()), session.table_locks.is_some());
    Box::new(trx)
}

fn options(session: &Session) -> BeginOptions {
    let (hot, next) = (&session.variables.hot, session.next_transaction);
    BeginOptions {
        isolation: next.isolation.unwrap_or(hot.isolation),
        read_only: next.read_only.unwrap_or(hot.transaction_read_only),
        lock_wait: Duration::from_secs(hot.innodb_lock_wait_timeout),
        metadata_wait: Duration::from_secs(hot.lock_wait_timeout),
        snapshot_isolation: hot.innodb_snapshot_isolation,
    }
}

/// Ends a statement that has run on `trx` to its end. `autocommit`: what [`is_autocommit`] said when it
/// began.
///
/// # Errors
/// Those of [`commit`].
#[inline(always)]
pub fn leave(session: &mut Session, mut trx: Box<Trx>, autocommit: bool) -> Result<(), SqlError> {
    if autocommit {
        if session.next_transaction != NextTransaction::default() {
            use_up(session, &trx);
        }
        session.transaction.trx = Some(trx);
        return commit_open(session);
    }
    trx.end_statement();
    if trx.is_active() && !session.transaction.noted {
        note_open(session, &trx);
    }
    session.transaction.trx = Some(trx);
    Ok(())
}

/// What SET TRANSACTION said is for the next transaction that uses a table.
#[cold]
fn use_up(session: &mut Session, trx: &Trx) {
    if trx.is_active() {
        session.next_transaction = NextTransaction::default();
    }
}

/// The first statement of a transaction is over that has used a table.
#[cold]
fn note_open(session: &mut Session, trx: &Trx) {
    show_open_transaction(session, trx);
    session.transaction.noted = true;
    if !session.transaction.open {
        session.transaction.open = true;
        session.transaction.read_only = trx.read_only();
    }
}

/// Ends a statement that has failed. The statement itself has undone what it did, if `effect` says no more.
/// `refused`: it was not to run at all in a READ ONLY transaction.
#[cold]
pub(crate) fn leave_failed(
    session: &mut Session,
    mut trx: Box<Trx>,
    autocommit: bool,
    effect: Effect,
    refused: bool,
) {
    let next =
        if trx.is_active() && !refused { NextTransaction::default() } else { session.next_transaction };
    trx.end_statement();
    session.transaction.trx = Some(trx);
    if autocommit || effect != Effect::Statement {
        rollback(session);
        session.next_transaction = next;
    }
}
