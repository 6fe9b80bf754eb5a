//! Functional dependencies: which columns have one value within a group.

use std::cell::Cell;

use expr::{CmpOp, ColumnRef, Expr, ExprKind, SubqueryForm};
use types::IndexKind;

use super::block::{Block, JoinTree, Kind, Query, Source, SubBlock, outer_id};
use super::volatile::is_volatile;

/// Upper bound on queries, those in FROM included, that are checked to find what one GROUP BY determines.
/// What would take more is not found.
const QUERIES_MAX: u32 = 1000;

/// Columns that are determined by the group expressions: themselves, columns equal to determined values, all
/// columns of a table one of whose unique keys is determined and has no NULL (its columns are declared so, or
/// a condition refuses NULL), and the columns of a derived table that its query so computes of determined
/// ones.
pub(super) fn determined(groups: &[Expr], block: &Block) -> Vec<ColumnRef> {
    let known = groups.iter().filter_map(Expr::as_column).collect();
    closure(known, block, &Cell::new(QUERIES_MAX))
}

/// The columns of the joined rows of `block` that `known` determines. `left` is the number of queries that
/// may still be checked.
fn closure(known: Vec<ColumnRef>, block: &Block, left: &Cell<u32>) -> Vec<ColumnRef> {
    let mut known = known;
    let Some(rest) = left.get().checked_sub(1) else { return known };
    left.set(rest);
    let mut facts = Facts::default();
    for condition in &block.filter {
        facts.add(condition, None);
        semi_join_facts(condition, &block.subqueries, &mut facts);
    }
    let tests = block.filter.iter().filter_map(|condition| SetTest::of(condition, &block.subqueries));
    let tests: Vec<SetTest<'_>> = tests.collect();
    facts.not_null.extend(tests.iter().map(|test| test.needle));
    let refused = facts.not_null.clone();
    join_facts(&block.from, &refused, &mut facts);
    loop {
        let before = known.len();
        for fact in &facts.equalities {
            if !known.contains(&fact.column) && fact.from.iter().all(|c| known.contains(c)) {
                known.push(fact.column);
            }
        }
        for (rel, source) in block.rels.iter().enumerate() {
            match source {
                Source::Table { .. } => close_over_keys(rel as u16, source, &facts.not_null, &mut known),
                Source::Query { query: Some(Query::Select(inner)), .. } => {
                    close_over_query(rel as u16, inner, &mut known, left);
                }
                _ => {}
            }
        }
        for test in &tests {
            test.close_over(&mut known, left);
        }
        if known.len() == before {
            return known;
        }
    }
}

/// Adds the columns of the derived table `rel`, whose query is `block`, that those of it in `known`
/// determine.
fn close_over_query(rel: u16, block: &Block, known: &mut Vec<ColumnRef>, left: &Cell<u32>) {
    let columns = block.output.len() as u16;
    let is_known = |known: &[ColumnRef], col: u16| known.contains(&ColumnRef { rel, col });
    if (0..columns).all(|col| is_known(known, col)) {
        return;
    }
    let shown = block.output.iter().enumerate().filter(|(at, _)| is_known(known, *at as u16));
    let shown: Vec<ColumnRef> = shown.filter_map(|(_, item)| item.expr.as_column()).collect();
    let determined: Vec<u16> = match &block.aggregation {
        Some(made) => {
            let is_shown = |at: usize| shown.contains(&ColumnRef { rel: made.rel, col: at as u16 });
            let below = (0..made.groups.len()).filter(|&at| is_shown(at));
            let inside = closure(below.filter_map(|at| made.groups[at].as_column()).collect(), block, left);
            let is_one = |at: usize| is_shown(at) || made_of_known(&made.groups[at], &inside);
            // The groups distinguish its rows.
            let is_whole = (0..made.groups.len()).all(is_one);
            let is_made = |col: &u16| made_of_known(&block.output[usize::from(*col)].expr, &shown);
            (0..columns).filter(|col| is_whole || is_made(col)).collect()
        }
        None if matches!(block.from, JoinTree::Dual) => return,
        None => {
            let inside = closure(shown, block, left);
            let is_made = |col: &u16| made_of_known(&block.output[usize::from(*col)].expr, &inside);
            (0..columns).filter(is_made).collect()
        }
    };
    for col in determined {
        if !is_known(known, col) {
            known.push(ColumnRef { rel, col });
        }
    }
}

/// Whether `expr` is computed of `known` and columns of enclosing queries, and is the same each time.
fn made_of_known(expr: &Expr, known: &[ColumnRef]) -> bool {
    let mut is_made = !is_volatile(expr);
    expr.walk(&mut |e| match e.kind {
        ExprKind::Column(column) => is_made &= outer_id(column.rel).is_some() || known.contains(&column),
        ExprKind::Subquery { .. } => is_made = false,
        _ => {}
    });
    is_made
}

