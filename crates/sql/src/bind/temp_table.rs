//! Whether MySQL gathers the result of a query in a table before it sends it: clients see that in the
//! definitions of columns. The rules are those of its optimizer for small tables; statistics do not enter.

use expr::{AggFunc, CmpDomain, CmpOp, ColumnRef, Expr, ExprKind, SubqueryForm};
use types::{IndexKind, KeyPart, TableDef};

use super::block::{Aggregation, Block, JoinTree, Kind, Query, Source, SubBlock, outer_id};
use super::same;
use super::volatile::is_volatile;
use crate::plan::SortKey;

/// What MySQL gathers in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TempTable {
    /// Groups.
    Groups,
    /// Groups that come in order, to sort them by something else.
    SortedGroups,
    /// Rows, to find those that are distinct or to sort them.
    Rows,
}

/// What MySQL gathers to answer `block`, if anything. `is_outermost`: its ORDER BY is that of the statement.
pub(super) fn temp_table(block: &Block, is_outermost: bool) -> Option<TempTable> {
    let is_join = matches!(block.from, JoinTree::Join { .. });
    let is_ordered = is_outermost && !block.order.is_empty() && (is_join || !block.subqueries.is_empty());
    if block.aggregation.is_none() && !block.distinct && !is_ordered {
        return None;
    }
    if matches!(block.from, JoinTree::Dual) || finds_one_row(block) || block.filter.iter().any(is_impossible)
    {
        return None;
    }
    if let Some(made) = &block.aggregation {
        return gathered_groups(block, made);
    }
    if block.distinct && !is_distinct_by_index(block) {
        return Some(TempTable::Rows);
    }
    (is_ordered && !block.distinct && is_sorted_in_table(block)).then_some(TempTable::Rows)
}

fn gathered_groups(block: &Block, made: &Aggregation) -> Option<TempTable> {
    let groups = distinguishing(made.groups.iter(), block);
    let has_aggregates = made.aggs.iter().any(|spec| spec.func != AggFunc::AnyValue);
    if groups.is_empty() || !has_aggregates && has_unique_key(groups.iter().copied(), block) {
        return None;
    }
    // It sorts the rows where an aggregate needs all of a group's.
    let sorts_rows = made.aggs.iter().any(|spec| spec.distinct || spec.func == AggFunc::GroupConcat);
    let in_order = || {
        let columns = columns_of(groups.iter().copied());
        columns.is_some_and(|columns| is_first_read(&columns, block) && has_index(&columns, block, is_prefix))
    };
    let shows_all = || {
        groups.iter().all(|group| {
            let at = made.groups.iter().position(|known| same::same(known, group));
            let column = at.map(|at| ColumnRef { rel: made.rel, col: at as u16 });
            block.output.iter().any(|item| item.expr.as_column() == column)
        })
    };
    if !sorts_rows && !in_order() || block.distinct && !shows_all() {
        return Some(TempTable::Groups);
    }
    let mut keys: Vec<&SortKey> = Vec::new();
    for key in block.order.iter().filter(|key| !is_constant(&key.expr, block)) {
        if !keys.iter().any(|known| same::same(&known.expr, &key.expr)) {
            keys.push(key);
        }
    }
    let is_group = |(at, key): (usize, &&SortKey)| {
        let column = ColumnRef { rel: made.rel, col: at as u16 };
        at < made.groups.len() && key.expr.as_column() == Some(column) && key.desc == keys[0].desc
    };
    (!keys.iter().enumerate().all(is_group)).then_some(TempTable::SortedGroups)
}

/// Returns those of `exprs`, of GROUP BY or ORDER BY, that distinguish rows which are equal in the ones
/// before: no constants, no columns equal to a constant, no columns of a row that the ones before determine.
fn distinguishing<'e>(exprs: impl Iterator<Item = &'e Expr>, block: &Block) -> Vec<&'e Expr> {
    let conditions = conditions(block);
    let mut found: Vec<&Expr> = Vec::new();
    for expr in exprs {
        let is_known =
            |side: &Expr| is_constant(side, block) || found.iter().any(|before| same::same(before, side));
        let is_led_to = match expr.kind {
            ExprKind::Column(column) => {
                is_equal_to(column, &conditions, |side| is_constant(side, block))
                    || is_inner(&block.from) && has_key_equal_to(column.rel, &conditions, block, is_known)
            }
            _ => false,
        };
        if !is_known(expr) && !is_led_to {
            found.push(expr);
        }
    }
    found
}

