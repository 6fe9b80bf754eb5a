//! The same query by other keys.

use std::collections::BTreeMap;

/// Words that follow a table's name where it has no alias.
const AFTER_TABLE: [&str; 17] = [
    "WHERE",
    "JOIN",
    "LEFT",
    "INNER",
    "CROSS",
    "STRAIGHT_JOIN",
    "ON",
    "USING",
    "ORDER",
    "GROUP",
    "HAVING",
    "LIMIT",
    "SET",
    "UNION",
    "FORCE",
    "FOR",
    "AS",
];

/// A query by another way, and what the way is called.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Alternative {
    pub(super) name: String,
    pub(super) sql: String,
}

/// `sql` with each key of each table that it reads forced, one at a time, and with its tables joined in the
/// order written. A DELETE, which takes no hints, becomes the query that finds its rows.
pub(super) fn alternatives(sql: &str, keys: &BTreeMap<String, Vec<String>>) -> Vec<Alternative> {
    let sql =
        sql.strip_prefix("DELETE FROM").map_or_else(|| sql.to_owned(), |rest| format!("SELECT * FROM{rest}"));
    let mut found = Vec::new();
    for (table, end) in tables(&sql) {
        for key in keys.get(table).into_iter().flatten() {
            let (before, behind) = sql.split_at(end);
            let sql = format!("{before} FORCE INDEX ({key}){behind}");
            found.push(Alternative { name: format!("{table}.{key}"), sql });
        }
    }
    if let Some(rest) = sql.strip_prefix("SELECT ").filter(|rest| rest.contains(" JOIN ")) {
        found.push(Alternative { name: "order".to_owned(), sql: format!("SELECT STRAIGHT_JOIN {rest}") });
    }
    found
}

/// The tables that `sql` reads, with the places where their hints are.
fn tables(sql: &str) -> Vec<(&str, usize)> {
    let words: Vec<(usize, &str)> = words(sql).collect();
    let mut found = Vec::new();
    for (at, (_, word)) in words.iter().enumerate() {
        let reads =
            ["FROM", "JOIN", "STRAIGHT_JOIN", "UPDATE"].contains(word) && (*word != "UPDATE" || at == 0);
        let Some(&(start, name)) = words.get(at + 1).filter(|_| reads) else { continue };
        let end = start + name.len();
        let follows = |&&(start, word): &&(usize, &str)| {
            let is_next = sql[end..start].trim().is_empty();
            is_next && !AFTER_TABLE.contains(&word)
        };
        let alias = words.get(at + 2).filter(follows);
        found.push((name, alias.map_or(end, |(start, alias)| start + alias.len())));
    }
    found
}

/// Words of `sql` outside strings, with their places.
fn words(sql: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let outside = |&(at, _): &(usize, &str)| sql[..at].matches('\'').count().is_multiple_of(2);
    let pieces = sql.split(move |c| !is_word(c)).filter(|piece| !piece.is_empty());
    pieces.map(move |piece| (piece.as_ptr().addr() - sql.as_ptr().addr(), piece)).filter(outside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_of_each_table_is_forced_once() {
        let keys = BTreeMap::from([
            ("a".to_owned(), vec!["PRIMARY".to_owned(), "x".to_owned()]),
            ("b".to_owned(), vec!["PRIMARY".to_owned()]),
        ]);
        let sql = "SELECT * FROM a t JOIN b ON b.id = t.id WHERE t.x = 'FROM b' AND t.y IN (SELECT y FROM b)";
        let found: Vec<(String, String)> =
            alternatives(sql, &keys).into_iter().map(|other| (other.name, other.sql)).collect();
        let rest = "WHERE t.x = 'FROM b' AND t.y IN (SELECT y FROM b)";
        let expected = [
            ("a.PRIMARY", format!("SELECT * FROM a t FORCE INDEX (PRIMARY) JOIN b ON b.id = t.id {rest}")),
            ("a.x", format!("SELECT * FROM a t FORCE INDEX (x) JOIN b ON b.id = t.id {rest}")),
            ("b.PRIMARY", format!("SELECT * FROM a t JOIN b FORCE INDEX (PRIMARY) ON b.id = t.id {rest}")),
            (
                "b.PRIMARY",
                "SELECT * FROM a t JOIN b ON b.id = t.id WHERE t.x = 'FROM b' \
                 AND t.y IN (SELECT y FROM b FORCE INDEX (PRIMARY))"
                    .to_owned(),
            ),
            ("order", format!("SELECT STRAIGHT_JOIN * FROM a t JOIN b ON b.id = t.id {rest}")),
        ];
        assert_eq!(found, expected.map(|(name, sql)| (name.to_owned(), sql)));
    }

    #[test]
    fn rows_to_delete_are_found_by_a_query() {
        let keys = BTreeMap::from([("a".to_owned(), vec!["x".to_owned()])]);
        let found = alternatives("DELETE FROM a WHERE x = 1", &keys);
        assert_eq!(found[0].sql, "SELECT * FROM a FORCE INDEX (x) WHERE x = 1");
        let found = alternatives("UPDATE a SET y = 1 WHERE x = 1", &keys);
        assert_eq!(found[0].sql, "UPDATE a FORCE INDEX (x) SET y = 1 WHERE x = 1");
    }
}