/// Facts that the conditions imply for all rows. In the condition of a left join (`inner`: its inner side)
/// that is said of the inner side's columns alone, and not of the rows without a partner, where all of these
/// are NULL.
#[derive(Default)]
struct Facts {
    equalities: Vec<Fact>,
    /// Columns for which NULL fails a condition.
    not_null: Vec<ColumnRef>,
}

impl Facts {
    fn add(&mut self, condition: &Expr, inner: Option<&[u16]>) {
        equality_facts(condition, inner, &mut self.equalities);
        refused_nulls(condition, &mut |column| {
            if inner.is_none_or(|rels| rels.contains(&column.rel)) {
                self.not_null.push(column);
            }
        });
    }
}

/// Adds what the conditions inside of EXISTS and IN say of columns outside: MySQL makes such a query part of
/// the one around it.
fn semi_join_facts(condition: &Expr, subqueries: &[SubBlock], facts: &mut Facts) {
    let ExprKind::Subquery { plan, form, .. } = &condition.kind else { return };
    if !matches!(form, SubqueryForm::Exists { negated: false } | SubqueryForm::In { negated: false, .. }) {
        return;
    }
    let Some(SubBlock { query: Query::Select(block), id, outer }) = subqueries.get(usize::from(*plan)) else {
        return;
    };
    if block.aggregation.is_some() || block.having.is_some() || matches!(block.from, JoinTree::Dual) {
        return;
    }
    for inside in &block.filter {
        refused_nulls(inside, &mut |column| {
            if outer_id(column.rel) == Some(*id) {
                facts.not_null.extend(outer.get(usize::from(column.col)));
            }
        });
        let mut outside = inside.clone();
        if name_outside(&mut outside, *id, outer) {
            facts.add(&outside, None);
        }
    }
}

/// Makes `expr`, of subquery `id`, one of the query around it. False: it names columns of the subquery
/// itself.
fn name_outside(expr: &mut Expr, id: u16, outer: &[ColumnRef]) -> bool {
    match &mut expr.kind {
        ExprKind::Column(column) => {
            let of_outer = (outer_id(column.rel) == Some(id)).then(|| outer.get(usize::from(column.col)));
            of_outer.flatten().map(|found| *column = *found).is_some()
        }
        ExprKind::Subquery { .. } => false,
        _ => {
            let mut is_outside = true;
            expr.for_each_child_mut(&mut |child| is_outside &= name_outside(child, id, outer));
            is_outside
        }
    }
}

/// A condition `needle IN (SELECT ..)`.
struct SetTest<'b> {
    needle: ColumnRef,
    block: &'b Block,
    /// The subquery's number.
    id: u16,
    /// The columns that it names.
    outer: &'b [ColumnRef],
}

