//! What a schema change takes from statements beside it, by our own variable.

use engine::Engine;

use crate::sysvars::Variables;

const THROTTLE: &str = "ratchet_ddl_throttle";

/// Gives the engine all settings.
pub(crate) fn configure(engine: &Engine, variables: &Variables) {
    changed(engine, variables, THROTTLE);
}

/// Gives the engine the setting called `name`, if it is one of these.
pub(crate) fn changed(engine: &Engine, variables: &Variables, name: &str) {
    if name == THROTTLE {
        // 1 to 100.
        engine.set_ddl_throttle(variables.named(THROTTLE).as_u64() as u32);
    }
}
