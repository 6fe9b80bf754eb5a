//! Samples of indexes against what is in the tables.

use std::sync::Arc;
use std::time::Duration;

use trx::BeginOptions;

use super::support::*;
use crate::{Engine, Table};

/// A table of `count` rows: `k` has `values` values and, in every third row, NULL.
fn filled(engine: &Arc<Engine>, name: &str, count: i32, values: i32) -> Arc<Table> {
    filled_with_nulls(engine, name, count, |id| (id % 3 != 0).then_some(id % values))
}

/// A table of `count` rows with `k` of each.
fn filled_with_nulls(
    engine: &Arc<Engine>,
    name: &str,
    count: i32,
    k: impl Fn(i32) -> Option<i32>,
) -> Arc<Table> {
    let table = engine.create_table(wide_def(name)).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..count {
        let k = k(id);
        insert(engine, &table, &mut trx, &Wide { k, ..Wide::new(id, 0, &format!("c{id}")) }).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    table
}

#[test]
fn a_small_index_is_counted_exactly() {
    let (engine, _disk) = engine();
    let table = filled(&engine, "t", 700, 7);
    let found = table.statistics(&engine).unwrap();
    let shares: Vec<f64> = found.keys.iter().map(|key| key.rows_per_prefix[0]).collect();
    // Seven values and NULL; nothing but NULL in the last.
    assert_eq!((found.rows, &shares[..]), (700, &[1.0, 87.5, 1.0, 700.0][..]));
    let nulls: Vec<f64> = found.keys.iter().map(|key| key.null_share).collect();
    assert_eq!(nulls, [0.0, 234.0 / 700.0, 0.0, 1.0]);
}

#[test]
fn a_large_index_is_sampled_and_again_when_it_has_grown() {
    let (engine, _disk) = engine();
    let table = filled(&engine, "t", 9_000, 600);
    let per_value = |table: &Table| table.statistics(&engine).unwrap().keys[1].rows_per_prefix[0];
    // 400 values and NULL: 22 rows for each.
    assert!((15.0..=35.0).contains(&per_value(&table)), "{}", per_value(&table));
    let (first, second) = (table.statistics(&engine).unwrap(), table.statistics(&engine).unwrap());
    assert!(Arc::ptr_eq(&first, &second), "sampled twice");
    let mut trx = engine.begin(BeginOptions::default());
    let version = engine.catalog_version();
    for id in 9_000..20_000 {
        insert(&engine, &table, &mut trx, &Wide::new(id, 1_000_000 + id, &format!("c{id}"))).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    assert!(engine.catalog_version() > version, "plans for a smaller table are kept");
    assert!((1.0..=4.0).contains(&per_value(&table)), "{}", per_value(&table));
}

#[test]
fn the_nulls_of_a_large_index_are_not_left_to_chance() {
    let (engine, _disk) = engine();
    for every in [2, 30, 400] {
        let table =
            filled_with_nulls(&engine, &format!("t{every}"), 9_000, |id| (id % every != 0).then_some(id));
        let share = table.statistics(&engine).unwrap().keys[1].null_share * f64::from(every);
        assert!((0.7..=1.4).contains(&share), "{share} of one in {every}");
    }
}

#[test]
fn nothing_is_sampled_while_a_table_is_changed() {
    let (engine, _disk) = engine();
    let table = filled(&engine, "t", 10, 3);
    engine.drop_table("s", "t", Duration::from_secs(1)).unwrap();
    assert_eq!(table.statistics(&engine), None);
}