/// Whether a condition says that `column` equals something that is `known`.
fn is_equal_to(column: ColumnRef, conditions: &[&Expr], known: impl Fn(&Expr) -> bool) -> bool {
    conditions.iter().any(|condition| {
        let ExprKind::Compare { op: CmpOp::Eq, args, domain } = &condition.kind else { return false };
        // Different texts may be one number.
        let is_it = |e: &Expr| {
            matches!(e.kind, ExprKind::Column(found) if found == column)
                && (!e.ty.is_string() || matches!(domain, CmpDomain::String(_)))
        };
        is_it(&args[0]) && known(&args[1]) || is_it(&args[1]) && known(&args[0])
    })
}

/// Whether conditions say that all parts of a unique key of the base table `rel` equal something that is
/// `known`.
fn has_key_equal_to(rel: u16, conditions: &[&Expr], block: &Block, known: impl Fn(&Expr) -> bool) -> bool {
    let Some(Source::Table { def, .. }) = block.rels.get(usize::from(rel)) else { return false };
    let given = |part: &KeyPart| is_equal_to(ColumnRef { rel, col: part.column }, conditions, &known);
    let mut unique = def.indexes.iter().filter(|index| index.kind != IndexKind::Secondary);
    unique
        .any(|index| !index.parts.is_empty() && index.parts.iter().all(|part| is_whole(part) && given(part)))
}

/// Whether `condition` is true for no row: a constant that is not true, or a column that is not itself.
fn is_impossible(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Const(value) => value.as_value().to_f64().value == 0.0,
        ExprKind::Compare { op: CmpOp::Ne | CmpOp::Lt | CmpOp::Gt, args, .. } => {
            matches!(args[0].kind, ExprKind::Column(_)) && same::same(&args[0], &args[1])
        }
        _ => false,
    }
}

/// Whether EXISTS or IN makes a table part of the query that no index leads to.
fn reads_semi_join(block: &Block) -> bool {
    block.filter.iter().any(|condition| {
        let ExprKind::Subquery { plan, form, .. } = &condition.kind else { return false };
        let is_set = match form {
            SubqueryForm::Exists { negated: false } => false,
            SubqueryForm::In { negated: false, .. } => true,
            _ => return false,
        };
        let subquery = block.subqueries.get(usize::from(*plan));
        let Some(SubBlock { query: Query::Select(inner), id, .. }) = subquery else { return false };
        if inner.aggregation.is_some() || inner.having.is_some() || matches!(inner.from, JoinTree::Dual) {
            return false;
        }
        let is_indexed = |e: &Expr| {
            matches!(e.kind, ExprKind::Column(column) if outer_id(column.rel).is_none()
                && has_index(&[column], inner, is_prefix))
        };
        let is_outer = |e: &Expr| matches!(e.kind, ExprKind::Column(c) if outer_id(c.rel) == Some(*id));
        let is_led = |e: &&Expr| match &e.kind {
            ExprKind::Compare { op: CmpOp::Eq, args, .. } => {
                is_indexed(&args[0]) && is_outer(&args[1]) || is_indexed(&args[1]) && is_outer(&args[0])
            }
            _ => false,
        };
        let by_item = is_set && inner.output.first().is_some_and(|item| is_indexed(&item.expr));
        !by_item && !conditions(inner).iter().any(is_led)
    })
}

/// Whether the rows of `block` are distinct, or come so that equal ones are neighbours, by an index of its
/// only table.
fn is_distinct_by_index(block: &Block) -> bool {
    let mut shown: Vec<&Expr> = Vec::new();
    for item in block.output.iter().filter(|item| !is_constant(&item.expr, block)) {
        if !shown.iter().any(|known| same::same(known, &item.expr)) {
            shown.push(&item.expr);
        }
    }
    if shown.is_empty() {
        return true;
    }
    let is_alone = block.from.rels().len() == 1 && !reads_semi_join(block);
    let in_order =
        || columns_of(shown.iter().copied()).is_some_and(|c| has_index(&c, block, is_set_of_first));
    is_alone && (has_unique_key(shown.iter().copied(), block) || in_order())
}

/// Whether no two rows of `block` are equal: there is one, or they show a key of the only table.
pub(super) fn has_no_equal_rows(block: &Block) -> bool {
    block.aggregation.is_none()
        && (finds_one_row(block) || has_unique_key(block.output.iter().map(|item| &item.expr), block))
}

/// Whether all parts of a unique key without NULL of the only table are among `exprs`.
fn has_unique_key<'e>(exprs: impl Iterator<Item = &'e Expr>, block: &Block) -> bool {
    let columns: Vec<ColumnRef> = exprs
        .filter_map(|e| match e.kind {
            ExprKind::Column(column) if base_column(column, block).is_some() => Some(column),
            _ => None,
        })
        .collect();
    block.from.rels().len() == 1
        && !reads_semi_join(block)
        && !columns.is_empty()
        && has_index(&columns, block, has_all_of_unique)
}

