//! Statements that fill, index or rebuild a whole table of sysbench's shape.

use super::{Draw, Operation, Request, Unit, of};
use crate::data::{c_text, pad_text};

/// Rows of the table; the statements say so too.
const ROWS: u64 = 50_000;

pub(super) const CREATE: &str = "CREATE TABLE whole (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL DEFAULT 0, \
                      c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '')";
const ADD_K: &str = "ALTER TABLE whole ADD INDEX k (k)";
pub(super) const FILL: &str = "INSERT INTO whole SELECT * FROM sbtest1 WHERE id <= 50000";
pub(super) const DROP: &str = "DROP TABLE whole";

/// In each series the statement meets the table as it was before: it is made again.
pub(super) fn all() -> Vec<Operation> {
    let once = |name, before, request| Operation {
        before,
        after: &[DROP],
        ..of(name, 1, Unit::Rows(ROWS), request)
    };
    vec![
        once(
            "load_data_row",
            &[CREATE, ADD_K],
            Request::Load("LOAD DATA LOCAL INFILE 'rows' INTO TABLE whole", rows),
        ),
        once("insert_select_row", &[CREATE, ADD_K], Request::Text(|_| FILL.to_owned())),
        once("create_index_int_row", &[CREATE, FILL], Request::Text(|_| ADD_K.to_owned())),
        once(
            "create_index_char60_row",
            &[CREATE, FILL],
            Request::Text(|_| "ALTER TABLE whole ADD INDEX pad (pad)".to_owned()),
        ),
        once("rebuild_row", &[CREATE, FILL], Request::Text(|_| "ALTER TABLE whole FORCE".to_owned())),
    ]
}

/// Lines of a file in the order of the key.
fn rows(draw: &mut Draw) -> String {
    let mut text = String::with_capacity(ROWS as usize * 200);
    for id in 1..=ROWS {
        let k = draw.id();
        let (c, pad) = (c_text(&mut draw.prng), pad_text(&mut draw.prng));
        text.push_str(&format!("{id}\t{k}\t{c}\t{pad}\n"));
    }
    text
}
