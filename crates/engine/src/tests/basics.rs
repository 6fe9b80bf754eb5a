//! One session: rows in, rows changed, rows out.

use base::prng::Prng;
use types::{ColumnDef, TableDef};

use super::support::*;
use crate::*;

/// The index and the bytes of the key that was there already.
fn duplicate(result: Result<()>) -> (Box<str>, Vec<u8>) {
    match result {
        Err(Error::DuplicateKey(key)) => (key.index, key.parts[0].value.clone().unwrap()),
        other => panic!("{other:?}"),
    }
}

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

#[test]
fn a_clash_names_the_key_and_leaves_the_row_out_of_every_index() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "abc")).unwrap();
    insert(&engine, &table, &mut trx, &Wide { c: None, ..Wide::new(2, 1, "") }).unwrap();
    insert(&engine, &table, &mut trx, &Wide { c: None, ..Wide::new(3, 1, "") }).unwrap();
    let clash = duplicate(insert(&engine, &table, &mut trx, &Wide::new(1, 5, "x")));
    assert_eq!(clash, ("PRIMARY".into(), 1i32.to_le_bytes().to_vec()));
    let long = Wide { body: Some("z".repeat(30_000)), ..Wide::new(9, 5, "ABC") };
    let used = engine.store().space_report().pages_used;
    assert_eq!(duplicate(insert(&engine, &table, &mut trx, &long)), ("u".into(), b"ABC".to_vec()));
    assert_eq!(engine.store().space_report().pages_used, used);
    let clash = update(&engine, &table, &mut trx, 2, &Wide::new(2, 1, "Abc")).map(drop);
    assert_eq!(duplicate(clash), ("u".into(), b"Abc".to_vec()));
    assert_eq!(ids_by_index(&engine, &table, 1, trx.view()), [1, 2, 3]);
    assert_sound(&engine, &table);
}

#[test]
fn find_duplicate_names_the_first_row_in_the_way() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    insert(&engine, &table, &mut trx, &Wide::new(1, 1, "a")).unwrap();
    insert(&engine, &table, &mut trx, &Wide::new(2, 1, "b")).unwrap();
    let mut find = |row: Wide| row.with(|row| table.find_duplicate(&engine, &mut trx, row)).unwrap();
    assert_eq!(find(Wide::new(1, 9, "b")), Some(Duplicate { clustered_key: key(1), index: 0 }));
    assert_eq!(find(Wide::new(3, 9, "B")), Some(Duplicate { clustered_key: key(2), index: 2 }));
    assert_eq!(find(Wide::new(3, 9, "c")), None);
    assert_eq!(find(Wide { c: None, ..Wide::new(3, 9, "") }), None);
}

#[test]
fn a_batch_with_a_clash_fails_at_the_row_that_mysql_names() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let int = |n: i32| n.to_le_bytes();
    let ids: Vec<_> = [5, 3, 8, 1, 3, 9].map(int).into_iter().collect();
    let names = ["e", "c", "h", "a", "x", "i"];
    let zero = int(0);
    let rows_of = |ids: &'static [[u8; 4]]| -> Vec<[Option<&[u8]>; 4]> {
        ids.iter()
            .zip(names)
            .map(|(id, c)| [Some(&id[..]), Some(&zero[..]), Some(c.as_bytes()), None])
            .collect()
    };
    let ids: &'static [[u8; 4]] = Box::leak(ids.into_boxed_slice());
    let batch = rows_of(ids);
    let slices: Vec<&[Option<&[u8]>]> = batch.iter().map(|row| &row[..]).collect();
    let (done, error) = table.insert_batch(&engine, &mut trx, &slices).unwrap_err();
    assert_eq!((done, duplicate(Err(error))), (4, ("PRIMARY".into(), 3i32.to_le_bytes().to_vec())));
    assert_eq!(ids_by_index(&engine, &table, 2, trx.view()), [1, 3, 5, 8]);
    engine.rollback(&mut trx).unwrap();
    trx.restart(BeginOptions::default());
    assert_eq!(table.insert_batch(&engine, &mut trx, &slices[..4]).unwrap(), 4);
    assert_eq!(ids_by_index(&engine, &table, 1, trx.view()), [1, 3, 5, 8]);
    assert_eq!(table.row_count_estimate(), 4);
    assert_sound(&engine, &table);
}

