//! Costs and row estimates, in units of a row examined.

use expr::{CmpDomain, Expr, ExprKind};
use types::KeyStatistics;

/// Finding the place of a key in an index.
pub(super) const DESCENT: f64 = 1.0;
/// Finding the place of the next key, when many are looked up in order.
const NEXT_DESCENT: f64 = 0.25;
/// Reading the next row of an index.
pub(super) const NEXT_ROW: f64 = 0.2;
/// Reading the row of a secondary entry from the clustered index.
pub(super) const LOOKUP: f64 = 2.0;
/// Finding the next value of an index's first parts, or an end of its stretch, by a descent and a search of
/// its leaf.
const JUMP: f64 = 3.0;
/// The same within the current leaf.
const LEAF_JUMP: f64 = 1.0;
/// Rows of a leaf, about.
const LEAF_ROWS: f64 = 100.0;
/// Cost of the cheapest path by keys beyond which jumping over a part of an index may be cheaper.
pub(super) const WORTH_JUMPS: f64 = 8.0;
/// Putting a row into a hash table or a group.
pub(super) const HASH_ROW: f64 = 0.5;
/// Looking a value up in the list of a subquery.
pub(super) const LIST_PROBE: f64 = 0.1;
/// Starting a subquery, beside what it reads.
pub(super) const RUN_SUBQUERY: f64 = 1.0;
/// Part of the rows that are left as groups.
pub(super) const GROUP_SHARE: f64 = 0.1;
/// Rows of a derived table.
pub(super) const DERIVED_ROWS: f64 = 100.0;
/// Rows that LIMIT lets through when it is a parameter.
pub(super) const UNKNOWN_LIMIT: f64 = 100.0;
/// Part of the rows that pass an equality which no index serves.
pub(super) const EQUAL_SHARE: f64 = 0.1;
/// Part of the rows that pass any other condition.
pub(super) const CONDITION_SHARE: f64 = 0.33;
/// Part of an index within a range with one end. Small, because an index that is there is there to be used:
/// without statistics the harm of reading a third of a table through it is less than that of reading all of a
/// table for one row.
pub(super) const RANGE_SHARE: f64 = 0.05;
/// Part of an index within a range with two ends.
pub(super) const BETWEEN_SHARE: f64 = 0.02;
/// Values of a part that are few: a range with one end is expected to leave half of them.
const FEW_VALUES: f64 = 8.0;
const FEW_SHARE: f64 = 0.5;
/// Part of an index that a test leaves which takes single values away.
pub(super) const NOT_SHARE: f64 = 0.9;
/// Part of the rows that share a key prefix which an equality on one more part of the key leaves.
pub(super) const NEXT_PART_SHARE: f64 = 0.5;
/// The same for a list, at most.
pub(super) const LISTED_SHARE: f64 = 0.9;
/// Part of a table that is many rows for one value to find.
pub(super) const LARGE_SHARE: f64 = 0.0625;
/// Rows of the largest table that a hash table replaces an index of: about half of what a statement may take
/// by default, at 50 to 60 bytes a row. Hash tables do not spill: a slow statement is better than one that
/// fails.
pub(super) const HASHED_ROWS_MAX: f64 = if cfg!(test) { 2e6 } else { 8e6 };
/// Comparing one value in a filter.
const COMPARISON: f64 = 0.01;
/// Comparing texts under a collation in a filter: some times what reading the row of a scan costs.
const TEXT_COMPARISON: f64 = 0.5;
/// Fewest rows that a table is taken to have: plans live on in the cache while tables grow.
pub(super) const LEAST_ROWS: f64 = 1000.0;

/// Fewest that any path costs: it finds one row by its key, which ensures what is asked of the row.
pub(super) const LEAST: f64 = DESCENT + NEXT_ROW;

/// Reading the next row of an index, as a part of [`NEXT_ROW`]: entries of a `covering` secondary index are
/// shorter than rows.
pub(super) fn width(covering: bool) -> f64 {
    if covering { 0.75 } else { 1.0 }
}

/// Reading `rows` rows that a key finds. The first one costs the same in any index.
pub(super) fn reading(rows: f64, covering: bool) -> f64 {
    NEXT_ROW * (1.0 + (rows - 1.0) * width(covering))
}
/// Fewest rows of which a table's size is expected to stay about what it is.
const FILLED_ROWS: f64 = 16.0;