/// Whether the rows of `block` are sorted after they were joined: by others than those of the table that is
/// read first, or after a table that no index leads to; or by an item of the select list that is a subquery.
fn is_sorted_in_table(block: &Block) -> bool {
    let keys = distinguishing(block.order.iter().map(|key| &key.expr), block);
    if keys.iter().any(|key| names_shown_subquery(key, block)) {
        return true;
    }
    let mut columns = Vec::new();
    for key in &keys {
        key.walk(&mut |e| {
            if let ExprKind::Column(column) = e.kind {
                columns.push(column);
            }
        });
    }
    !keys.is_empty() && !is_first_read(&columns, block)
}

/// Whether `key` holds a subquery of the select list, which depends on the row.
fn names_shown_subquery(key: &Expr, block: &Block) -> bool {
    let plans = |expr: &Expr| {
        let mut plans = Vec::new();
        expr.walk(&mut |e| {
            if let ExprKind::Subquery { plan, .. } = e.kind {
                plans.push(plan);
            }
        });
        plans
    };
    let wanted = plans(key);
    !wanted.is_empty()
        && block.output.iter().any(|item| plans(&item.expr).iter().any(|plan| wanted.contains(plan)))
}

/// Whether `columns` are of the relation that is read first, and each other one is found by an index.
/// Relations of one row do not count; of others, those are read first that have conditions of their own.
fn is_first_read(columns: &[ColumnRef], block: &Block) -> bool {
    if reads_semi_join(block) {
        return false;
    }
    let conditions = conditions(block);
    let is_inner = is_inner(&block.from);
    let all = block.from.rels();
    let is_one_row = |rel: u16| {
        let is_known = |side: &Expr| is_constant(side, block);
        is_inner && all.len() > 1 && has_key_equal_to(rel, &conditions, block, is_known)
    };
    let rels: Vec<u16> = all.iter().copied().filter(|&rel| !is_one_row(rel)).collect();
    let is_of =
        |lead: u16| columns.iter().all(|column| column.rel == lead || is_inner && is_one_row(column.rel));
    let leads = |lead: u16| leads_to_all(lead, &rels, &conditions, block);
    let has_own_condition = |rel: &u16| conditions.iter().any(|condition| is_own_condition(condition, *rel));
    let (filtered, plain): (Vec<u16>, Vec<u16>) =
        rels.iter().partition(|rel| is_inner && has_own_condition(rel));
    let mut candidates = filtered.into_iter().chain(plain);
    match candidates.next() {
        None => true,
        Some(first) if !is_inner || rels.len() == 1 => is_of(first) && leads(first),
        Some(first) => std::iter::once(first).chain(candidates).find(|&rel| leads(rel)).is_some_and(is_of),
    }
}

/// Whether `condition` names columns of `rel` alone.
fn is_own_condition(condition: &Expr, rel: u16) -> bool {
    let (mut names_own, mut names_other) = (false, false);
    condition.walk(&mut |e| match e.kind {
        ExprKind::Column(column) if column.rel == rel => names_own = true,
        ExprKind::Column(_) | ExprKind::Subquery { .. } => names_other = true,
        _ => {}
    });
    names_own && !names_other
}

fn is_inner(tree: &JoinTree) -> bool {
    match tree {
        JoinTree::Join { kind, left, right, .. } => *kind == Kind::Inner && is_inner(left) && is_inner(right),
        _ => true,
    }
}

/// All conditions of WHERE and ON.
fn conditions(block: &Block) -> Vec<&Expr> {
    fn add<'b>(tree: &'b JoinTree, found: &mut Vec<&'b Expr>) {
        if let JoinTree::Join { left, right, on, .. } = tree {
            found.extend(on);
            add(left, found);
            add(right, found);
        }
    }
    let mut found: Vec<&Expr> = block.filter.iter().collect();
    add(&block.from, &mut found);
    found
}

/// Whether indexes lead from `lead` to each other one of `rels`, perhaps by way of others.
fn leads_to_all(lead: u16, rels: &[u16], conditions: &[&Expr], block: &Block) -> bool {
    let mut unread: Vec<u16> = rels.iter().copied().filter(|&rel| rel != lead).collect();
    loop {
        let count = unread.len();
        let before = unread.clone();
        unread.retain(|&rel| !is_looked_up(rel, &before, conditions, block));
        if unread.len() == count {
            return unread.is_empty();
        }
    }
}

/// Whether a condition compares an indexed column of `rel` with a value of other relations that are read,
/// none of `unread`.
fn is_looked_up(rel: u16, unread: &[u16], conditions: &[&Expr], block: &Block) -> bool {
    conditions.iter().any(|condition| {
        let ExprKind::Compare { op, args, .. } = &condition.kind else { return false };
        let is_indexed = |side: &Expr| {
            matches!(side.kind, ExprKind::Column(column) if column.rel == rel
                && (is_made(column, block) || has_index(&[column], block, is_prefix)))
        };
        let is_of_others = |side: &Expr| {
            let (mut is_read, mut is_unread) = (false, false);
            side.walk(&mut |e| {
                if let ExprKind::Column(column) = e.kind {
                    is_read |= !unread.contains(&column.rel);
                    is_unread |= unread.contains(&column.rel);
                }
            });
            is_read && !is_unread
        };
        let [left, right] = &**args;
        *op != CmpOp::Ne
            && (is_indexed(left) && is_of_others(right) || is_indexed(right) && is_of_others(left))
    })
}

