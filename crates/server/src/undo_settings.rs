//! How much undo the engine may keep.

use engine::Engine;

use crate::sysvars::Variables;

const LIMIT: &str = "ratchet_undo_max_size";

/// Gives the engine all settings.
pub(crate) fn configure(engine: &Engine, variables: &Variables) {
    changed(engine, variables, LIMIT);
}

/// Gives the engine the setting called `name`, if it is one of these.
pub(crate) fn changed(engine: &Engine, variables: &Variables, name: &str) {
    if name == LIMIT {
        engine.set_undo_limit(variables.named(LIMIT).as_u64());
    }
}