impl<'b> SetTest<'b> {
    fn of(condition: &Expr, subqueries: &'b [SubBlock]) -> Option<SetTest<'b>> {
        let ExprKind::Subquery { plan, form: SubqueryForm::In { negated: false, .. }, needle: Some(needle) } =
            &condition.kind
        else {
            return None;
        };
        let SubBlock { query: Query::Select(block), id, outer } = subqueries.get(usize::from(*plan))? else {
            return None;
        };
        let is_plain = block.aggregation.is_none() && block.having.is_none() && block.limit.count.is_none();
        let needle = needle.as_column().filter(|_| is_plain)?;
        Some(SetTest { needle, block, id: *id, outer })
    }

    /// Adds to `known` the needle, if each row that meets the condition has a value of it that `known`
    /// determines, and the column that is the value itself.
    fn close_over(&self, known: &mut Vec<ColumnRef>, left: &Cell<u32>) {
        let [item] = &self.block.output[..] else { return };
        let outside = |column: ColumnRef| {
            (outer_id(column.rel) == Some(self.id))
                .then(|| self.outer.get(usize::from(column.col)).copied())
                .flatten()
        };
        if let Some(value) = item.expr.as_column().and_then(outside)
            && known.contains(&self.needle)
            && !known.contains(&value)
        {
            known.push(value);
        }
        let is_settled = self.outer.iter().all(|c| known.contains(c) || outer_id(c.rel).is_some());
        if is_settled
            && !known.contains(&self.needle)
            && made_of_known(&item.expr, &closure(Vec::new(), self.block, left))
        {
            known.push(self.needle);
        }
    }
}

/// Calls `found` with each column that is an operand of `condition` itself, where it is not true for NULL.
fn refused_nulls(condition: &Expr, found: &mut dyn FnMut(ColumnRef)) {
    let operands = match &condition.kind {
        ExprKind::Column(column) => return found(*column),
        // NOT keeps the NULL that these have for NULL.
        ExprKind::Not(term)
            if matches!(
                term.kind,
                ExprKind::Compare { .. } | ExprKind::In { .. } | ExprKind::Like { .. }
            ) =>
        {
            return refused_nulls(term, found);
        }
        ExprKind::Compare { op, args, .. } if *op != CmpOp::NullSafeEq => &args[..],
        ExprKind::Between { negated: false, args, .. } => &args[..],
        ExprKind::In { needle, .. } => std::slice::from_ref(&**needle),
        ExprKind::Like { args, .. } => return args.iter().filter_map(as_text_column).for_each(found),
        ExprKind::IsNull { negated: true, arg } => std::slice::from_ref(&**arg),
        _ => return,
    };
    operands.iter().filter_map(Expr::as_column).for_each(found);
}

/// The column that an operand of LIKE is, converted to text if needed.
fn as_text_column(expr: &Expr) -> Option<ColumnRef> {
    match &expr.kind {
        ExprKind::Cast { arg, name: None, .. } => arg.as_column(),
        _ => expr.as_column(),
    }
}

/// `column` has one value for each combination of values of `from`.
struct Fact {
    column: ColumnRef,
    from: Vec<ColumnRef>,
}

/// What `a = b` says. In the condition of a left join it binds columns of the inner side (`inner`) only.
fn equality_facts(condition: &Expr, inner: Option<&[u16]>, facts: &mut Vec<Fact>) {
    let ExprKind::Compare { op: CmpOp::Eq, args, .. } = &condition.kind else { return };
    for (side, other) in [(&args[0], &args[1]), (&args[1], &args[0])] {
        let Some(column) = side.as_column() else { continue };
        if inner.is_some_and(|rels| !rels.contains(&column.rel)) {
            continue;
        }
        let mut from = Vec::new();
        let mut is_plain = true;
        other.walk(&mut |e| match e.kind {
            ExprKind::Column(c) if outer_id(c.rel).is_none() => from.push(c),
            ExprKind::Subquery { .. } => is_plain = false,
            _ => {}
        });
        if is_plain {
            facts.push(Fact { column, from });
        }
    }
}

/// Adds what the joins of `tree` say. A NULL of the columns `refused` fails conditions that its rows must
/// meet, so that a left join with such a column on its inner side is an inner one.
fn join_facts(tree: &JoinTree, refused: &[ColumnRef], facts: &mut Facts) {
    let JoinTree::Join { kind, left, right, on } = tree else { return };
    let mut refused_by_join = Vec::new();
    for condition in on {
        refused_nulls(condition, &mut |column| refused_by_join.push(column));
    }
    let inner = right.rels();
    if *kind == Kind::Left && !refused.iter().any(|column| inner.contains(&column.rel)) {
        left_join_facts(&inner, on, facts);
        join_facts(left, refused, facts);
        return join_facts(right, &refused_by_join, facts);
    }
    for condition in on {
        facts.add(condition, None);
    }
    refused_by_join.extend(refused);
    let refused = &refused_by_join[..];
    join_facts(left, refused, facts);
    join_facts(right, refused, facts);
}

/// Facts that the condition of a left join implies. Whether a row has a partner depends on all columns of the
/// outer side in it.
fn left_join_facts(inner: &[u16], on: &[Expr], facts: &mut Facts) {
    let before = facts.equalities.len();
    let mut outer = Vec::new();
    for condition in on {
        facts.add(condition, Some(inner));
        condition.walk(&mut |e| {
            if let ExprKind::Column(column) = e.kind
                && outer_id(column.rel).is_none()
                && !inner.contains(&column.rel)
            {
                outer.push(column);
            }
        });
    }
    facts.equalities[before..].iter_mut().for_each(|fact| fact.from.extend(&outer));
}

fn close_over_keys(rel: u16, source: &Source, not_null: &[ColumnRef], known: &mut Vec<ColumnRef>) {
    let Source::Table { def, .. } = source else { return };
    let has_key = def.indexes.iter().any(|index| {
        index.kind != IndexKind::Secondary
            && !index.parts.is_empty()
            && index.parts.iter().all(|part| {
                let column = ColumnRef { rel, col: part.column };
                part.prefix_len.is_none()
                    && known.contains(&column)
                    && (!def.columns[usize::from(part.column)].nullable || not_null.contains(&column))
            })
    });
    if has_key {
        for col in 0..def.columns.len() as u16 {
            let column = ColumnRef { rel, col };
            if !known.contains(&column) {
                known.push(column);
            }
        }
    }
}
