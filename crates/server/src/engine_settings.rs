//! Variables that are settings of the engine.

use engine::Engine;

use crate::sysvars::Variables;

const DEADLOCK_DETECTION: &str = "innodb_deadlock_detect";
const DDL_THROTTLE: &str = "ratchet_ddl_throttle";

/// Gives the engine all settings.
pub(crate) fn configure(engine: &Engine, variables: &Variables) {
    for name in [DEADLOCK_DETECTION, DDL_THROTTLE] {
        changed(engine, variables, name);
    }
}

/// Gives the engine the setting called `name`, if it is one of these.
pub(crate) fn changed(engine: &Engine, variables: &Variables, name: &str) {
    match name {
        DEADLOCK_DETECTION => {
            engine.trx_system().set_deadlock_detection(variables.named(DEADLOCK_DETECTION).as_bool());
        }
        // 1 to 100.
        DDL_THROTTLE => engine.set_ddl_throttle(variables.named(DDL_THROTTLE).as_u64() as u32),
        _ => {}
    }
}