/// What a table holds after batches of rows, each before the next and some taken back.
fn after_batches(batches: &[Vec<Wide>]) -> Vec<Wide> {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    for (at, batch) in batches.iter().enumerate() {
        let mut trx = engine.begin(BeginOptions::default());
        let done = Wide::with_all(batch, |rows| table.insert_batch(&engine, &mut trx, rows));
        match done {
            Ok(done) => assert_eq!(done, batch.len()),
            Err((_, error)) => assert!(matches!(error, Error::DuplicateKey(_)), "{error}"),
        }
        if at % 3 == 2 {
            engine.rollback(&mut trx).unwrap();
        } else {
            engine.commit(&mut trx).unwrap();
        }
        assert_sound(&engine, &table);
    }
    rows(&engine, &table, ReadView::newest())
}

#[test]
fn rows_that_are_appended_at_once_are_those_that_are_put_one_by_one() {
    use crate::row::insert_batch::{APPENDED, NEVER_APPENDED};
    let mut prng = Prng::new(17);
    let mut next = 0;
    let mut batch = |count: i32, step: i32| -> Vec<Wide> {
        let row = |n: i32| {
            let body = (prng.below(9) == 0).then(|| "b".repeat(prng.below(20_000) as usize));
            Wide { body, c: None, ..Wide::new(n, n % 7, "") }
        };
        let from = next;
        next += count.max(1) * step;
        (0..count).map(|n| from + n * step).map(row).collect()
    };
    let mut batches: Vec<Vec<Wide>> = (0..12).map(|n| batch(40 * n, 1 + n % 2)).collect();
    // Between those that are there, in another order, and one that is there already.
    let mut shuffled: Vec<Wide> =
        batches[3].iter().map(|row| Wide { id: row.id + 5000, ..row.clone() }).collect();
    shuffled.reverse();
    batches.push(shuffled);
    let clash = [batch(30, 1), vec![batches[1][0].clone()]].concat();
    batches.push(clash);
    NEVER_APPENDED.set(true);
    let one_by_one = after_batches(&batches);
    NEVER_APPENDED.set(false);
    let before = APPENDED.get();
    assert_eq!(after_batches(&batches), one_by_one);
    assert!(APPENDED.get() - before > 1000, "{}", APPENDED.get() - before);
}

#[test]
fn long_values_live_off_page_and_are_freed_with_their_last_version() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    let used = || engine.store().space_report().pages_used;
    let before = used();
    let body = |c: char| Some(c.to_string().repeat(100_000));
    insert(&engine, &table, &mut trx, &Wide { body: body('a'), ..Wide::new(1, 1, "x") }).unwrap();
    engine.commit(&mut trx).unwrap();
    let with_one = used();
    assert!(with_one >= before + 6);
    let mut reader = engine.begin(BeginOptions::default());
    let view = reader.view();
    trx.restart(BeginOptions::default());
    let keep = Wide { body: body('a'), ..Wide::new(1, 7, "y") };
    keep.with(|row| table.update(&engine, &mut trx, &key(1), row, &[1, 2].into_iter().collect())).unwrap();
    assert_eq!(used(), with_one, "an unchanged value keeps its pages");
    update(&engine, &table, &mut trx, 1, &Wide { body: body('b'), ..keep.clone() }).unwrap();
    engine.commit(&mut trx).unwrap();
    engine.purge_step(usize::MAX).unwrap();
    assert_eq!(rows(&engine, &table, view), [Wide { body: body('a'), ..Wide::new(1, 1, "x") }]);
    assert!(used() > with_one, "a reader still needs the old value");
    engine.commit(&mut reader).unwrap();
    engine.purge_step(usize::MAX).unwrap();
    assert_eq!(used(), with_one);
    trx.restart(BeginOptions::default());
    delete(&engine, &table, &mut trx, 1).unwrap();
    engine.rollback(&mut trx).unwrap();
    assert_eq!(rows(&engine, &table, ReadView::newest()), [Wide { body: body('b'), ..keep }]);
    trx.restart(BeginOptions::default());
    delete(&engine, &table, &mut trx, 1).unwrap();
    engine.commit(&mut trx).unwrap();
    engine.purge_step(usize::MAX).unwrap();
    assert!(used() <= before);
    assert_sound(&engine, &table);
}

