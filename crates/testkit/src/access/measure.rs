//! What a query answers, and how many rows it examines.

use mysql::prelude::Queryable;
use mysql::{Conn, Value};

use super::file::Measured;

/// Which counters a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counters {
    Own,
    MySql,
}

/// Runs `sql`; what it changes is rolled back.
pub(super) fn run(conn: &mut Conn, sql: &str, counters: Counters) -> Result<Measured, String> {
    let failed = |error: mysql::Error| format!("{sql}: {error}");
    if !is_change(sql) {
        let before = examined(conn, counters).map_err(failed)?;
        let (rows, checksum) = answer(conn, sql).map_err(failed)?;
        let examined = examined(conn, counters).map_err(failed)? - before;
        return Ok(Measured { rows, checksum, examined });
    }
    conn.query_drop("BEGIN").map_err(failed)?;
    let measured = change(conn, sql, counters).map_err(failed);
    conn.query_drop("ROLLBACK").map_err(failed)?;
    measured
}

/// Whether `sql` changes rows.
pub(super) fn is_change(sql: &str) -> bool {
    sql.starts_with("UPDATE ") || sql.starts_with("DELETE ")
}

fn change(conn: &mut Conn, sql: &str, counters: Counters) -> Result<Measured, mysql::Error> {
    let before = examined(conn, counters)?;
    conn.query_drop(sql)?;
    let rows = conn.affected_rows();
    let examined = examined(conn, counters)? - before;
    let words: Vec<&str> = sql.split_whitespace().collect();
    let table = if words[0] == "UPDATE" { words[1] } else { words[2] };
    let (_, checksum) = answer(conn, &format!("SELECT * FROM {table}"))?;
    Ok(Measured { rows, checksum, examined })
}

fn examined(conn: &mut Conn, counters: Counters) -> Result<u64, mysql::Error> {
    let pattern = match counters {
        Counters::Own => "Ratchet_rows_examined",
        Counters::MySql => "Handler_read%",
    };
    let all: Vec<(String, u64)> = conn.query(format!("SHOW SESSION STATUS LIKE '{pattern}'"))?;
    Ok(all.into_iter().map(|(_, count)| count).sum())
}

/// Number of rows, and their checksum: in the order of the answer if the query asks for one.
fn answer(conn: &mut Conn, sql: &str) -> Result<(u64, u64), mysql::Error> {
    let ordered = is_ordered(sql);
    let (mut rows, mut checksum) = (0_u64, 0_u64);
    for row in conn.query_iter(sql)? {
        let mut hash = Fnv::default();
        for value in row?.unwrap() {
            match value {
                Value::NULL => hash.add(&[0]),
                Value::Bytes(bytes) => {
                    hash.add(&[1]);
                    hash.add(&(bytes.len() as u64).to_le_bytes());
                    hash.add(&bytes);
                }
                other => hash.add(format!("{other:?}").as_bytes()),
            }
        }
        rows += 1;
        checksum = if ordered { checksum.rotate_left(7) } else { checksum }.wrapping_add(hash.0);
    }
    Ok((rows, checksum))
}

/// Whether the whole of `sql` has an order.
fn is_ordered(sql: &str) -> bool {
    sql.rfind("ORDER BY").is_some_and(|at| {
        let depth = |c| sql[..at].matches(c).count();
        depth('(') == depth(')')
    })
}

/// The hash FNV-1a of 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
