//! Limits on memory: from the system variables to the accounts.

use std::fs;

use base::memory::{Charge, ConnectionLimits, LimitExceeded, Purpose, ServerAccount};
use bumpalo::Bump;

use crate::error_map::SqlError;
use crate::memory_error;
use crate::process_list::Kill;
use crate::run;
use crate::server::Server;
use crate::session::Session;
use crate::sysvars::{VarValue, Variables};

/// Least default of `ratchet_memory_limit`, bytes.
const SERVER_BYTES_MIN: u64 = 256 << 20;

/// Syntax trees up to this size are not charged, nor are their plans, bytes.
const TREE_BYTES_FREE: usize = 1 << 20;
/// Texts shorter than this are parsed without a bound on their tree, bytes.
const TEXT_BYTES_FREE: usize = 64 << 10;
/// Bytes of tree, plan and program for each byte of a large syntax tree: measured with lists of literals.
const PLAN_BYTES_PER_TREE_BYTE: usize = 10;

/// Gives the server's account its limits, and `ratchet_memory_limit` its default.
pub(crate) fn configure(account: &ServerAccount, variables: &mut Variables) {
    if variables.named("ratchet_memory_limit").as_u64() == 0 {
        let pool = variables.named("innodb_buffer_pool_size").as_u64();
        let bytes = (machine_bytes() / 5 * 4).saturating_sub(pool).max(SERVER_BYTES_MIN);
        variables.put_named("ratchet_memory_limit", VarValue::UInt(bytes));
    }
    account.set_limit(variables.named("ratchet_memory_limit").as_u64());
    account.set_tracked_limit(variables.named("global_connection_memory_limit").as_u64());
}

/// Takes over the new global value of variable `name`, if it is a limit.
pub(crate) fn changed(server: &Server, variables: &mut Variables, name: &str) {
    match name {
        "ratchet_memory_limit" | "global_connection_memory_limit" => configure(&server.memory, variables),
        "ratchet_plan_cache_size" => {
            server.plans.set_bytes_max(variables.named("ratchet_plan_cache_size").as_u64());
        }
        _ => {}
    }
}

/// Memory that the machine has for this process, bytes.
fn machine_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    let machine = (info.totalram as u64).saturating_mul(u64::from(info.mem_unit));
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX);
    machine.min(group)
}

/// Whether a session's value of variable `name` is a limit on its memory.
pub(crate) fn is_limit(name: &str) -> bool {
    matches!(
        name,
        "connection_memory_chunk_size"
            | "connection_memory_limit"
            | "global_connection_memory_tracking"
            | "ratchet_statement_memory_limit"
    )
}

/// The memory limits of a session with these variables.
pub(crate) fn of_session(variables: &Variables, is_admin: bool) -> ConnectionLimits {
    ConnectionLimits {
        statement_bytes: variables.named("ratchet_statement_memory_limit").as_u64(),
        connection_bytes: variables.named("connection_memory_limit").as_u64(),
        step_bytes: variables.named("connection_memory_chunk_size").as_u64(),
        tracked: variables.named("global_connection_memory_tracking").as_bool(),
        exempt: is_admin,
    }
}

/// Most bytes that the syntax tree of a text of `text_bytes` may have while it is parsed: a larger one is
/// refused by [`charge_plan`].
pub(crate) fn tree_bytes_max(session: &Session, text_bytes: usize) -> usize {
    if text_bytes < TEXT_BYTES_FREE {
        return usize::MAX;
    }
    let available = usize::try_from(session.statement_memory.available()).unwrap_or(usize::MAX);
    (available / PLAN_BYTES_PER_TREE_BYTE).max(TREE_BYTES_FREE)
}

/// The client's error for a text whose parse failed; the arena has the part of the tree that was made.
#[cold]
pub(crate) fn parse_error(session: &Session, arena: &Bump, error: &sql::ParseError) -> SqlError {
    if let Err(killed) = session.fail_if_killed() {
        return killed;
    }
    match error.kind {
        sql::ParseErrorKind::OutOfMemory => {
            charge_plan(session, arena).err().unwrap_or_else(|| run::parse_error(error))
        }
        _ => run::parse_error(error),
    }
}

/// Charges for the plan of a statement whose syntax tree is in `arena`, before the plan is made.
///
/// # Errors
/// 1041, 4081, 4082.
pub(crate) fn charge_plan(session: &Session, arena: &Bump) -> Result<Charge, SqlError> {
    let charge = Charge::new(&session.statement_memory, Purpose::Other);
    let tree = arena.allocated_bytes();
    if tree > TREE_BYTES_FREE {
        charge
            .add(tree.saturating_mul(PLAN_BYTES_PER_TREE_BYTE))
            .map_err(|exceeded| refuse(session, exceeded))?;
    }
    Ok(charge)
}

/// The client's error for memory that its session may not have; ends the connection where the limit does.
#[cold]
pub(crate) fn refuse(session: &Session, exceeded: LimitExceeded) -> SqlError {
    if matches!(exceeded, LimitExceeded::Connection { .. } | LimitExceeded::AllConnections { .. }) {
        session.process.kill_self(Kill::Connection);
    }
    memory_error::of(exceeded)
}

/// Counters of SHOW STATUS. The figure comes from the allocator where it has one.
pub(crate) fn counters(server: &Server) -> impl Iterator<Item = (&'static str, u64)> {
    let heap = server.heap_bytes().map(|bytes| ("Ratchet_heap_bytes", bytes));
    let charged = [
        ("Global_connection_memory", server.memory.tracked()),
        ("Ratchet_memory_charged", server.memory.charged()),
        ("Ratchet_plan_cache_bytes", server.plans.bytes()),
        ("Ratchet_plan_cache_environments", server.plans.environments()),
        ("Ratchet_plans_made", server.plans.made()),
    ];
    charged.into_iter().chain(heap)
}
