//! How the engine treats locks, by MySQL's variables.

use engine::Engine;

use crate::sysvars::Variables;

const DETECTION: &str = "innodb_deadlock_detect";

/// Gives the engine all settings.
pub(crate) fn configure(engine: &Engine, variables: &Variables) {
    changed(engine, variables, DETECTION);
}

/// Gives the engine the setting called `name`, if it is one of these.
pub(crate) fn changed(engine: &Engine, variables: &Variables, name: &str) {
    if name == DETECTION {
        engine.trx_system().set_deadlock_detection(variables.named(DETECTION).as_bool());
    }
}
