//! Conditions with subqueries in both of their forms. `x IN (SELECT y ..)` tests a list that the subquery
//! makes once, or leads an index to its values; `EXISTS (SELECT .. WHERE y = x)` searches for a row each
//! time. Where WHERE asks for one of them, the other says the same:
//!
//! ```text
//! x IN (SELECT y FROM t WHERE c)                <->  EXISTS (SELECT 1 FROM t WHERE c AND y = x)
//! NOT EXISTS (SELECT 1 FROM t WHERE c AND y = x) <-> x IS NULL OR x NOT IN (SELECT y FROM t WHERE c AND y IS NOT NULL)
//! ```
//! Costs decide between them where the condition finds its place ([`super::subqueries`]).

use expr::{Builder, CmpDomain, CmpOp, ColumnRef, Expr, ExprKind, SubqueryForm};

use super::draft::Draft;
use super::limit::constant;
use super::outer::Params;
use super::subquery_forms::{ByRow, SubqueryForms};
use crate::bind::block::{Block, JoinTree, Query, Source, SubBlock, Window, outer_id, outer_rel};
use crate::bind::rewrite;
use crate::bind::volatile::is_volatile;
use crate::plan::OutputColumn;

/// Most outer columns that subqueries may have for one of them to get more: parameters have 16-bit numbers.
const OUTER_COLUMNS_MAX: usize = 16_384;

/// Gives the subqueries of WHERE their second form.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let Block { filter, subqueries, .. } = &mut *draft.block;
    if !subqueries.is_empty() {
        draft.subquery_forms = split(filter, subqueries, draft.params, &draft.rels.build);
    }
}

/// Gives conditions of `filter` the form with a list, where they have one.
fn split(
    filter: &mut Vec<Expr>,
    subqueries: &mut Vec<SubBlock>,
    params: &Params,
    build: &Builder,
) -> SubqueryForms {
    let by_row = subqueries.iter().map(|_| None).collect();
    let mut subquery_forms = SubqueryForms { by_row, lead: None };
    if params.one_form || usize::from(params.next) > OUTER_COLUMNS_MAX {
        return subquery_forms;
    }
    for condition in &mut *filter {
        split_conjunct(condition, subqueries, &mut subquery_forms.by_row, build);
    }
    if let Some(ByList { condition, subquery }) =
        filter.iter().find_map(|condition| lead(condition, subqueries, build))
    {
        subquery_forms.lead = Some(subqueries.len() as u16);
        subquery_forms.by_row.push(None);
        subqueries.push(subquery);
        filter.push(condition);
    }
    subquery_forms
}

/// What follows from `EXISTS (SELECT 1 FROM t WHERE c AND y = x AND z = w)`:
/// `x IN (SELECT y FROM t WHERE c)`.
fn lead(condition: &Expr, subqueries: &[SubBlock], build: &Builder) -> Option<ByList> {
    let ExprKind::Subquery { plan, form: SubqueryForm::Exists { negated: false }, .. } = condition.kind
    else {
        return None;
    };
    let mut subquery = subqueries[usize::from(plan)].clone();
    let Query::Select(block) = &mut subquery.query else { return None };
    let (at, ..) = correlation(block, subquery.id)?;
    let equality = block.filter.remove(at);
    block.filter.retain(|condition| {
        matches!(names(condition, subquery.id), NamedRelations::Inner | NamedRelations::Nothing)
    });
    block.filter.push(equality);
    list_of(&subquery, subqueries.len() as u16, false, build)
}

fn split_conjunct(
    condition: &mut Expr,
    subqueries: &mut [SubBlock],
    others: &mut [Option<ByRow>],
    build: &Builder,
) {
    if let ExprKind::And(terms) = &mut condition.kind {
        terms.iter_mut().for_each(|term| split_conjunct(term, subqueries, others, build));
        return;
    }
    let (test, is_not) = match &condition.kind {
        ExprKind::Not(test) => (&**test, true),
        _ => (&*condition, false),
    };
    let ExprKind::Subquery { plan, form, needle } = &test.kind else { return };
    let ordinal = *plan;
    let at = usize::from(ordinal);
    let subquery = &mut subqueries[at];
    match (form, needle) {
        (SubqueryForm::Exists { negated }, None) => {
            let negated = *negated != is_not;
            merge(subquery);
            let Some(list) = list_of(subquery, ordinal, negated, build) else { return };
            let exists = exists(condition, ordinal, negated);
            let by_rows = std::mem::replace(subquery, list.subquery);
            others[at] = Some(ByRow { condition: exists, subquery: by_rows });
            *condition = list.condition;
        }
        (SubqueryForm::In { negated, domain }, Some(needle)) => {
            let negated = *negated != is_not;
            let Some(correlated) = correlated(subquery, needle, negated, *domain, build) else { return };
            let exists = exists(condition, ordinal, negated);
            if subquery.outer.is_empty() {
                others[at] = Some(ByRow { condition: exists, subquery: correlated });
            } else {
                *subquery = correlated;
                *condition = exists;
            }
        }
        _ => {}
    }
}

