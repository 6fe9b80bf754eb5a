//! Tables that are rebuilt while clients write, as the clients meet it.

#![allow(clippy::unwrap_used, reason = "test code")]

use mysql::prelude::Queryable;

use super::online_builds::{Shop, long_bits};

const FORCE: &str = "ALTER TABLE t FORCE";

/// Rows and the sum of what is in them.
fn sums(shop: &mut Shop) -> (u64, i64, u64) {
    shop.conn.query_first("SELECT COUNT(*), SUM(k), SUM(LENGTH(x)) FROM t").unwrap().unwrap()
}

#[test]
fn statements_that_change_rows_end_while_a_table_is_rebuilt() {
    for sql in [
        "ALTER TABLE t FORCE, ALGORITHM = INPLACE, LOCK = NONE",
        "OPTIMIZE TABLE t",
        "ALTER TABLE t MODIFY c VARCHAR(100) NOT NULL, ADD KEY kc (k, c(9)), LOCK = NONE",
    ] {
        let mut shop = Shop::open(long_bits() - 2);
        let rows = 1 << (long_bits() - 2);
        let n = shop.change_rows_during(sql, rows);
        assert!(shop.status("Ratchet_rebuild_rows_copied_again") > 10, "{sql}");
        shop.keys();
        let changed = "SELECT COUNT(*) FROM t WHERE c LIKE 'new %' AND x <> REPEAT(SUBSTR(c, 5), 20)";
        assert_eq!(shop.conn.query_first(changed).unwrap(), Some(0));
        let inserted = format!("SELECT COUNT(*) FROM t WHERE id > {rows} AND LENGTH(x) = 20000");
        assert_eq!(shop.conn.query_first(inserted).unwrap(), Some(n), "{sql}");
    }
}

#[test]
fn a_rebuilt_table_has_what_transactions_have_left() {
    let mut shop = Shop::open(8);
    let (mut reader, mut writer) = (shop.reader(), shop.writer());
    let (_, altered) = shop.alter("ALTER TABLE t ADD n INT NOT NULL DEFAULT 7 FIRST, FORCE, LOCK = NONE");
    for sql in [
        "UPDATE t SET x = REPEAT('long', 5000) WHERE id < 50",
        "SAVEPOINT s",
        "DELETE FROM t WHERE id < 100",
        "INSERT INTO t SELECT id + 1000, k, c, x FROM t",
        "ROLLBACK TO s",
        "UPDATE t SET id = id + 5000, k = 1 WHERE id > 200",
        "COMMIT",
        "BEGIN",
        "UPDATE t SET k = 2, x = REPEAT('more', 9000)",
        "ROLLBACK",
    ] {
        writer.query_drop(sql).unwrap();
    }
    let expected = sums(&mut shop);
    reader.query_drop("COMMIT").unwrap();
    assert_eq!(altered.join().unwrap(), Ok(()));
    assert_eq!(shop.keys(), ["PRIMARY", "k"]);
    assert_eq!(sums(&mut shop), expected);
    assert_eq!(shop.conn.query_first("SELECT SUM(n) FROM t").unwrap(), Some(7 * 256));
    assert_eq!(shop.conn.query_first("SELECT COUNT(*) FROM t WHERE id > 5000").unwrap(), Some(55));
    shop.conn.query_drop("UPDATE t SET id = 9000 WHERE id = 0").unwrap();
    shop.conn.query_drop("ALTER TABLE t MODIFY id INT AUTO_INCREMENT").unwrap();
    let (mut reader, mut writer) = (shop.reader(), shop.writer());
    let (_, altered) = shop.alter(FORCE);
    writer.query_drop("INSERT INTO t (k) VALUES (1), (2)").unwrap();
    let first = writer.last_insert_id();
    writer.query_drop(format!("DELETE FROM t WHERE id > {first}")).unwrap();
    writer.query_drop("COMMIT").unwrap();
    reader.query_drop("COMMIT").unwrap();
    assert_eq!(altered.join().unwrap(), Ok(()));
    shop.conn.query_drop("INSERT INTO t (k) VALUES (3)").unwrap();
    assert_eq!((first, shop.conn.last_insert_id()), (9001, 9003));
    shop.keys();
}

