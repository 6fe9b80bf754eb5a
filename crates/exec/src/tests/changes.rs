use base::prng::Prng;
use types::{ColumnDef, ColumnDefault, IndexDef, IndexKind, SqlModes, SqlType, TableDef, TypeKind};

use super::support::*;
use crate::plain_insert::NEVER_PLAIN;
use crate::write_rows::{BATCHED, NEVER_BATCHED};
use crate::*;

/// t (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE, c VARCHAR(60) DEFAULT 'd', n INT NOT NULL, at DATETIME
/// ON UPDATE).
fn bench() -> Bench {
    let bench = Bench::new();
    let mut columns = vec![
        ColumnDef::new("id", int_type(), false),
        ColumnDef::new("u", int_type(), true),
        ColumnDef::new("c", text_type(60), true),
        ColumnDef::new("n", int_type(), false),
        ColumnDef::new("at", SqlType::new(TypeKind::DateTime, 0), true),
    ];
    columns[0].auto_increment = true;
    columns[2].default = ColumnDefault::Constant(b"d".as_slice().into());
    columns[4].on_update_now = true;
    let indexes =
        vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0]), IndexDef::new("u", IndexKind::Unique, &[1])];
    bench.create(TableDef::new("s", "t", columns, indexes));
    bench
}

#[test]
fn an_insert_fills_in_defaults_and_numbers() {
    let mut bench = bench();
    let done = bench.run("INSERT INTO t (u, n) VALUES (1, 10), (2, u + 1)");
    assert_eq!((done.affected, done.insert_id, done.last_insert_id), (2, 1, Some(1)));
    assert_eq!(done.summary.text(0), "Records: 2  Duplicates: 0  Warnings: 0");
    let done = bench.run("INSERT INTO t (id, u, c, n) VALUES (7, NULL, DEFAULT, 0)");
    assert_eq!((done.insert_id, done.last_insert_id, done.summary), (7, None, Summary::None));
    bench.run("INSERT INTO t (id, n) VALUES (0, 5), (NULL, 6)");
    assert_eq!(
        bench.select("SELECT id, u, c, n FROM t"),
        "1 1 d 10,2 2 d 3,7 NULL d 0,8 NULL d 5,9 NULL d 6"
    );
    let error = bench.try_run("INSERT INTO t (u) VALUES (5)").unwrap_err();
    assert!(matches!(error, ExecError::NoDefault { .. }), "{error:?}");
}

/// What some statements that begin with `verb` answer and warn of, and the table then.
fn insert_randomly(verb: &str, seed: u64) -> Vec<String> {
    let (mut bench, mut prng) = (bench(), Prng::new(seed));
    let mut seen = Vec::new();
    bench.autocommit = prng.below(2) == 0;
    let values: [&[&str]; 4] = [
        &["NULL", "0", "7", "-3", "12", "40", "'41'", "99999999999", "2147483646", "DEFAULT"],
        &["NULL", "1", "2", "3", "4", "5", "6", "'7'", "u", "DEFAULT"],
        &[
            "NULL",
            "'c'",
            "'blank '",
            "'\u{e9}t\u{e9}'",
            "5",
            "DEFAULT",
            "'more than the thirty characters that it has in this table, or so'",
        ],
        &["1", "2", "NULL", "n", "1 + 1", "DEFAULT", "'x'", "3"],
    ];
    for _ in 0..120 {
        bench.session.modes = match prng.below(4) {
            0 => SqlModes::default(),
            1 => SqlModes::DEFAULT.with(SqlModes::NO_AUTO_VALUE_ON_ZERO),
            _ => SqlModes::DEFAULT,
        };
        let columns: Vec<usize> = (0..4).filter(|_| prng.below(4) > 0).collect();
        let names: Vec<_> = columns.iter().map(|&col| ["id", "u", "c", "n"][col]).collect();
        let common = |prng: &mut Prng, col: usize| match prng.below(3) {
            0 => values[col][1],
            _ => values[col][prng.below(values[col].len() as u64) as usize],
        };
        let count = if prng.below(2) == 0 { 1 } else { 2 + prng.below(3) };
        let rows: Vec<_> = (0..count)
            .map(|_| {
                let cells: Vec<_> = columns.iter().map(|&col| common(&mut prng, col)).collect();
                format!("({})", cells.join(","))
            })
            .collect();
        let done = bench.try_run(&format!("{verb} INTO t ({}) VALUES {}", names.join(","), rows.join(",")));
        seen.push(format!("{done:?} {:?}", bench.take_warnings()));
    }
    seen.push(bench.select("SELECT * FROM t"));
    seen.push(format!("{:?}", bench.try_run("INSERT INTO t (n) VALUES (1)")));
    seen
}

