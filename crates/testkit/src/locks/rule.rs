//! The rules under which this server's footprint may differ from MySQL's.
//!
//! An entry names the rules that its statements need in a comment `# less: RULE, RULE`. Each rule has a row
//! in COMPAT.md. A comment `# other plan: WHY` says that the two servers find the rows of some of its
//! statements in different ways; the footprints of these are not compared.

use super::footprint::{Difference, Footprint, Item, Mode, What};

/// MySQL locks the whole gaps that a range begins and ends in; here a gap lock reaches from bound to bound,
/// and backwards to the last row that is read.
const GAPS: &str = "gaps at the ends of a range";
/// MySQL locks the record beyond a range; here the gap up to it is locked.
const BEYOND: &str = "record beyond a range";
/// MySQL keeps locks on entries or rows that fail a condition; here they are not locked, or are given up.
const REFUSED: &str = "rows that fail a condition";
/// MySQL locks the gap before the entry of a unique key that is taken, and the entry after it; here the row
/// alone is locked.
const TAKEN: &str = "keys that are taken";
/// MySQL locks the gap of a new row that an error has removed; here nothing is left of it.
const UNDONE: &str = "new rows that are undone";
/// MySQL locks rows that a change reads in other tables at READ COMMITTED; here the statement's view has
/// them.
const READ: &str = "rows that a change only reads";
/// MySQL locks the entry alone of a row that is in the way, or is read FOR SHARE; here the row is locked,
/// which is more.
const AS_ROWS: &str = "entries as rows";
/// The remark that a comment `# other plan` stands for.
pub(super) const OTHER_PLAN: &str = "other plan";

/// Names of all rules, as scripts and COMPAT.md have them.
pub const RULES: [&str; 7] = [GAPS, BEYOND, REFUSED, TAKEN, UNDONE, READ, AS_ROWS];

/// Returns the rules that the comments of an entry name, and [`OTHER_PLAN`] if one says so.
pub(super) fn named(comments: &[String]) -> Vec<&str> {
    let lists = comments.iter().filter_map(|comment| comment.strip_prefix("# less: "));
    let mut named: Vec<&str> = lists.flat_map(|list| list.split(", ")).collect();
    named.extend(comments.iter().any(|comment| comment.starts_with("# other plan: ")).then_some(OTHER_PLAN));
    named
}

/// Whether `rule` can be the reason for a difference from what is `expected`.
pub(super) fn explains(rule: &str, difference: &Difference, expected: &Footprint) -> bool {
    let what = difference.item.what;
    if difference.is_more() {
        return rule == AS_ROWS && what == What::Row && is_locked_entry(&difference.item, expected);
    }
    match rule {
        GAPS | UNDONE => what == What::Gap,
        TAKEN => what != What::Row,
        BEYOND | REFUSED => what != What::Gap,
        READ => what != What::Gap && difference.expected == Some(Mode::Shared),
        AS_ROWS => what == What::Entry,
        _ => false,
    }
}

/// Whether the entry of a row is locked, and the row is not, in an index of its table.
fn is_locked_entry(row: &Item, expected: &Footprint) -> bool {
    expected.items().any(|(item, mode)| {
        let is_of_table = item.place.split_once('.').is_some_and(|(table, _)| table == row.place);
        item.what == What::Entry && *mode == Mode::Shared && is_of_table && item.name == row.name
    })
}
