//! False rows, and that each is found.

use super::effects::Effects;
use super::{compat, effects, start, unshown};

/// Rows that say "yes" falsely, the section they are put into, and what nothing shows.
const FALSE_ROWS: [(&str, &str, &str); 10] = [
    // Variables: set on connect by clients, whatever comes of it.
    (
        "System variables",
        "| `sort_buffer_size` | yes | `crates/server/tests/data/client_connect.txt` |",
        "sort_buffer_size",
    ),
    // The test does not say it.
    (
        "System variables",
        "| `max_join_size` | yes | `crates/server/tests/answers/limits.rs` |",
        "max_join_size",
    ),
    // The script sets it once.
    (
        "System variables",
        "| `optimizer_trace_limit` | yes | `tests/sql/statements.test` |",
        "optimizer_trace_limit",
    ),
    // Statements: refused in the test.
    ("Statements", "| HANDLER | yes | `crates/server/tests/client/absent.sql` |", "HANDLER"),
    ("Statements", "| CREATE VIEW | yes | `crates/server/tests/client/absent.sql` |", "VIEW"),
    // Not in the test.
    ("Statements", "| XA PREPARE | yes | `tests/isolation/gaps.test` |", "XA"),
    // Functions: refused, and not there.
    ("Functions", "| `regexp_like` | yes | `crates/server/tests/client/absent.sql` |", "regexp_like"),
    ("Functions", "| `json_extract` | yes | `tests/sql/functions_string.test` |", "json_extract"),
    // Options: no server is started with it.
    (
        "Statements",
        "| `--skip-grant-tables` | yes | `crates/server/tests/storage/restart.rs` |",
        "--skip-grant-tables",
    ),
    // Types: refused.
    ("Types", "| `json` | yes | `crates/server/tests/client/absent.sql` |", "json"),
];

/// Causes without an effect.
const FALSE_EFFECTS: &str = "
== sort_buffer_size
>> SET sort_buffer_size = 32768
SELECT * FROM t ORDER BY s DESC

== foreign_key_checks
>> SET foreign_key_checks = 0
INSERT INTO t VALUES (3, 3, 'c')

== differs by itself
>> SET sort_buffer_size = 32768
SELECT UUID()

== HANDLER
>> HANDLER t OPEN
SELECT * FROM t

== not so
SELECT @@port = 0
";

/// COMPAT.md with a row more at the end of a section.
fn with_row(section: &str, row: &str) -> String {
    let text = compat();
    let table = text.find(&format!("\n## {section}\n")).unwrap();
    let head = table + text[table..].find("|---|---|---|\n").unwrap() + "|---|---|---|\n".len();
    format!("{}{row}\n{}", &text[..head], &text[head..])
}

#[test]
fn false_rows_are_found() {
    let effects = effects();
    let before = unshown(&compat(), &effects);
    for (section, row, what) in FALSE_ROWS {
        let found = unshown(&with_row(section, row), &effects);
        let new: Vec<_> = found.iter().filter(|message| !before.contains(message)).collect();
        assert!(
            new.iter().any(|message| message.ends_with(&format!("nothing shows {what}"))),
            "{row}: {new:?}"
        );
    }
}

#[test]
fn causes_without_an_effect_are_found() {
    let (_server, target) = start();
    let names = ["sort_buffer_size", "foreign_key_checks", "differs by itself", "HANDLER", "not so"];
    assert_eq!(Effects::parse(FALSE_EFFECTS).unseen(&target), names);
}
