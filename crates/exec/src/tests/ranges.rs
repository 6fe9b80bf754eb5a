//! Index ranges against scans, in one process: planted mistakes are found.

use testkit::conditions::{Column, Dice, Kind};
use types::{CollationId, ColumnDef, IndexDef, IndexKind, SqlType, TableDef};

use super::support::*;
use crate::int_spans::SETS_MADE;
use crate::range_bugs::{RangeBug, plant};

const COLUMNS: [Column; 4] = [
    ("a", "INT", Kind::Integer),
    ("b", "INT", Kind::Integer),
    ("k", "VARCHAR(8) NOT NULL", Kind::Text),
    ("c", "VARCHAR(8)", Kind::Text),
];
/// Name, parts, and the same for a definition: column, whether it descends, length of a prefix.
type Key = (&'static str, &'static str, &'static [(u16, bool, Option<u16>)]);
const KEYS: [Key; 5] = [
    ("ab", "a, b", &[(1, false, None), (2, false, None)]),
    ("ba", "b DESC, a", &[(2, true, None), (1, false, None)]),
    ("ka", "k, a", &[(3, false, None), (1, false, None)]),
    ("kp", "k(2), a", &[(3, false, Some(2)), (1, false, None)]),
    ("cp", "c(1) DESC", &[(4, true, Some(1))]),
];
/// Conditions among which a mistake shows, whichever it is.
const CONDITIONS: u64 = 1500;

/// A table with `keys`; its texts are of a collation that pads with spaces.
fn definition(name: &str, keys: &[Key]) -> TableDef {
    let text = |bytes| SqlType { collation: CollationId::UTF8MB4_BIN, ..text_type(bytes) };
    let columns = vec![
        ColumnDef::new("n", int_type(), false),
        ColumnDef::new("a", int_type(), true),
        ColumnDef::new("b", int_type(), true),
        ColumnDef::new("k", text(8), false),
        ColumnDef::new("c", text(8), true),
    ];
    let mut indexes = vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])];
    for (name, _, parts) in keys {
        let columns: Vec<u16> = parts.iter().map(|(column, ..)| *column).collect();
        let mut index = IndexDef::new(name, IndexKind::Secondary, &columns);
        for (part, (_, desc, prefix_len)) in index.parts.iter_mut().zip(*parts) {
            (part.desc, part.prefix_len) = (*desc, *prefix_len);
        }
        indexes.push(index);
    }
    TableDef::new("s", name, columns, indexes)
}

/// The first of the conditions whose rows by an index of `keys` are not those of a scan, while `bug` is
/// planted.
fn first_difference(keys: &[Key], bug: Option<RangeBug>) -> Option<String> {
    let mut bench = Bench::new();
    bench.create(definition("scanned", &[]));
    bench.create(definition("indexed", &KEYS));
    let mut dice = Dice::new(7);
    let rows: Vec<String> =
        (0..200).map(|n| format!("({n}, {})", dice.cells(&COLUMNS).trim_end_matches(", "))).collect();
    for table in ["scanned", "indexed"] {
        bench.run(&format!("INSERT INTO {table} VALUES {}", rows.join(", ")));
    }
    let columns = vec![ColumnDef::new("one", int_type(), false), ColumnDef::new("missing", int_type(), true)];
    let indexes = vec![IndexDef::new("PRIMARY", IndexKind::Primary, &[0])];
    bench.create(TableDef::new("s", "one", columns, indexes));
    bench.run("INSERT INTO one VALUES (1, NULL)");
    plant(bug);
    let found = (0..CONDITIONS).find_map(|_| {
        let (key, parts, _) = *dice.pick(keys);
        let columns = dice.columns_for(parts, &COLUMNS);
        // A NULL that is known only when the statement runs.
        let condition =
            dice.condition(&columns, 2).replace("(NULL,", "(missing,").replace(", NULL)", ", missing)");
        let mut numbers = |from: String| {
            let rows = bench.select(&format!("SELECT n FROM one STRAIGHT_JOIN {from} WHERE {condition}"));
            let mut numbers: Vec<String> = rows.split(',').map(str::to_owned).collect();
            numbers.sort_unstable();
            numbers
        };
        let scanned = numbers("scanned".to_owned());
        let is_same = numbers(format!("indexed USE INDEX ({key})")) == scanned;
        (!is_same).then(|| format!("USE INDEX ({key}) WHERE {condition}"))
    });
    plant(None);
    found
}

#[test]
fn a_scan_shows_every_planted_mistake_of_ranges() {
    assert_eq!(first_difference(&KEYS, None), None, "none is planted");
    for bug in [RangeBug::ClosedEnd, RangeBug::NullInRow, RangeBug::UnpaddedPrefix] {
        assert!(first_difference(&KEYS, Some(bug)).is_some(), "{bug:?} is not found");
    }
}

#[test]
fn ranges_of_integers_made_as_numbers_find_what_a_scan_finds() {
    let keys = &KEYS[..2];
    let made = SETS_MADE.get();
    assert_eq!(first_difference(keys, None), None, "none is planted");
    assert!(SETS_MADE.get() > made + 50, "only {} sets were made as numbers", SETS_MADE.get() - made);
    for bug in [RangeBug::ClosedEnd, RangeBug::NullInRow] {
        assert!(first_difference(keys, Some(bug)).is_some(), "{bug:?} is not found");
    }
}
