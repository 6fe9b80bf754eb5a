//! A query of one table whose conditions equate its whole clustered key with values: it reads at most one
//! row.
//!
//! ```text
//! WHERE w = 1 AND i = 5 AND quantity > 10   on PRIMARY (w, i)   ->   the row of key (1, 5), if its quantity is above 10
//! ```
//! No path costs less, so that none is compared: planning such a query takes a fraction of the work. A
//! condition that might change the path, or that another rule would change, leaves the query to the general
//! way ([`super::rules`]), which finds the same plan.

use std::sync::Arc;

use expr::{CmpOp, ColumnRef, Expr, ExprKind};
use smallvec::{SmallVec, smallvec};
use types::{KeyPart, OwnedValue, SqlType, TableDef};

use super::draft::{Extra, PlanInput};
use super::known_equalities::KnownEqualities;
use super::limit::{row_limit, window};
use super::rule::MakePlan;
use super::sarg::{self, Equality};
use super::{cost, key_boxes};
use crate::bind::BindContext;
use crate::bind::block::{Block, JoinTree, Source};
use crate::bind::row_keys::RowKeys;
use crate::plan::{Estimate, Node, Path, QueryPlan, Relation, RelationColumns, int_param};

/// Key parts whose places need no allocation.
const INLINE: usize = 4;

/// Where the value of a key part is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Position of the equality among the conditions.
    condition: u32,
    /// Side of the equality that is the value.
    side: u32,
}

impl Place {
    /// That of a part without an equality.
    const NONE: Place = Place { condition: u32::MAX, side: 0 };

    /// The value in its equality, one of `conditions`.
    pub(super) fn value(self, conditions: &[Expr]) -> &Expr {
        match &conditions[self.condition as usize].kind {
            ExprKind::Compare { args, .. } => &args[self.side as usize],
            _ => unreachable!("an equality"),
        }
    }

    /// Takes the value out of its equality, one of `conditions`.
    pub(super) fn take(self, conditions: &mut [Expr]) -> Expr {
        let ExprKind::Compare { args, .. } = &mut conditions[self.condition as usize].kind else {
            unreachable!("an equality")
        };
        let nothing = Expr::constant(OwnedValue::Null, SqlType::null());
        std::mem::replace(&mut args[self.side as usize], nothing)
    }
}

/// The places of the values of a whole key, one for each part.
pub(super) type Places = SmallVec<[Place; INLINE]>;

/// The values of the clustered key of a query's only table.
#[derive(Debug)]
pub(super) struct WholeKey {
    /// Empty: they are those of [`Block::row_keys`].
    places: Places,
}

/// Plans the block, if it is a query of one row.
pub(super) fn apply(start: &mut PlanInput<'_>) -> Option<MakePlan> {
    start.key = Some(find(start.block, start.ctx)?);
    Some(plan_found)
}

fn plan_found(start: &mut PlanInput<'_>) -> QueryPlan {
    let Some(key) = start.key.take() else { unreachable!("it was found") };
    key.plan(start.block, start.extra)
}

/// Finds the values of the whole clustered key, if `block` is a query whose path they decide.
pub(super) fn find(block: &Block, ctx: &BindContext<'_>) -> Option<WholeKey> {
    let def = only_table(block)?;
    let parts = &def.clustered().parts[..];
    let is_one_key = block.row_keys.as_ref().is_some_and(|keys| keys.len() == 1);
    if parts.is_empty() || !is_one_key && block.filter.len() < parts.len() {
        return None;
    }
    let places = if is_one_key { Places::new() } else { places(&block.filter, parts)? };
    let is_allowed = ctx.range_memory.allows(parts.len() * key_boxes::TEST_BYTES);
    is_allowed.then_some(WholeKey { places })
}

/// The table of `block`, if that does nothing with its rows but filter, limit and show them.
pub(super) fn only_table(block: &Block) -> Option<&TableDef> {
    let [Source::Table { def, indexes: None, .. }] = &block.rels[..] else { return None };
    let is_plain = matches!(block.from, JoinTree::Rel(0))
        && block.aggregation.is_none()
        && block.computed.is_none()
        && block.having.is_none()
        && !block.distinct
        && block.order.is_empty()
        && block.subqueries.is_empty();
    is_plain.then_some(&**def)
}

/// The equality of each of `parts` among `conditions`; `None`: there is not just one for each, or the other
/// conditions are not plain.
pub(super) fn places(conditions: &[Expr], parts: &[KeyPart]) -> Option<Places> {
    let mut places: Places = smallvec![Place::NONE; parts.len()];
    let mut missing = parts.len();
    for (condition, expr) in conditions.iter().enumerate() {
        let equality = sarg::equality(expr, 0);
        let part = equality.and_then(|equality| parts.iter().position(|part| part.column == equality.col));
        let (Some(Equality { side, exact, .. }), Some(part)) = (equality, part) else {
            if is_plain(expr, parts) {
                continue;
            }
            return None;
        };
        if !exact || parts[part].prefix_len.is_some() || places[part].condition != Place::NONE.condition {
            return None;
        }
        places[part] = Place { condition: condition as u32, side: side as u32 };
        missing -= 1;
    }
    (missing == 0).then_some(places)
}