#[test]
fn a_row_that_is_stored_as_it_is_is_the_one_that_is_built() {
    for seed in 0..20 {
        let plain = insert_randomly("INSERT", seed);
        NEVER_PLAIN.set(true);
        assert_eq!(plain, insert_randomly("INSERT", seed), "seed {seed}");
        NEVER_PLAIN.set(false);
    }
}

#[test]
fn rows_beside_which_some_are_left_out_are_inserted_as_one_by_one() {
    let before = BATCHED.get();
    for seed in 0..20 {
        let batched = insert_randomly("INSERT IGNORE", seed);
        NEVER_BATCHED.set(true);
        let inserted = BATCHED.get();
        assert_eq!(batched, insert_randomly("INSERT IGNORE", seed), "seed {seed}");
        assert_eq!(BATCHED.get(), inserted);
        NEVER_BATCHED.set(false);
    }
    assert!(BATCHED.get() - before > 50, "{} rows in batches", BATCHED.get() - before);
}

#[test]
fn ignore_leaves_rows_out_and_adjusts_values() {
    let mut bench = bench();
    let done = bench.run("INSERT IGNORE INTO t (u, n) VALUES (1, 1), (1, 2), (2, NULL), (3, 99999999999)");
    assert_eq!(done.affected, 3);
    assert_eq!(done.summary.text(3), "Records: 4  Duplicates: 1  Warnings: 3");
    assert_eq!(bench.select("SELECT u, n FROM t"), "1 1,2 0,3 2147483647");
    assert_eq!(bench.take_warnings().len(), 3);
    bench.session.modes = SqlModes::default();
    let error = bench.try_run("INSERT INTO t (u, n) VALUES (9, NULL)").unwrap_err();
    assert!(matches!(error, ExecError::ColumnNull { .. }), "{error:?}");
    assert_eq!(bench.run("INSERT INTO t (u, n) VALUES (9, NULL), (10, 'x')").affected, 2);
    assert_eq!(bench.select("SELECT n FROM t WHERE u > 8"), "0,0");
}

#[test]
fn replace_takes_every_row_in_the_way() {
    let mut bench = bench();
    bench.run("INSERT INTO t (id, u, n) VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)");
    assert_eq!(bench.run("REPLACE INTO t (id, u, n) VALUES (1, 3, 9)").affected, 3);
    assert_eq!(bench.select("SELECT id, u, n FROM t"), "1 3 9,2 2 2");
    assert_eq!(bench.run("REPLACE INTO t (id, u, n) VALUES (5, 5, 5)").affected, 1);
}

#[test]
fn a_duplicate_updates_instead() {
    let mut bench = bench();
    bench.run("INSERT INTO t (id, u, n) VALUES (1, 1, 1), (2, 2, 2)");
    let sql = "INSERT INTO t (u, n) VALUES (1, 10), (3, 30), (2, 2) ON DUPLICATE KEY UPDATE n = n + VALUES(n) - 2, c = 'x'";
    let done = bench.run(sql);
    assert_eq!(done.affected, 5);
    assert_eq!(done.summary.text(0), "Records: 3  Duplicates: 2  Warnings: 0");
    assert_eq!(bench.select("SELECT u, n, c FROM t"), "1 9 x,2 2 x,3 30 d");
    let done = bench.run("INSERT INTO t (id, u, n) VALUES (2, 2, 2) ON DUPLICATE KEY UPDATE n = n");
    assert_eq!((done.affected, done.insert_id), (0, 0));
    let done = bench.run("INSERT INTO t (u, n) VALUES (2, 2) ON DUPLICATE KEY UPDATE n = n + 1");
    assert_eq!((done.insert_id, done.last_insert_id), (2, None));
    let error =
        bench.try_run("INSERT INTO t (u, n) VALUES (2, 2) ON DUPLICATE KEY UPDATE u = 1").unwrap_err();
    assert!(matches!(error, ExecError::Engine(engine::Error::DuplicateKey(_))), "{error:?}");
}

#[test]
fn a_query_feeds_an_insert_even_into_its_own_table() {
    let mut bench = bench();
    bench.run("INSERT INTO t (u, n) VALUES (1, 1), (2, 2), (3, 3)");
    for _ in 0..8 {
        bench.run("INSERT INTO t (n) SELECT n FROM t");
    }
    // Numbers are reserved in ones, twos, fours and so on; what is left of them is lost.
    assert_eq!(bench.select("SELECT COUNT(*), SUM(n), MAX(id) FROM t"), "768 1536 888");
}

