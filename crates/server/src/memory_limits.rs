//! Limits on memory: from the system variables to the accounts.

use std::fs;

use base::memory::{ConnectionLimits, LimitExceeded, ServerAccount};

use crate::error_map::SqlError;
use crate::memory_error;
use crate::plan_cache::PlanCache;
use crate::process_list::{Kill, Process};
use crate::sysvars::{VarValue, Variables};

/// Least default of `ratchet_memory_limit`, bytes.
const SERVER_BYTES_MIN: u64 = 256 << 20;

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
pub(crate) fn changed(account: &ServerAccount, plans: &PlanCache, variables: &mut Variables, name: &str) {
    match name {
        "ratchet_memory_limit" | "global_connection_memory_limit" => configure(account, variables),
        "ratchet_plan_cache_size" => {
            plans.set_bytes_max(variables.named("ratchet_plan_cache_size").as_u64());
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

/// The error for memory that the session of `process` may not have; ends the connection where the limit does.
#[cold]
pub(crate) fn refuse(process: &Process, exceeded: LimitExceeded) -> SqlError {
    if matches!(exceeded, LimitExceeded::Connection { .. } | LimitExceeded::AllConnections { .. }) {
        process.kill_self(Kill::Connection);
    }
    memory_error::of(exceeded)
}
