//! Prepared statements: parameters of every type in the binary protocol, against statements of every kind.

use crate::Bytes;
use crate::client::Script;
use crate::mounted::with_tables;

/// Statements, and whether they leave the tables as they are.
const STATEMENTS: [(&str, bool); 14] = [
    ("SELECT ?", true),
    ("SELECT * FROM t WHERE a = ?", true),
    ("SELECT * FROM t WHERE b BETWEEN ? AND ?", true),
    ("SELECT * FROM t WHERE c = ? OR c LIKE ? LIMIT ?", true),
    ("SELECT ? + ?, ? * ?, ? DIV ?, CONCAT(?, ?)", true),
    ("SELECT * FROM u WHERE a = ? AND c < ? ORDER BY d LIMIT ?, ?", true),
    ("SELECT * FROM w WHERE da = ? OR de > ? OR vc = ? OR tx LIKE ?", true),
    ("SELECT COUNT(*), MAX(?), GROUP_CONCAT(?) FROM t GROUP BY a % ?", true),
    ("SELECT DATE_ADD(?, INTERVAL ? DAY), FROM_UNIXTIME(?), STR_TO_DATE(?, ?)", true),
    ("SELECT a FROM t WHERE a IN (?, ?, ?) UNION SELECT ? FROM u WHERE b > ?", true),
    ("INSERT INTO t VALUES (?, ?, ?)", false),
    (
        "INSERT INTO w (a, ti, si, f, d, de, bi, y, da, ti6, dt, ts, ch, vc, bn, vb, tx, bl, en, st) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        false,
    ),
    ("UPDATE t SET b = ?, c = ? WHERE a >= ?", false),
    ("DELETE FROM u WHERE b = ? OR d < ?", false),
];

/// Codes of the commands.
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const SEND_LONG_DATA: u8 = 0x18;
const RESET: u8 = 0x1a;

/// The first byte selects the statement; then come commands on it, each with its length.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    let (statement, reads_only) = STATEMENTS[usize::from(input.u8()) % STATEMENTS.len()];
    let mut script = Script::logged_in();
    script.command(PREPARE, statement.as_bytes());
    while !input.is_empty() {
        let (selector, len) = (input.u8(), input.u16());
        let body = input.take(usize::from(len));
        let with_id = |middle: &[u8]| [&1u32.to_le_bytes()[..], middle, body].concat();
        match selector % 4 {
            // Cursor flags and the number of iterations are between the id and the parameters.
            0 | 1 => script.command(EXECUTE, &with_id(&[selector >> 7, 1, 0, 0, 0])),
            2 => script.command(SEND_LONG_DATA, &with_id(&[])),
            _ => script.command(RESET, &with_id(&[])),
        }
    }
    with_tables(&script, reads_only);
}
