//! How much undo the engine may keep, and how much of it in memory.

use engine::Engine;

use crate::sysvars::{VarValue, Variables};

const LIMIT: &str = "ratchet_undo_max_size";
const MEMORY: &str = "ratchet_undo_memory_size";

/// Most memory for undo unless more is asked for.
const MEMORY_DEFAULT_MAX: u64 = 1 << 30;

/// Gives the engine all settings.
pub(crate) fn configure(engine: &Engine, variables: &Variables) {
    for name in [LIMIT, MEMORY] {
        changed(engine, variables, name);
    }
}

/// Gives the engine the setting called `name`, if it is one of these.
pub(crate) fn changed(engine: &Engine, variables: &Variables, name: &str) {
    match name {
        LIMIT => engine.set_undo_limit(variables.named(LIMIT).as_u64()),
        MEMORY => engine.set_undo_memory(memory_bytes(variables)),
        _ => {}
    }
}

/// Puts the bytes of memory where none were asked for.
pub(crate) fn fill(variables: &mut Variables) {
    variables.put_named(MEMORY, VarValue::UInt(memory_bytes(variables)));
}

/// Bytes of memory for undo: as many as were asked for; else half as many as for pages, up to 1 GiB.
fn memory_bytes(variables: &Variables) -> u64 {
    match variables.named(MEMORY).as_u64() {
        0 => MEMORY_DEFAULT_MAX.min(variables.named("innodb_buffer_pool_size").as_u64() / 2),
        asked_for => asked_for,
    }
}
