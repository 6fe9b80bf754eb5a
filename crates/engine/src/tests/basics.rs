//! One session: rows in, rows changed, rows out.

use super::support::*;
use crate::*;

#[test]
fn rows_are_found_by_key_and_by_scan_after_commit() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let table = engine.open_table(&mut trx, "s", &table.def.name).unwrap();
    for id in (0..500).rev() {
        insert(&engine, &table, &mut trx, &Wide::new(id, id % 7, &format!("name {id}"))).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    let mut reader = engine.begin(BeginOptions::default());
    let view = reader.view();
    let all = rows(&engine, &table, view);
    assert_eq!(all.iter().map(|row| row.id).collect::<Vec<_>>(), (0..500).collect::<Vec<_>>());
    let found = table.get(&engine, &view, &key(42), |row| Wide::read(&engine, &row)).unwrap();
    assert_eq!(found, Some(Wide::new(42, 0, "name 42")));
    assert_eq!(table.get(&engine, &view, &key(500), |_| ()).unwrap(), None);
    assert_eq!(table.row_count_estimate(), 500);
    assert_sound(&engine, &table);
}