/// Whether no rule but the one that places conditions reads `condition`, which says nothing about columns
/// of the key.
fn is_plain(condition: &Expr, parts: &[KeyPart]) -> bool {
    match &condition.kind {
        ExprKind::Const(_) | ExprKind::And(_) | ExprKind::Or(_) => return false,
        ExprKind::Compare { op: CmpOp::Eq, args, .. }
            if args.iter().all(|side| matches!(side.kind, ExprKind::Column(_))) =>
        {
            return false;
        }
        _ => {}
    }
    let mut names_key = false;
    condition.walk(&mut |e| {
        if let ExprKind::Column(column) = e.kind {
            names_key |= parts.iter().any(|part| part.column == column.col);
        }
    });
    !names_key
}

impl WholeKey {
    /// The plan of `block`, from which it takes what the plan holds.
    pub(super) fn plan(self, block: &mut Block, extra: &Extra<'_>) -> QueryPlan {
        let (rest, cost_of_rest) = self.rest(&block.filter);
        let estimate = Estimate::new(1.0, cost::stretches(1) + cost::reading(1.0, false) + cost_of_rest);
        let relation = relation(block, extra, &rest);
        let filter = if rest.is_empty() { None } else { Some(expr::Builder::default().and(rest)) };
        let key = match block.row_keys.take() {
            Some(keys) => params_of(&keys, &relation),
            None => self.places.iter().map(|place| place.take(&mut block.filter)).collect(),
        };
        let path = Path::Point { index: 0, key };
        plan_of_path(block, relation, (path, filter), estimate)
    }

    /// The conditions that the key does not ensure, each once, and what testing them costs.
    fn rest(&self, conditions: &[Expr]) -> (Vec<Expr>, f64) {
        let (mut rest, mut cost) = (Vec::new(), 0.0);
        if conditions.len() == self.places.len() {
            return (rest, cost);
        }
        let is_ensured = |at: usize| self.places.iter().any(|place| place.condition as usize == at);
        let mut equal = KnownEqualities::default();
        (0..conditions.len()).filter(|&at| is_ensured(at)).for_each(|at| equal.add(&conditions[at]));
        for condition in (0..conditions.len()).filter(|&at| !is_ensured(at)).map(|at| &conditions[at]) {
            cost += cost::test(condition);
            if !equal.implies(condition) {
                equal.add(condition);
                rest.push(condition.clone());
            }
        }
        (rest, cost)
    }
}

/// The values of `keys`, a whole key of the table `relation`, in the order of its parts.
fn params_of(keys: &RowKeys, relation: &Relation) -> Arc<[Expr]> {
    let Relation::Table { def, .. } = relation else { unreachable!("its rows have keys") };
    #[cfg(test)]
    super::key_list::FLAT_LISTS.set(super::key_list::FLAT_LISTS.get() + 1);
    let value = |part: &KeyPart| match keys.first(part.column) {
        Some(number) => int_param(number),
        None => unreachable!("a value for each part"),
    };
    def.clustered().parts.iter().map(value).collect()
}

/// The plan of `block` that reads its only table by `path` and tests `filter`; `estimate`: what the whole
/// path comes to.
pub(super) fn plan_of_path(
    block: &mut Block,
    relation: Relation,
    (path, filter): (Path, Option<Expr>),
    estimate: Estimate,
) -> QueryPlan {
    let limit = row_limit(block).unwrap_or(f64::INFINITY);
    let Estimate { rows, cost, .. } = estimate;
    let node = Node::Access { rel: 0, path, filter, index_condition: None, covering: false };
    QueryPlan {
        relations: Arc::new([relation]),
        root: window(node, std::mem::take(&mut block.limit)),
        output: std::mem::take(&mut block.output).into(),
        subqueries: Vec::new(),
        locks: std::mem::take(&mut block.locks),
        count_found_rows: block.count_found_rows,
        estimate: Estimate::new(rows.min(limit), cost * (limit / rows).min(1.0)),
        counted: None,
    }
}

/// The table, with the columns that `block` and `extra` read: those of its key, and those that the conditions
/// `rest` name beside.
pub(super) fn relation(block: &mut Block, extra: &Extra<'_>, rest: &[Expr]) -> Relation {
    let Some(Source::Table { def, alias, .. }) = block.rels.pop() else { unreachable!("its only table") };
    let mut used = RelationColumns::default();
    def.clustered().parts.iter().for_each(|part| used.insert(part.column));
    let mut note_one = |expr: &Expr| {
        if let ExprKind::Column(ColumnRef { rel: 0, col }) = expr.kind {
            used.insert(col);
        }
    };
    let mut note = |expr: &Expr| match expr.kind {
        ExprKind::Column(_) => note_one(expr),
        _ => expr.walk(&mut |e| note_one(e)),
    };
    block.output.iter().for_each(|column| note(&column.expr));
    extra.read.iter().for_each(|expr| note(expr));
    rest.iter().for_each(&mut note);
    if !extra.whole.is_empty() {
        used.insert_first(def.columns.len());
    }
    Relation::Table { def, alias, used }
}
