//! OK and ERR packets: how commands end.

use wire::reply::StateChange;
use wire::{Capabilities, OkPacket, OutBuffer, ServerStatus, reply};

use crate::error_map::SqlError;
use crate::session::Session;

/// Writes an ERR packet.
#[cold]
pub fn write_error(out: &mut OutBuffer, error: &SqlError) {
    reply::write_error(out, error.code, error.sqlstate, &error.message);
}

/// Writes an OK packet with nothing but the session's status.
pub(crate) fn write_plain_ok(session: &mut Session, out: &mut OutBuffer) {
    write_ok(session, out, &OkPacket::default(), false);
}

/// Writes an OK packet: `ok` completed by the session's status, warnings and state changes.
#[inline]
pub fn write_ok(session: &mut Session, out: &mut OutBuffer, ok: &OkPacket<'_>, more_results: bool) {
    let status = session.status().with(ServerStatus::MORE_RESULTS, more_results);
    let warnings = session.diagnostics.packet_count();
    let plain = OkPacket { status, warnings, ..*ok };
    if session.changes.is_empty() {
        return reply::write_ok(out, session.capabilities, &plain);
    }
    write_changes(session, out, &plain);
}

/// Writes an OK packet with the session's state changes, if the client asked for that.
#[cold]
fn write_changes(session: &mut Session, out: &mut OutBuffer, plain: &OkPacket<'_>) {
    let pending = std::mem::take(&mut session.changes);
    if !session.capabilities.has(Capabilities::SESSION_TRACK) {
        return reply::write_ok(out, session.capabilities, plain);
    }
    let values: Vec<_> = pending
        .variables
        .iter()
        .map(|&name| (name, session.variables.named(name).show().unwrap_or_default()))
        .collect();
    let mut changes: Vec<_> =
        values.iter().map(|(name, value)| StateChange::Variable { name, value }).collect();
    if pending.schema && session.variables.named("session_track_schema").as_bool() {
        changes.push(StateChange::Schema(session.database.as_deref().unwrap_or_default()));
    }
    reply::write_ok(out, session.capabilities, &OkPacket { changes: &changes, ..*plain });
}