#[test]
fn a_row_that_is_null_at_the_end_is_refused() {
    let mut shop = Shop::open(8);
    for stays in [true, false] {
        let (mut reader, mut writer) = (shop.reader(), shop.writer());
        let (_, altered) = shop.alter("ALTER TABLE t MODIFY k INT NOT NULL");
        writer.query_drop("UPDATE t SET k = NULL WHERE id = 3").unwrap();
        writer.query_drop(if stays { "COMMIT" } else { "ROLLBACK" }).unwrap();
        reader.query_drop("COMMIT").unwrap();
        let altered = altered.join().unwrap();
        if stays {
            let error = altered.unwrap_err();
            assert!(error.contains("ERROR 1138 (22004): Invalid use of NULL value"), "{error}");
            shop.conn.query_drop("UPDATE t SET k = 3 WHERE id = 3").unwrap();
        } else {
            assert_eq!(altered, Ok(()));
            assert!(shop.conn.query_drop("UPDATE t SET k = NULL WHERE id = 3").is_err());
        }
    }
    shop.keys();
}

#[test]
fn a_rebuild_that_ends_early_leaves_the_table_and_its_writers_alone() {
    let mut shop = Shop::open(10);
    let mut reader = shop.reader();
    let (id, altered) = shop.alter(FORCE);
    shop.conn.query_drop(format!("KILL QUERY {id}")).unwrap();
    let error = altered.join().unwrap().unwrap_err();
    assert!(error.contains("ERROR 1317 (70100)"), "{error}");
    let mut impatient = shop.connect();
    impatient.query_drop("SET lock_wait_timeout = 1").unwrap();
    let error = impatient.query_drop(FORCE).unwrap_err().to_string();
    assert!(error.contains("ERROR 1205 (HY000)"), "{error}");
    shop.conn.query_drop("UPDATE t SET c = 'after' WHERE id = 3").unwrap();
    reader.query_drop("COMMIT").unwrap();
    impatient.query_drop(FORCE).unwrap();

    // A batch of more keys than may wait.
    shop.conn.query_drop("SET GLOBAL innodb_online_alter_log_max_size = 65536").unwrap();
    let mut writer = shop.connect();
    shop.conn.query_drop("CREATE TABLE wide (id VARBINARY(600) PRIMARY KEY, k INT)").unwrap();
    shop.conn.query_drop("INSERT INTO wide SELECT CONCAT(REPEAT('k', 590), id), k FROM t").unwrap();
    let mut reader = shop.connect();
    reader.query_drop("BEGIN; SELECT COUNT(*) FROM wide").unwrap();
    let (_, altered) = shop.alter("ALTER TABLE wide FORCE");
    writer.query_drop("UPDATE wide SET k = k + 1").unwrap();
    reader.query_drop("COMMIT").unwrap();
    let error = altered.join().unwrap().unwrap_err();
    let text = "ERROR 1799 (HY000): Creating index 'PRIMARY' required more than \
                'innodb_online_alter_log_max_size' bytes of modification log. Please try again.";
    assert!(error.contains(text), "{error}");
    shop.conn.query_drop("ALTER TABLE wide FORCE").unwrap();
    shop.keys();
}

#[test]
fn writers_wait_where_the_statement_or_its_kind_asks_for_it() {
    let mut shop = Shop::open(8);
    for sql in [
        "ALTER TABLE t FORCE, LOCK = SHARED",
        "ALTER TABLE t MODIFY k BIGINT",
        "ALTER TABLE t FORCE, ALGORITHM = COPY",
    ] {
        let (mut reader, mut writer) = (shop.reader(), shop.writer());
        writer.query_drop("SET lock_wait_timeout = 1").unwrap();
        let (_, altered) = shop.alter(sql);
        let error = writer.query_drop("UPDATE t SET k = 1 WHERE id = 1").unwrap_err().to_string();
        assert!(error.contains("ERROR 1205 (HY000)"), "{sql}: {error}");
        reader.query_drop("COMMIT").unwrap();
        assert_eq!(altered.join().unwrap(), Ok(()));
        writer.query_drop("UPDATE t SET k = 1 WHERE id = 1").unwrap();
        writer.query_drop("COMMIT").unwrap();
    }
    assert_eq!(shop.status("Ratchet_rebuild_rows_copied_again"), 0);
    assert!(shop.status("Ratchet_rebuild_records_kept") > 0);
}