/// `[NOT] EXISTS` of the subquery, in the place of `condition`.
fn exists(condition: &Expr, plan: u16, negated: bool) -> Expr {
    let kind = ExprKind::Subquery { plan, form: SubqueryForm::Exists { negated }, needle: None };
    Expr { kind, ty: condition.ty.clone(), nullable: false }
}

/// The subquery of IN with the comparison among its conditions. For NOT IN, which no row may leave unknown,
/// it finds NULLs, too; a needle that is NULL would have to find every row.
fn correlated(
    subquery: &SubBlock,
    needle: &Expr,
    negated: bool,
    domain: CmpDomain,
    build: &Builder,
) -> Option<SubBlock> {
    let Query::Select(block) = &subquery.query else { return None };
    let value = &block.output.first()?.expr;
    if !is_plain(block)
        || block.limit.count.is_some()
        || !is_movable(needle)
        || !is_movable(value)
        || (negated && needle.nullable)
        || outer_columns(subquery) > OUTER_COLUMNS_MAX
    {
        return None;
    }
    let mut found = SubBlock { outer: subquery.outer.clone(), ..subquery.clone() };
    let Query::Select(block) = &mut found.query else { return None };
    let mut needle = needle.clone();
    export(&mut needle, found.id, &mut found.outer);
    let value = block.output[0].expr.clone();
    let ty = types::SqlType::new(types::TypeKind::BigInt, 1);
    let nullable = value.nullable || needle.nullable;
    let unknown = (negated && value.nullable).then(|| build.is_null(value.clone(), false));
    let kind = ExprKind::Compare { op: CmpOp::Eq, domain, args: Box::new([value, needle]) };
    let equal = Expr { kind, ty, nullable };
    block.filter.push(match unknown {
        Some(unknown) => build.or(vec![equal, unknown]),
        None => equal,
    });
    block.output = vec![one_column()];
    block.order.clear();
    block.distinct = false;
    block.limit = Window { offset: None, count: Some(one()) };
    Some(found)
}

/// A condition that looks a value up among those of a subquery.
struct ByList {
    condition: Expr,
    subquery: SubBlock,
}

/// `[NOT] EXISTS` as IN: the subquery names outer columns only in an equality.
fn list_of(subquery: &SubBlock, plan: u16, negated: bool, build: &Builder) -> Option<ByList> {
    let Query::Select(block) = &subquery.query else { return None };
    let has_rows = block.limit.count.as_ref().is_some_and(|count| constant(count).is_some_and(|n| n > 0));
    if !is_plain(block) || !has_rows || !block.subqueries.is_empty() {
        return None;
    }
    let id = subquery.id;
    let (at, domain, swapped) = correlation(block, id)?;
    let mut found = subquery.clone();
    let Query::Select(block) = &mut found.query else { return None };
    let ExprKind::Compare { args, .. } = block.filter.remove(at).kind else { return None };
    let [a, b] = *args;
    let (mut needle, value) = if swapped { (b, a) } else { (a, b) };
    let mut is_free = true;
    block.for_each_expr(&mut |e| {
        is_free &= matches!(names(e, id), NamedRelations::Inner | NamedRelations::Nothing);
    });
    if !is_free {
        return None;
    }
    import(&mut needle, id, &found.outer);
    if negated && value.nullable {
        block.filter.push(build.is_null(value.clone(), true));
    }
    block.output = vec![OutputColumn { name: "1".into(), expr: value, origin: None, text: None }];
    block.order.clear();
    block.limit = Window::default();
    found.outer.clear();
    let nullable = needle.nullable;
    let unknown = (negated && nullable).then(|| build.is_null(needle.clone(), false));
    let form = SubqueryForm::In { negated, domain };
    let kind = ExprKind::Subquery { plan, form, needle: Some(Box::new(needle)) };
    let ty = types::SqlType::new(types::TypeKind::BigInt, 1);
    let mut condition = Expr { kind, ty, nullable: true };
    if let Some(unknown) = unknown {
        condition = build.or(vec![unknown, condition]);
    }
    Some(ByList { condition, subquery: found })
}

/// The first equality of an expression of outer columns of subquery `id` with one of its own: its place among
/// the conditions, its domain, and whether the outer one is on the right.
fn correlation(block: &Block, id: u16) -> Option<(usize, CmpDomain, bool)> {
    block.filter.iter().enumerate().find_map(|(at, condition)| {
        let ExprKind::Compare { op: CmpOp::Eq, domain, args } = &condition.kind else { return None };
        let is_needle = |e: &Expr| names(e, id) == NamedRelations::Outer && is_movable(e);
        let is_value = |e: &Expr| names(e, id) == NamedRelations::Inner && is_movable(e);
        match &**args {
            [needle, value] if is_needle(needle) && is_value(value) => Some((at, *domain, false)),
            [value, needle] if is_needle(needle) && is_value(value) => Some((at, *domain, true)),
            _ => None,
        }
    })
}

