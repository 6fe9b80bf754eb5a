//! Rows of literals, read by cells, against the same texts read token by token.

use std::cell::Cell;

use bumpalo::Bump;

use super::CacheKey;
use crate::{LexMode, parse_numbered};

thread_local! {
    /// Whether every text of this thread is read token by token.
    pub(super) static NO_CELLS: Cell<bool> = const { Cell::new(false) };
}

/// What the key of `sql` has, and whether the parser meets all of its literals; `None`: it has no key.
fn read(sql: &str) -> Option<String> {
    let mut key = CacheKey::new();
    if !key.read(sql.as_bytes(), 0, LexMode::NONE) {
        return None;
    }
    let arena = Bump::new();
    let parsed = parse_numbered(sql.as_bytes(), 0, LexMode::NONE, &arena, Some(&key), usize::MAX);
    let numbered = parsed.map(|parsed| (parsed.numbered, format!("{:?}", parsed.statement)));
    let CacheKey { key, literals, named_literals, hash, params, end, .. } = &key;
    Some(format!("{key:?} {literals:?} {named_literals} {hash} {params} {end} {numbered:?}"))
}

fn read_by_tokens(sql: &str) -> Option<String> {
    NO_CELLS.set(true);
    let read = read(sql);
    NO_CELLS.set(false);
    read
}

#[test]
fn rows_of_lists_have_the_keys_of_their_tokens() {
    for list in [
        "((1,5),(1,77),(2,9))",
        "((1, 5), (1, 77))",
        "((1, 'x'), ('y', 2.5), (NULL, 3))",
        "((1, -5), (+1, 77), (1, 2))",
        "((1, a), (b, 77), (1, 2))",
        "((1, ?), (?, 77), (1, 2))",
        "((1, (2 + 3)), (4, (5)), (1, 2))",
        "((1, 5)), ((1, 5))",
        "(1, 2, 3)",
        "((1), (2))",
        "(f(1, 2), g(3), (4))",
        "(CHAR(65), CHAR(65, 66), (1))",
        "((CHAR(65), CHAR(65, 66)), (1, 2))",
        "(TIMESTAMP(6), NOW(6), CURRENT_TIMESTAMP(3), (1, 2))",
        "((NOW(6), 5), (CURTIME(3), 7))",
        "(CAST(a AS DECIMAL(10, 2)), (1, 2))",
        "((CAST(a AS DECIMAL(10, 2)), 5), (CAST(5 AS CHAR(3)), 6))",
        "(SELECT 1, 2 FROM u WHERE (x, y) IN ((3, 4), (5, 6)))",
        "((SELECT 1, 2 FROM u LIMIT 5), (3, 4))",
        "((SELECT 1, 2), (3, 4), (5, 6))",
        "((SELECT f(1, 2), (3)), (3, 4))",
        "((1, (SELECT 1, (2) FROM u)), (3, 4), (5, 6))",
        "(SELECT 1 FROM u ORDER BY 1, 2)",
        "((SELECT 1 FROM u ORDER BY 1, 2), (3, 4))",
        "((SELECT 1 FROM u GROUP BY 1, 2), (3, 4))",
        "((SELECT 1 FROM u LIMIT 5, 6), (3, 4))",
        "((SELECT (SELECT a FROM u WHERE b = 1 ORDER BY 1, 2) x, (3)), (3, 4))",
        "((TABLE u ORDER BY 1, 2), (3, 4))",
        "((TABLE u LIMIT 5, 6), (3, 4))",
        "(((SELECT a FROM u) ORDER BY 1, 2), (3, 4))",
        "(((SELECT a FROM u) LIMIT 5, 6), (3, 4))",
        "((VALUES ROW(1, 2) ORDER BY 1, 2), (3, 4))",
        "((WITH c AS (SELECT 1, 2) SELECT a FROM c LIMIT 5, 6), (3, 4))",
        "(GROUP_CONCAT(a ORDER BY 1, 2), (3, 4))",
        "(GROUP_CONCAT(a, 1 ORDER BY 1, 2 SEPARATOR ','), (3, 4))",
        "((GROUP_CONCAT(a ORDER BY 1, 2), 5), (3, 4))",
        "((VALUES ROW(1, 2), ROW(3, 4)), (5, 6))",
        "((1, 2) = (3, 4), (5, 6))",
        "((1, 2), (3, x IN ((4, 5), (6, 7))), (8, 9))",
        "((DATE '2020-01-01', 5), (DATE'2020-01-01', 6), ('a' 'b', 7), (n'x', 8), (_latin1'x', 9))",
        "((0x10, b'1'), (1e5, 2.), (.5, 6))",
        "/*!80000 ((1, 5), (2, 6)) */",
        "((1, 5), /* (2, 6) */ (3, 7))",
        "((1, 5), (2, 6)",
        "((1, 5), (2, 6)))",
    ] {
        for sql in [
            format!("SELECT a FROM t WHERE (a, b) IN {list}"),
            format!("SELECT a FROM t WHERE (a, b) NOT IN {list} AND c IN {list} OR d IN (7, 8) LIMIT 3"),
            format!(
                "SELECT a FROM t WHERE (a, b) IN {list} ORDER BY (a, b) IN {list}, 1, f(2, 3) FOR UPDATE"
            ),
            format!("SELECT (a, b) IN {list}, (5, 6) FROM t GROUP BY a HAVING (a, b) IN {list}"),
            format!("SELECT a IN {list} x FROM t JOIN u ON (a, b) IN {list} WHERE c = f(1, (2), 3)"),
            format!("SELECT a FROM t WHERE f((a, b) IN {list}, (7), (8, 9)) = (SELECT 1, 2)"),
            format!("SELECT a FROM t WHERE ((a, b) IN {list}) AND (c, d) = (7, 8)"),
            format!("INSERT INTO t VALUES (1, (a, b) IN {list}), (3, 4), (5, CHAR(6, 7))"),
            format!(
                "INSERT INTO t VALUES (1, 2), (3, 4) ON DUPLICATE KEY UPDATE a = (a, b) IN {list}, b = (5)"
            ),
            format!("UPDATE t SET a = (a, b) IN {list}, b = (7), c = f(8, 9) WHERE (a, b) IN {list}"),
            format!("DELETE FROM t WHERE (a, b) IN {list}; SELECT 5"),
        ] {
            assert_eq!(read(&sql), read_by_tokens(&sql), "{sql}");
        }
    }
}
