//! False rows, and that each is found.

use super::effects::Effects;
use super::missing::Missing;
use super::{compat, effects, missing_effects, rows, start, unshown, variables};

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

/// Rows that deny falsely, or more than is shown, and what is found. They come first in their sections.
const FALSE_DENIALS: [(&str, &str, &str); 7] = [
    // Nothing shows it.
    ("Statements", "| CHECKSUM TABLE | no: 1235 | `x` |", "CHECKSUM TABLE: nothing shows that it is missing"),
    ("Functions", "| `upper` | partly: ASCII alone | `x` |", "`upper`: nothing shows that it is missing"),
    // The error is another one.
    ("Statements", "| HANDLER, XA | no: 1064 | `x` |", "HANDLER, XA: nothing shows 1064"),
    ("Statements", "| EXPLAIN | partly: a tree; others are 1290 | `x` |", "EXPLAIN: nothing shows 1290"),
    // More is denied than tried.
    ("Statements", "| CALL | no: 1305 and 1235 | `x` |", "CALL: nothing shows 1235"),
    ("Statements", "| SET PERSIST | no: 1235, 1227 | `x` |", "SET PERSIST: nothing shows 1227"),
    ("Types", "| `json` | no: 1235; 1064 in CAST | `x` |", "`json`: nothing shows 1064"),
];

/// Variables whose rows deny falsely.
const FALSE_VARIABLES: [(&str, &str); 5] = [
    ("sql_mode", "partly: kept and shown, without effect"),
    ("div_precision_increment", "partly: kept and shown, without effect"),
    ("foreign_checks", "partly: kept and shown, without effect"),
    ("net_read_timeout", "partly: its default alone, another value is 1231"),
    ("sql_select_limit", "partly: kept and shown, without effect"),
];

/// Statements that end otherwise.
const FALSE_ENTRIES: &str = "
== CHECKSUM TABLE
1235> CHECKSUM TABLE t

== HANDLER, XA
1064> HANDLER t OPEN

== SHOW
no 1366> INSERT IGNORE INTO t VALUES (9, 'x', 'y')
rows> DO 1
= SELECT 2
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

#[test]
fn false_denials_are_found() {
    let missing = missing_effects();
    for (section, row, what) in FALSE_DENIALS {
        let mut denials = rows::denials(&with_row(section, row));
        let title = row.trim_start_matches("| ").split(" | ").next().unwrap();
        // The true row of the same title follows.
        let mut is_first = true;
        denials.retain(|row| row.title != title || std::mem::take(&mut is_first));
        let found = missing.unshown(&denials);
        assert!(found.iter().any(|message| message.ends_with(what)), "{row}: {found:?}");
    }
    let without = Missing::parse("== no such row\n1235> HANDLER t OPEN").unshown(&[]);
    assert_eq!(without, ["no such row: no row denies it"]);
}

#[test]
fn statements_that_end_otherwise_are_found() {
    let (_server, target) = start();
    let wrong = Missing::parse(FALSE_ENTRIES).wrong(&target);
    assert_eq!(wrong.len(), 5, "{wrong:#?}");
}

#[test]
fn variables_with_an_effect_are_found() {
    let (_server, target) = start();
    for (name, status) in FALSE_VARIABLES {
        let row = format!("| `{name}` | {status} | `x` |");
        let rows = rows::denials(&format!("\n## System variables\n\n{row}\n"));
        let seen = variables::tried(&rows, &target);
        assert!(seen.wrong.iter().any(|wrong| wrong.starts_with(name)), "{row}: {seen:?}");
    }
}