/// `SELECT 1 FROM (SELECT x, y FROM t WHERE c) d WHERE d.x = 1` as `SELECT 1 FROM t WHERE c AND x = 1`: as
/// `(a, b) IN (SELECT ..)` is bound.
fn merge(subquery: &mut SubBlock) {
    let Query::Select(block) = &mut subquery.query else { return };
    let is_alone = matches!(block.from, JoinTree::Rel(0))
        && block.aggregation.is_none()
        && block.computed.is_none()
        && block.having.is_none()
        && block.locks.is_none()
        && !block.count_found_rows
        && block.subqueries.is_empty();
    let ([Source::Query { query: Some(Query::Select(inner)), .. }], true) = (&mut block.rels[..], is_alone)
    else {
        return;
    };
    let is_movable = inner.output.iter().all(|item| is_movable(&item.expr));
    if !is_plain(inner) || inner.limit.count.is_some() || !is_movable {
        return;
    }
    let mut inner = std::mem::take(&mut **inner);
    for mut condition in std::mem::take(&mut block.filter) {
        put_items(&mut condition, &inner.output);
        inner.filter.push(condition);
    }
    inner.output = vec![one_column()];
    inner.limit = std::mem::take(&mut block.limit);
    inner.order.clear();
    inner.distinct = false;
    **block = inner;
}

fn one() -> Expr {
    Expr::constant(types::OwnedValue::Int(1), types::SqlType::bigint())
}

/// What EXISTS selects.
fn one_column() -> OutputColumn {
    OutputColumn { name: "1".into(), expr: one(), origin: None, text: None }
}

/// Puts items of a select list in the place of the columns that show them.
fn put_items(expr: &mut Expr, items: &[OutputColumn]) {
    match expr.kind {
        ExprKind::Column(column) if column.rel == 0 => *expr = items[usize::from(column.col)].expr.clone(),
        _ => expr.for_each_child_mut(&mut |child| put_items(child, items)),
    }
}

/// Whether conditions may be moved in and out of the query: each of its rows is one of its tables' rows.
fn is_plain(block: &Block) -> bool {
    let is_table = |source: &Source| matches!(source, Source::Table { .. });
    block.aggregation.is_none()
        && block.computed.is_none()
        && block.having.is_none()
        && block.locks.is_none()
        && block.limit.offset.is_none()
        && !block.count_found_rows
        && !matches!(block.from, JoinTree::Dual)
        && block.rels.iter().all(is_table)
        && !block.filter.iter().any(is_volatile)
}

/// Whether `expr` may be evaluated elsewhere and another number of times.
fn is_movable(expr: &Expr) -> bool {
    !is_volatile(expr) && !rewrite::has_subquery(expr)
}

/// Outer columns of a subquery and those inside.
fn outer_columns(subquery: &SubBlock) -> usize {
    let inside = match &subquery.query {
        Query::Select(block) => block.subqueries.iter().map(outer_columns).sum(),
        Query::Union(_) => OUTER_COLUMNS_MAX,
    };
    subquery.outer.len() + inside
}

/// Whose columns an expression names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedRelations {
    Nothing,
    /// The subquery's own, or what stands for those of queries further out.
    Inner,
    /// Outer columns of the subquery.
    Outer,
    Both,
}

/// Whose columns `expr`, in subquery `id`, names.
fn names(expr: &Expr, id: u16) -> NamedRelations {
    let (mut inner, mut outer) = (false, false);
    expr.walk(&mut |e| {
        if let ExprKind::Column(column) = e.kind {
            let is_outer = outer_id(column.rel) == Some(id);
            outer |= is_outer;
            inner |= !is_outer;
        }
    });
    match (inner, outer) {
        (false, false) => NamedRelations::Nothing,
        (true, false) => NamedRelations::Inner,
        (false, true) => NamedRelations::Outer,
        (true, true) => NamedRelations::Both,
    }
}

/// Makes columns of the enclosing query outer columns of subquery `id`.
fn export(expr: &mut Expr, id: u16, outer: &mut Vec<ColumnRef>) {
    if let ExprKind::Column(column) = &mut expr.kind {
        let known = outer.iter().position(|known| known == column);
        let col = known.unwrap_or_else(|| {
            outer.push(*column);
            outer.len() - 1
        });
        *column = ColumnRef { rel: outer_rel(id), col: col as u16 };
    }
    expr.for_each_child_mut(&mut |child| export(child, id, outer));
}

/// Makes outer columns of subquery `id` columns of the enclosing query.
fn import(expr: &mut Expr, id: u16, outer: &[ColumnRef]) {
    if let ExprKind::Column(column) = &mut expr.kind
        && outer_id(column.rel) == Some(id)
    {
        *column = outer[usize::from(column.col)];
    }
    expr.for_each_child_mut(&mut |child| import(child, id, outer));
}