#[test]
fn an_update_assigns_in_order_and_writes_what_differs() {
    let mut bench = bench();
    bench.run("INSERT INTO t (u, n) VALUES (1, 1), (2, 2), (3, 3)");
    let done = bench.run("UPDATE t SET n = n + 1, u = n * 10 WHERE id <= 2");
    assert_eq!(done.summary.text(0), "Rows matched: 2  Changed: 2  Warnings: 0");
    assert_eq!(
        bench.select("SELECT u, n, at FROM t"),
        "20 2 2023-11-14 22:13:20,30 3 2023-11-14 22:13:20,3 3 NULL"
    );
    let done = bench.run("UPDATE t SET n = 3");
    assert_eq!(done.affected, 1);
    assert_eq!(done.summary.text(0), "Rows matched: 3  Changed: 1  Warnings: 0");
    bench.capabilities = wire::Capabilities::FOUND_ROWS;
    assert_eq!(bench.run("UPDATE t SET n = 3").affected, 3);
}

#[test]
fn rows_whose_keys_move_are_met_once() {
    let mut bench = bench();
    for i in 0..300 {
        bench.run(&format!("INSERT INTO t (u, n) VALUES ({i}, {i})"));
    }
    assert_eq!(bench.run("UPDATE t SET id = id + 10000, u = u + 1000 WHERE u >= 0").affected, 300);
    assert_eq!(
        bench.select("SELECT MIN(id), MAX(id), MIN(u), MAX(u), COUNT(*) FROM t"),
        "10001 10300 1000 1299 300"
    );
    bench.run("UPDATE t SET u = u + 1 ORDER BY u DESC");
    bench.run("UPDATE t SET n = -1 ORDER BY n DESC, id LIMIT 3");
    assert_eq!(bench.select("SELECT id, u FROM t WHERE n = -1"), "10298 1298,10299 1299,10300 1300");
    let error = bench.try_run("UPDATE t SET u = 1 WHERE id < 10010").unwrap_err();
    assert!(matches!(error, ExecError::Engine(engine::Error::DuplicateKey(_))), "{error:?}");
    assert_eq!(bench.select("SELECT COUNT(*) FROM t WHERE u = 1"), "0");
}

#[test]
fn deletes_find_their_rows_by_any_index() {
    let mut bench = bench();
    for i in 0..50 {
        bench.run(&format!("INSERT INTO t (u, n) VALUES ({i}, {})", i % 5));
    }
    assert_eq!(bench.run("DELETE FROM t WHERE u BETWEEN 10 AND 19").affected, 10);
    assert_eq!(bench.run("DELETE FROM t WHERE n = 3 ORDER BY id DESC LIMIT 2").affected, 2);
    assert_eq!(bench.select("SELECT MAX(u) FROM t WHERE n = 3"), "38");
    assert_eq!(bench.run("DELETE FROM t").affected, 38);
    assert_eq!(bench.select("SELECT COUNT(*) FROM t"), "0");
}

#[test]
fn joins_change_and_delete_each_row_once() {
    let mut bench = bench();
    bench.run("INSERT INTO t (u, n) VALUES (1, 1), (2, 1), (3, 2)");
    let def = filled(&mut bench, "s", 20);
    assert_eq!(def.columns.len(), 3);
    let done = bench.run("UPDATE t JOIN s ON s.k = t.n SET t.n = t.n + 100, s.c = 'hit'");
    assert_eq!(done.affected, 3 + 4);
    assert_eq!(bench.select("SELECT n FROM t"), "101,101,102");
    assert_eq!(bench.select("SELECT id FROM s WHERE c = 'hit'"), "1,2,11,12");
    assert_eq!(
        bench.run("DELETE t FROM t LEFT JOIN s ON s.id = t.u AND s.id > 1 WHERE s.id IS NULL").affected,
        1
    );
}

#[test]
fn strict_modes_refuse_what_expressions_lose() {
    let mut bench = bench();
    let error = bench.try_run("INSERT INTO t (n) VALUES (1 / 0)").unwrap_err();
    assert!(matches!(error, ExecError::Lossy(_) | ExecError::ColumnNull { .. }), "{error:?}");
    bench.run("INSERT INTO t (u, n) VALUES (1, 1)");
    let error = bench.try_run("UPDATE t SET u = 1 / 0").unwrap_err();
    assert!(matches!(error, ExecError::Lossy(_)), "{error:?}");
    assert_eq!(bench.run("UPDATE IGNORE t SET u = 1 / 0").affected, 1);
}