/// Part of [`LEAST_ROWS`] that a table of `rows` rows has at present; a table that is about empty is yet to
/// be filled.
pub(super) fn present(rows: f64) -> f64 {
    if rows < FILLED_ROWS { 1.0 } else { rows / LEAST_ROWS }
}

/// Finding the places of `count` stretches of an index, in order.
pub(super) fn stretches(count: usize) -> f64 {
    DESCENT + count.saturating_sub(1) as f64 * NEXT_DESCENT
}

/// Jumping over `rows` rows that share the first parts of an index and reading `ends` ends of their stretch.
/// Rows that reach into another leaf take descents.
pub(super) fn jump(rows: f64, ends: f64) -> f64 {
    LEAF_JUMP + (rows / LEAF_ROWS).min(1.0) * JUMP * (1.0 + ends)
}

/// Part of a key part's `values` values within a range: at least one of them.
pub(super) fn range_share(has_both_ends: bool, values: f64) -> f64 {
    let share = match has_both_ends {
        true => BETWEEN_SHARE,
        false if values <= FEW_VALUES => FEW_SHARE,
        false => RANGE_SHARE,
    };
    share.max(1.0 / values.max(1.0))
}

/// Testing a row with `condition`, beyond a plain comparison: lists and disjunctions are gone through, texts
/// are compared character by character.
pub(super) fn test(expr: &Expr) -> f64 {
    let own = match &expr.kind {
        ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Column(_) => return 0.0,
        ExprKind::Compare { domain: CmpDomain::String(_), .. } => TEXT_COMPARISON,
        ExprKind::In { list, .. } => list.len() as f64 * COMPARISON,
        ExprKind::Or(terms) => terms.len() as f64 * COMPARISON,
        _ => 0.0,
    };
    let mut below = 0.0;
    expr.for_each_child(&mut |child| below += test(child));
    own + below
}

/// What [`rows_per_key`] is at most.
const ROWS_PER_KEY_MAX: f64 = 10.0;
/// Rows of the smallest table for which it is that.
const ROWS_OF_MOST_PER_KEY: f64 = 2155.0;

/// Sorting `rows` rows.
pub(super) fn sort(rows: f64) -> f64 {
    rows * (1.0 + rows.max(2.0).log2()) * 0.05
}

/// Rows that share a key prefix that is not unique, of a table of `rows` rows.
pub(super) fn rows_per_key(rows: f64) -> f64 {
    // Powers are slow to compute.
    if rows < ROWS_OF_MOST_PER_KEY { rows.max(1.0).powf(0.3) } else { ROWS_PER_KEY_MAX }
}

/// Most that reading rows by one value of a key costs in a plan for a table of `all` rows, when `rows` are
/// expected: less than reading the table, and less the fewer they are.
pub(super) fn most_for_equal(all: f64, rows: f64) -> f64 {
    (0.4 * all + 0.1 * rows) * NEXT_ROW
}

/// Rows of a table of `all` that have NULL in the first part of the key.
pub(super) fn rows_of_nulls(known: &KeyStatistics, all: f64) -> f64 {
    all * known.null_share
}

/// Rows of a table of `all` that have a value in the first part of the key, or NULL.
pub(super) fn rows_of_first(known: &KeyStatistics, all: f64, is_null: bool) -> f64 {
    let nulls = rows_of_nulls(known, all);
    if is_null {
        return nulls.max(1.0);
    }
    let per_value = known.rows_per_prefix.first().map_or(1.0, |&rows| rows);
    // The NULLs count as one value.
    let values = all / per_value - f64::from(u8::from(known.null_share > 0.0));
    ((all - nulls) / values.max(1.0)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_per_key_rise_up_to_their_most() {
        let below = rows_per_key(ROWS_OF_MOST_PER_KEY - 1.0);
        assert!((9.99..ROWS_PER_KEY_MAX).contains(&below), "{below}");
        assert!(ROWS_OF_MOST_PER_KEY.powf(0.3) >= ROWS_PER_KEY_MAX);
        assert_eq!([0.0, 1.0].map(rows_per_key), [1.0, 1.0]);
    }
}
