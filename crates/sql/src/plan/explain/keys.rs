//! Sets of keys as text.

use expr::Expr;
use types::{KeyPart, TableDef};

use super::print::Printer;
use crate::plan::{KeyBox, KeySet, PartTest};

/// Most alternatives that are shown.
const SHOWN_MAX: usize = 20;

/// `(a=1, b=2) OR (a=1 AND 3 < b)`; alternatives beyond [`SHOWN_MAX`] are counted.
pub(super) fn key_set(print: &Printer<'_>, def: &TableDef, index: usize, keys: &KeySet) -> String {
    let parts: Vec<&KeyPart> = def.key_parts(index).collect();
    let name = |part: u16| &*def.columns[usize::from(parts[usize::from(part)].column)].name;
    let mut shown = Vec::new();
    let mut all = 0_usize;
    for key_box in keys.boxes() {
        let count = alternatives(key_box);
        let room = SHOWN_MAX.saturating_sub(shown.len()).min(count);
        shown.extend((0..room).map(|at| alternative(print, name, key_box, at)));
        all = all.saturating_add(count);
    }
    if all > shown.len() {
        let more = all - shown.len();
        shown.push(format!("({more} more)"));
    }
    shown.join(" OR ")
}

/// The alternatives that the lists of a box make together.
fn alternatives(key_box: &KeyBox) -> usize {
    let listed = key_box.tests.iter().map(|(_, test)| match test {
        PartTest::In(values) => values.len(),
        _ => 1,
    });
    listed.fold(1, usize::saturating_mul)
}

/// The `at`-th alternative of a box; the last list changes first.
fn alternative<'n>(
    print: &Printer<'_>,
    name: impl Fn(u16) -> &'n str,
    key_box: &KeyBox,
    at: usize,
) -> String {
    let mut rest = at;
    let mut tests: Vec<(bool, String)> = Vec::with_capacity(key_box.tests.len());
    for (part, test) in key_box.tests.iter().rev() {
        let name = name(*part);
        let equal = |value: &Expr| format!("{name}={}", print.expr(value));
        let sign =
            |strict: &'static str, included: bool| format!("{strict}{}", if included { "=" } else { "" });
        tests.push(match test {
            PartTest::In(values) => {
                let value = &values[rest % values.len()];
                rest /= values.len();
                (true, equal(value))
            }
            PartTest::InSubquery(subquery) => {
                let text = print.expr(subquery);
                let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
                (false, inside.unwrap_or(&text).to_owned())
            }
            PartTest::Eq(value) => (true, equal(value)),
            PartTest::NullSafeEq(value) => (true, format!("{name}<=>{}", print.expr(value))),
            PartTest::IsNull => (true, format!("{name}<=>NULL")),
            PartTest::IsNotNull => (false, format!("NULL < {name}")),
            PartTest::NotIn(values) => match &values[..] {
                [value] => (false, format!("{name} <> {}", print.expr(value))),
                _ => (false, format!("{name} not in ({})", print.list(values))),
            },
            PartTest::Lower(value, included) => {
                (false, format!("{} {} {name}", print.expr(value), sign("<", *included)))
            }
            PartTest::Upper(value, included) => {
                (false, format!("{name} {} {}", sign("<", *included), print.expr(value)))
            }
            PartTest::Like { pattern, .. } => (false, format!("{name} like {}", print.expr(pattern))),
        });
    }
    tests.reverse();
    let (equal, other): (Vec<_>, Vec<_>) = tests.into_iter().partition(|(is_equal, _)| *is_equal);
    let text = |tests: Vec<(bool, String)>| tests.into_iter().map(|(_, text)| text);
    let equal = text(equal).collect::<Vec<_>>().join(", ");
    let parts: Vec<String> = [equal].into_iter().filter(|t| !t.is_empty()).chain(text(other)).collect();
    format!("({})", parts.join(" AND "))
}