#[test]
fn a_row_that_no_page_can_hold_is_refused() {
    let (engine, _disk) = engine();
    let columns = |ty: types::SqlType, count: usize| -> Vec<_> {
        (0..count).map(|i| ColumnDef::new(&format!("c{i}"), ty.clone(), false)).collect()
    };
    let latin1 = types::SqlType::varchar(240, types::CollationId::LATIN1_SWEDISH_CI);
    let strings = engine.create_table(TableDef::new("s", "s", columns(latin1, 40), vec![])).unwrap();
    let numbers = engine
        .create_table(TableDef::new("s", "n", columns(types::SqlType::bigint(), 1017), vec![]))
        .unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    strings.insert(&engine, &mut trx, &[Some(&[b'v'; 240][..]); 40]).unwrap();
    let refused = numbers.insert(&engine, &mut trx, &vec![Some(&[1; 8][..]); 1017]);
    assert!(matches!(refused, Err(Error::RowTooLarge { .. })));
    assert_eq!((strings.check(&engine).unwrap().rows, numbers.check(&engine).unwrap().rows), (1, 0));
}

#[test]
fn a_read_only_transaction_changes_nothing() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions { read_only: true, ..BeginOptions::default() });
    let done = insert(&engine, &table, &mut trx, &Wide::new(1, 1, "a"));
    assert!(matches!(done, Err(Error::Lock(trx::Error::ReadOnlyTransaction))));
    assert_eq!(done.unwrap_err().effect(), Effect::Statement);
    assert_eq!(rows(&engine, &table, trx.view()), []);
}

#[test]
fn a_suspended_scan_goes_on_where_it_was_after_changes() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut trx = engine.begin(BeginOptions::default());
    for id in 0..2000 {
        insert(&engine, &table, &mut trx, &Wide::new(id, 0, &format!("n{id}"))).unwrap();
    }
    engine.commit(&mut trx).unwrap();
    for direction in [Direction::Forward, Direction::Backward] {
        let mut reader = engine.begin(BeginOptions::default());
        let view = reader.view();
        let mut scan = Scan::open(&engine, &table, 0, view, between(100, 1899), direction).unwrap();
        let (mut ids, mut changed) = (Vec::new(), 0);
        while let Some(batch) = scan.next_batch().unwrap() {
            ids.extend(batch.rows().map(|row| Wide::read(&engine, &row).id));
            scan.suspend();
            trx.restart(BeginOptions::default());
            for id in (changed..changed + 300).map(|n| n % 2000) {
                let body = Some("grown ".repeat(20));
                update(
                    &engine,
                    &table,
                    &mut trx,
                    id,
                    &Wide { body, ..Wide::new(id, changed, &format!("n{id}")) },
                )
                .unwrap();
            }
            changed += 300;
            engine.commit(&mut trx).unwrap();
            engine.purge_step(usize::MAX).unwrap();
        }
        if direction == Direction::Backward {
            ids.reverse();
        }
        assert_eq!(ids, (100..1900).collect::<Vec<_>>());
    }
    assert_sound(&engine, &table);
}

/// The open entry of a key is then not in the leaf that the key leads to.
#[test]
fn an_entry_is_closed_behind_leaves_of_older_versions() {
    let (engine, _disk) = engine();
    let table = engine.create_table(wide_def("t")).unwrap();
    let mut reader = engine.begin(BeginOptions::default());
    let view = reader.view();
    for id in [1, 2] {
        let mut trx = engine.begin(BeginOptions::default());
        insert(&engine, &table, &mut trx, &Wide::new(id, id, &format!("name {id}"))).unwrap();
        engine.commit(&mut trx).unwrap();
    }
    let mut trx = engine.begin(BeginOptions::default());
    for n in 0..3000 {
        update(&engine, &table, &mut trx, 1, &Wide::new(1, n % 2, "name 1")).unwrap();
        engine.commit(&mut trx).unwrap();
        trx.restart(BeginOptions::default());
    }
    assert_eq!(ids_by_index(&engine, &table, 1, trx.view()), [1, 2]);
    assert_eq!(ids_by_index(&engine, &table, 1, view), []);
    assert!(table.delete(&engine, &mut trx, &key(1)).unwrap());
    assert_eq!(ids_by_index(&engine, &table, 1, trx.view()), [2]);
    assert_sound(&engine, &table);
    engine.rollback(&mut trx).unwrap();
    trx.restart(BeginOptions::default());
    assert_eq!(ids_by_index(&engine, &table, 1, trx.view()), [1, 2]);
    assert_sound(&engine, &table);
}
