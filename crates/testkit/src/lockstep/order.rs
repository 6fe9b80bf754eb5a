//! Rows of two answers: the same set, and in an order that ORDER BY permits.

use super::compare::Kind;
use super::reply::{Column, Row};
use super::tokens::{Token, tokens};

/// Returns how `ours` differs from `theirs`. Without ORDER BY any order is right; with it, rows that its
/// items do not distinguish may have any order, and so may all rows where an item is not a column of the
/// answer.
pub(crate) fn difference(
    sql: &str,
    columns: &[Column],
    ours: &[Row],
    theirs: &[Row],
) -> Option<(Kind, String)> {
    if ours == theirs {
        return None;
    }
    let (mut left, mut right): (Vec<&Row>, Vec<&Row>) = (ours.iter().collect(), theirs.iter().collect());
    left.sort();
    right.sort();
    if left != right {
        let detail = if ours.len() == theirs.len() { "" } else { "number of rows" };
        return Some((Kind::Rows, detail.to_owned()));
    }
    let items = order_by(sql)?;
    // Items that the answer does not show cannot be compared.
    let decided = keys(&items, columns).is_some_and(|keys| of(ours, &keys) != of(theirs, &keys));
    Some((if decided { Kind::Order } else { Kind::Ties }, String::new()))
}

/// The items of the ORDER BY of the whole statement; `None` if there is none.
fn order_by(sql: &str) -> Option<Vec<Vec<Token>>> {
    let all = tokens(sql);
    let mut depth = 0usize;
    let mut start = None;
    for (at, token) in all.iter().enumerate() {
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            word if depth == 0 && word.eq_ignore_ascii_case("order") => start = Some(at + 2),
            _ => {}
        }
    }
    let list = all.get(start?..)?;
    let end =
        list.iter().position(|t| ["limit", "for", "into"].contains(&t.text.to_ascii_lowercase().as_str()));
    Some(split_at_commas(&list[..end.unwrap_or(list.len())]))
}

fn split_at_commas(list: &[Token]) -> Vec<Vec<Token>> {
    let mut items = vec![Vec::new()];
    let mut depth = 0usize;
    for token in list {
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                items.push(Vec::new());
                continue;
            }
            _ => {}
        }
        items.last_mut().expect("begun with one item").push(token.clone());
    }
    items
}

/// Places of the result's columns that the items name; `None` if one is no such column.
fn keys(items: &[Vec<Token>], columns: &[Column]) -> Option<Vec<usize>> {
    let key = |item: &Vec<Token>| {
        let is_direction = |t: &Token| ["asc", "desc"].contains(&t.text.to_ascii_lowercase().as_str());
        let [name] = item.split(is_direction).next()? else { return None };
        if let Ok(number) = name.text.parse::<usize>() {
            return number.checked_sub(1).filter(|&at| at < columns.len());
        }
        columns.iter().position(|column| column.name.eq_ignore_ascii_case(&name.text))
    };
    items.iter().map(key).collect()
}

fn of<'r>(rows: &'r [Row], keys: &[usize]) -> Vec<Vec<&'r Option<String>>> {
    rows.iter().map(|row| keys.iter().map(|&key| &row[key]).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(sql: &str, ours: [&str; 2], theirs: [&str; 2]) -> Option<Kind> {
        let columns = ["a", "b"].map(|name| Column { name: name.to_owned(), ..Column::default() });
        let rows = |rows: [&str; 2]| {
            rows.map(|row| row.chars().map(|c| Some(c.to_string())).collect::<Row>()).to_vec()
        };
        difference(sql, &columns, &rows(ours), &rows(theirs)).map(|(kind, _)| kind)
    }

    #[test]
    fn without_order_by_rows_are_a_multiset() {
        assert_eq!(kind("SELECT a, b FROM t", ["11", "12"], ["12", "11"]), None);
        assert_eq!(kind("SELECT a, b FROM t", ["11", "11"], ["11", "12"]), Some(Kind::Rows));
    }

    #[test]
    fn an_order_that_the_items_leave_open_is_a_tie() {
        for sql in ["SELECT a, b FROM t ORDER BY a DESC LIMIT 2", "SELECT a, b FROM t ORDER BY 1"] {
            assert_eq!(kind(sql, ["11", "12"], ["12", "11"]), Some(Kind::Ties), "{sql}");
        }
        let sql = "SELECT a, b FROM t ORDER BY a, b";
        assert_eq!(kind(sql, ["11", "12"], ["12", "11"]), Some(Kind::Order));
        let sql = "SELECT a, b FROM t ORDER BY a + b";
        assert_eq!(kind(sql, ["11", "12"], ["12", "11"]), Some(Kind::Ties));
        assert_eq!(kind("SELECT (SELECT 1 ORDER BY 1), b FROM t", ["11", "12"], ["12", "11"]), None);
    }
}