/// Whether `column` is of a derived table that MySQL fills; it gets an index for its conditions.
fn is_made(column: ColumnRef, block: &Block) -> bool {
    match block.rels.get(usize::from(column.rel)) {
        Some(Source::Query { query, .. }) => !query.as_ref().is_some_and(Query::is_merged_by_mysql),
        _ => false,
    }
}

/// Whether the conditions give all parts of a unique key of the only table.
fn finds_one_row(block: &Block) -> bool {
    let JoinTree::Rel(rel) = block.from else { return false };
    has_key_equal_to(rel, &conditions(block), block, |side| is_constant(side, block))
}

/// Whether `expr` has one value for all rows.
pub(super) fn is_constant(expr: &Expr, block: &Block) -> bool {
    let mut is_constant = !is_volatile(expr);
    expr.walk(&mut |e| match e.kind {
        ExprKind::Column(_) => is_constant = false,
        ExprKind::Subquery { plan, .. } => {
            is_constant &= block.subqueries.get(usize::from(plan)).is_some_and(|sub| sub.outer.is_empty());
        }
        _ => {}
    });
    is_constant
}

/// The columns that `exprs` are, if each is one.
fn columns_of<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Option<Vec<ColumnRef>> {
    exprs.map(Expr::as_column).collect()
}

/// Whether an index of the table that `columns` are of `fits` them.
fn has_index(columns: &[ColumnRef], block: &Block, fits: fn(&TableDef, usize, &[u16]) -> bool) -> bool {
    let Some(first) = columns.first() else { return false };
    let Some((def, _)) = base_column(*first, block) else { return false };
    let of_first = |column: &ColumnRef| {
        (column.rel == first.rel).then(|| base_column(*column, block)).flatten().map(|(_, col)| col)
    };
    let columns: Option<Vec<u16>> = columns.iter().map(of_first).collect();
    columns.is_some_and(|columns| (0..def.indexes.len()).any(|at| fits(def, at, &columns)))
}

/// The column of a base table that `column` is, perhaps by way of a derived table that MySQL makes part of
/// the query.
fn base_column(column: ColumnRef, block: &Block) -> Option<(&TableDef, u16)> {
    match block.rels.get(usize::from(column.rel))? {
        Source::Table { def, .. } => Some((def, column.col)),
        Source::Query { query: Some(Query::Select(inner)), .. } if inner.is_merged_by_mysql() => {
            match inner.output.get(usize::from(column.col))?.expr.kind {
                ExprKind::Column(within) if matches!(inner.from, JoinTree::Rel(_)) => {
                    base_column(within, inner)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a key part is a whole column: a prefix neither orders rows nor makes them unique.
fn is_whole(part: &KeyPart) -> bool {
    part.prefix_len.is_none()
}

/// The columns in the order of index `at`: its own parts, then those of the clustered key, up to the first
/// prefix.
fn index_order(def: &TableDef, at: usize) -> impl Iterator<Item = u16> {
    let clustered = if at == 0 { &[][..] } else { &def.indexes[0].parts[..] };
    def.indexes[at].parts.iter().chain(clustered).take_while(|part| is_whole(part)).map(|part| part.column)
}

/// Whether `columns` are the first ones in the order of index `at`.
fn is_prefix(def: &TableDef, at: usize, columns: &[u16]) -> bool {
    let mut order = index_order(def, at);
    columns.iter().all(|column| order.next() == Some(*column))
}

/// Whether `columns` are the first ones in the order of index `at`, themselves in any order.
fn is_set_of_first(def: &TableDef, at: usize, columns: &[u16]) -> bool {
    let first = index_order(def, at).take(columns.len());
    first.filter(|col| columns.contains(col)).count() == columns.len()
}

/// Whether index `at` is unique and without NULL, and all its parts are among `columns`.
fn has_all_of_unique(def: &TableDef, at: usize, columns: &[u16]) -> bool {
    let index = &def.indexes[at];
    let is_named = |part: &KeyPart| columns.contains(&part.column);
    let is_not_null = |part: &KeyPart| !def.columns[usize::from(part.column)].nullable;
    index.kind != IndexKind::Secondary
        && !index.parts.is_empty()
        && index.parts.iter().all(|part| is_whole(part) && is_named(part) && is_not_null(part))
}
