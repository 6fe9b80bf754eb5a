use super::*;
use crate::sysvars::{Access, Scope, VarKind};

fn assign(vars: &mut Variables, name: &str, set: SetValue) -> Result<Assigned, SqlError> {
    let number = find(name).unwrap();
    vars.assign(number, &set, &ALL[number].default_value())
}

fn text(value: &str) -> SetValue {
    SetValue::Text(value.to_owned())
}

#[test]
fn the_table_is_sorted_and_every_default_is_allowed() {
    for pair in ALL.windows(2) {
        assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
    }
    for def in ALL {
        assert!(def.parse(def.default).is_some(), "default of {}", def.name);
        let shown = def.default_value().show().unwrap_or_else(|| "NULL".to_owned());
        let same = shown == def.default || matches!(def.kind, VarKind::Double(..));
        assert!(same, "{}: {shown}", def.name);
    }
    assert!(ALL.iter().any(|def| def.scope == Scope::Global && def.access == Access::Fixed));
}

#[test]
fn names_are_found_in_any_case() {
    assert_eq!(ALL[find("SQL_Mode").unwrap()].name, "sql_mode");
    assert_eq!(find("tx_isolation"), None);
}

#[test]
fn defaults_are_those_of_mysql_8_4() {
    let vars = Variables::defaults();
    assert_eq!(
        vars.named("sql_mode").as_text(),
        "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,\
         NO_ENGINE_SUBSTITUTION"
    );
    assert!(vars.hot.autocommit && vars.hot.sql_mode.is_strict());
    assert_eq!(vars.hot.sql_mode, types::SqlModes::DEFAULT);
    assert_eq!(vars.hot.max_allowed_packet, 67_108_864);
    assert_eq!(vars.hot.isolation, crate::sysvars::Isolation::RepeatableRead);
}

#[test]
fn assignments_keep_typed_copies_in_step() {
    let mut vars = Variables::defaults();
    let shared = vars.clone();
    assign(&mut vars, "autocommit", SetValue::Int(0)).unwrap();
    assign(&mut vars, "sql_mode", text("")).unwrap();
    assign(&mut vars, "transaction_isolation", text("read-committed")).unwrap();
    assert!(!vars.hot.autocommit && !vars.hot.sql_mode.is_strict());
    assert_eq!(vars.named("transaction_isolation").as_text(), "READ-COMMITTED");
    assert!(shared.hot.autocommit);
    assert!(shared.named("autocommit").as_bool());
}

#[test]
fn wrong_values_and_types_are_told_apart() {
    let mut vars = Variables::defaults();
    let code = |result: Result<Assigned, SqlError>| result.unwrap_err().code;
    assert_eq!(code(assign(&mut vars, "autocommit", SetValue::Int(2))), 1231);
    assert_eq!(code(assign(&mut vars, "sql_mode", text("foo"))), 1231);
    assert_eq!(code(assign(&mut vars, "wait_timeout", text("a"))), 1232);
    assert_eq!(code(assign(&mut vars, "character_set_client", text("klingon"))), 1115);
    assert_eq!(code(assign(&mut vars, "character_set_client", SetValue::Null)), 1231);
    assert_eq!(code(assign(&mut vars, "collation_connection", text("foo_ci"))), 1273);
    assert_eq!(code(assign(&mut vars, "time_zone", text("Mars/Phobos"))), 1298);
    let error = assign(&mut vars, "autocommit", text("maybe")).unwrap_err();
    assert_eq!(error.message, "Variable 'autocommit' can't be set to the value of 'maybe'");
}

#[test]
fn numbers_out_of_range_are_clamped_with_a_warning() {
    let mut vars = Variables::defaults();
    let done = assign(&mut vars, "wait_timeout", SetValue::Int(0)).unwrap();
    assert_eq!(done.warning.unwrap().message, "Truncated incorrect wait_timeout value: '0'");
    assert_eq!(vars.hot.wait_timeout, 1);
    assign(&mut vars, "sql_mode", text("STRICT_ALL_TABLES")).unwrap();
    assert_eq!(assign(&mut vars, "wait_timeout", SetValue::Int(-1)).unwrap_err().code, 1231);
}

#[test]
fn character_sets_and_collations_move_together() {
    let mut vars = Variables::defaults();
    assign(&mut vars, "character_set_connection", text("latin1")).unwrap();
    assert_eq!(vars.named("collation_connection").as_text(), "latin1_swedish_ci");
    assign(&mut vars, "collation_connection", text("utf8mb4_bin")).unwrap();
    assert_eq!(vars.named("character_set_connection").as_text(), "utf8mb4");
    assign(&mut vars, "character_set_results", SetValue::Null).unwrap();
    assert_eq!(vars.hot.results.collation, None);
}

#[test]
fn single_switches_of_the_optimizer_are_set() {
    let mut vars = Variables::defaults();
    assign(&mut vars, "optimizer_switch", text("semijoin=off")).unwrap();
    assert!(vars.named("optimizer_switch").as_text().contains(",semijoin=off,"));
    assert_eq!(assign(&mut vars, "optimizer_switch", text("warp=on")).unwrap_err().code, 1231);
}