#[test]
fn a_file_is_loaded_line_by_line() {
    let mut bench = bench();
    let text = b"1,10,x,5\n2,\\N,,6,extra\n3,10,dup,7\n4,40\n";
    let sql = "LOAD DATA INFILE 'f' IGNORE INTO TABLE t FIELDS TERMINATED BY ',' (id, u, c, n) SET at = '2020-01-01'";
    let done = bench.load(sql, text).unwrap();
    assert_eq!(done.affected, 3);
    assert_eq!(done.summary.text(3), "Records: 4  Deleted: 0  Skipped: 1  Warnings: 3");
    assert_eq!(
        bench.select("SELECT id, u, c, n, at FROM t"),
        "1 10 x 5 2020-01-01 00:00:00,2 NULL  6 2020-01-01 00:00:00,4 40  0 2020-01-01 00:00:00"
    );
    // Of the last line's missing fields each is warned of.
    assert_eq!(bench.take_warnings().len(), 4);
    let error = bench.load("LOAD DATA INFILE 'f' INTO TABLE t (id, u)", b"5\n").unwrap_err();
    assert!(matches!(error, ExecError::NoDefault { .. } | ExecError::TooFewFields { row: 1 }), "{error:?}");
}

#[test]
fn new_values_may_come_from_subqueries() {
    let mut bench = bench();
    bench.run("INSERT INTO t (u, n) VALUES (1, 1), (2, 2), (3, 30)");
    filled(&mut bench, "s", 20);
    bench.run("UPDATE t SET c = (SELECT MAX(s.c) FROM s WHERE s.k = t.n), n = (SELECT COUNT(*) FROM s)");
    assert_eq!(bench.select("SELECT c, n FROM t"), "name 11 20,name 2 20,NULL 20");
    bench.run("INSERT INTO t (n) VALUES ((SELECT MIN(id) FROM s) + 7)");
    assert_eq!(bench.select("SELECT n FROM t WHERE u IS NULL"), "7");
    assert_eq!(bench.run("DELETE FROM t WHERE n IN (SELECT id FROM s)").affected, 1);
}

#[test]
fn one_row_is_updated_by_its_key() {
    let mut bench = bench();
    bench.run("INSERT INTO t (id, u, n) VALUES (1, 1, 1), (2, 2, 2)");
    let done = bench.run("UPDATE t SET n = n + 1, u = n * 10, c = DEFAULT WHERE id = 2");
    assert_eq!(done.affected, 1);
    assert_eq!(done.summary.text(0), "Rows matched: 1  Changed: 1  Warnings: 0");
    assert_eq!(bench.select("SELECT u, n, at FROM t WHERE u > 1"), "30 3 2023-11-14 22:13:20");
    let done = bench.run("UPDATE t SET n = 1 WHERE id = 1");
    assert_eq!(done.summary.text(0), "Rows matched: 1  Changed: 0  Warnings: 0");
    assert_eq!(bench.select("SELECT at FROM t WHERE id = 1"), "NULL");
    let done = bench.run("UPDATE t SET n = 99999999999 WHERE id = 3");
    assert_eq!(done.summary.text(0), "Rows matched: 0  Changed: 0  Warnings: 0", "no row, no error");
    let error = bench.try_run("UPDATE t SET n = 99999999999 WHERE id = 1").unwrap_err();
    assert!(matches!(error, ExecError::Store { .. }), "{error:?}");
    let error = bench.try_run("UPDATE t SET u = 30 WHERE id = 1").unwrap_err();
    assert!(matches!(error, ExecError::Engine(engine::Error::DuplicateKey(_))), "{error:?}");
    let done = bench.run("UPDATE IGNORE t SET u = 30 WHERE id = 1");
    assert_eq!(done.summary.text(1), "Rows matched: 1  Changed: 0  Warnings: 1");
    assert_eq!(bench.run("UPDATE t SET id = id + 6 WHERE id = 3").affected, 0);
    bench.run("UPDATE t SET id = id + 6 WHERE id = 1");
    bench.run("INSERT INTO t (n) VALUES (8)");
    assert_eq!(bench.select("SELECT id, u, n FROM t"), "2 30 3,7 1 1,8 NULL 8");
}

#[test]
fn one_row_is_deleted_by_its_key() {
    let mut bench = bench();
    bench.run("INSERT INTO t (id, u, n) VALUES (1, 1, 1), (2, 2, 2)");
    assert_eq!(bench.run("DELETE FROM t WHERE id = 2").affected, 1);
    assert_eq!(bench.run("DELETE FROM t WHERE id = 2").affected, 0);
    assert_eq!(bench.run("DELETE FROM t WHERE id = 99999999999").affected, 0);
    assert_eq!(bench.select("SELECT id, u FROM t WHERE u < 9"), "1 1");
}
