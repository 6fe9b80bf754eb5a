//! Aggregates: found while expressions are bound, then moved below the expressions that use them.

use expr::{AggFunc, ColumnRef, Expr, ExprKind};
use types::{SqlModes, SqlType, TypeKind};

use super::binder::{AGG_PENDING, Aggregates, Aliases, Binder, Level};
use super::block::{Aggregation, Block, Source, SubBlock, outer_id};
use super::kept_type::kept_type;
use super::{BindError, Clause, dependency, order, same, volatile};
use crate::ast::{self, AggregateFn};
use crate::plan::{AggSpec, Column, SortKey};

impl<'a> Binder<'a, '_> {
    /// A call of an aggregate function: a column of the pending aggregates.
    pub(super) fn aggregate_call(&mut self, call: &'a ast::Aggregate<'a>) -> Result<Expr, BindError> {
        if call.over.is_some() {
            return Err(BindError::NotSupported("window functions"));
        }
        if self.levels.iter().all(|level| level.hidden || level.aggregates != Aggregates::Allowed) {
            return Err(BindError::InvalidGroupFunction);
        }
        match self.aggregated_outside(call)? {
            Some(at) => {
                let inner = self.levels.split_off(at + 1);
                let bound = self.aggregate_here(call);
                self.levels.extend(inner);
                self.import(at, bound?)
            }
            None => self.aggregate_here(call),
        }
    }

    /// An aggregate of the rows of the current query.
    fn aggregate_here(&mut self, call: &'a ast::Aggregate<'a>) -> Result<Expr, BindError> {
        let func = aggregate_func(call.func)?;
        let level = self.level();
        if level.aggregates != Aggregates::Allowed {
            return Err(BindError::InvalidGroupFunction);
        }
        let (clause, aliases) = (level.clause, level.aliases);
        self.enter(clause, Aggregates::Nested, aliases_in_aggregate(clause));
        let spec = self.aggregate_spec(func, call);
        self.enter(clause, Aggregates::Allowed, aliases);
        Ok(self.pending(spec?))
    }

    fn aggregate_spec(&mut self, func: AggFunc, call: &'a ast::Aggregate<'a>) -> Result<AggSpec, BindError> {
        let is_star = matches!(call.args, [ast::Expr { kind: ast::ExprKind::Star, .. }]);
        let mut args = match func {
            _ if is_star => Vec::new(),
            // An average has more fraction digits than its values.
            AggFunc::Avg => self.values_with_digits(call.args)?,
            _ => self.values(call.args)?,
        };
        if matches!(func, AggFunc::Sum | AggFunc::Avg | AggFunc::Min | AggFunc::Max) {
            self.note_padding(&args);
        }
        if matches!(func, AggFunc::Sum | AggFunc::Avg) {
            self.settle_summed(&mut args);
        } else {
            self.settle_values(&mut args);
        }
        let mut keys = Vec::with_capacity(call.order_by.len());
        for item in call.order_by {
            let expr = match self.position_in(&item.expr, &args)? {
                Some(expr) => {
                    self.note_copy(&expr)?;
                    expr
                }
                None => self.value(&item.expr)?,
            };
            keys.push(SortKey { expr, desc: item.descending });
        }
        if is_counted_literal(func, call, &args) {
            // COUNT(1) is COUNT(*).
            args.clear();
        }
        let expr::TypedAggregate { args, mut ty, nullable } = self.build.aggregate(func, args)?;
        if matches!(func, AggFunc::Min | AggFunc::Max) && self.is_of_derived(&args) {
            widen_derived(&mut ty);
        }
        ty.zerofill &= func != AggFunc::AnyValue;
        let separator = call.separator.unwrap_or(",").as_bytes().into();
        Ok(AggSpec { func, args, distinct: call.distinct, order: keys, separator, ty, nullable })
    }

    /// Whether `args` begin with a column of a derived table.
    fn is_of_derived(&mut self, args: &[Expr]) -> bool {
        let Some(Expr { kind: ExprKind::Column(column), .. }) = args.first() else { return false };
        matches!(self.level().rels.get(usize::from(column.rel)), Some(Source::Query { .. }))
    }

    /// ORDER BY 1 inside GROUP_CONCAT means its first argument.
    fn position_in(&self, expr: &ast::Expr<'a>, args: &[Expr]) -> Result<Option<Expr>, BindError> {
        let ast::ExprKind::Literal(literal) = expr.kind else { return Ok(None) };
        let crate::literal::IntValue::Signed(n) = literal.int_value(self.ctx.sql) else { return Ok(None) };
        if literal.kind != crate::LiteralKind::Int {
            return Ok(None);
        }
        let item = usize::try_from(n).ok().and_then(|n| n.checked_sub(1)).and_then(|at| args.get(at));
        item.cloned().map(Some).ok_or_else(|| BindError::UnknownColumn {
            name: String::from_utf8_lossy(literal.text(self.ctx.sql)).into_owned(),
            clause: Clause::Order,
        })
    }

    /// The column that shows `spec`, which is shared with an equal aggregate.
    fn pending(&mut self, spec: AggSpec) -> Expr {
        let level = self.level();
        let (ty, nullable) = (spec.ty.clone(), spec.nullable);
        let at = find_or_add(&mut level.aggs, spec);
        Expr::column(AGG_PENDING, at as u16, ty, nullable)
    }

    /// Puts the aggregation into `block`, if it groups or aggregates, and makes the expressions above it name
    /// its columns.
    pub(super) fn aggregate(&mut self, block: &mut Block, groups: Vec<Expr>) {
        let strict = self.ctx.modes.has(SqlModes::ONLY_FULL_GROUP_BY);
        let level = self.level();
        let aggs = std::mem::take(&mut level.aggs);
        if groups.is_empty() && aggs.is_empty() {
            return;
        }
        let needs_determined = strict && !shows_aggregates_alone(block);
        let determined = if needs_determined { dependency::determined(&groups, block) } else { Vec::new() };
        let rel = block.rels.len() as u16;
        let mut regroup =
            GroupRewriter { level, rel, groups: &groups, aggs, determined, strict, refused: None };
        let mut subqueries = std::mem::take(&mut block.subqueries);
        for (at, item) in block.output.iter_mut().enumerate() {
            regroup.item(&mut item.expr, &mut subqueries, at + 1, &block.rels);
        }
        for (at, key) in block.order.iter_mut().enumerate() {
            regroup.expr(&mut key.expr, &mut subqueries, ("ORDER BY clause", at + 1), &block.rels);
        }
        if let Some(having) = &mut block.having {
            regroup.expr(having, &mut subqueries, ("HAVING clause", 1), &block.rels);
        }
        let GroupRewriter { aggs, refused, .. } = regroup;
        if let Some(error) = refused {
            self.deferred.note(error);
        }
        let columns = group_columns(&groups, &aggs);
        let build = self.build;
        let groups: Vec<Expr> = groups
            .into_iter()
            .map(|g| {
                let ty = kept_type(&g);
                let is_shown_as_is = super::temp_table::is_constant(&g, block);
                let kept = build.coerce(g, &ty);
                if is_shown_as_is { kept } else { kept.as_kept_decimal() }
            })
            .collect();
        block.subqueries = subqueries;
        block.rels.push(Source::Made { columns });
        if groups.is_empty() {
            // MIN and MAX of all rows do not fill a number with zeros, those of a group do.
            block.output.iter_mut().for_each(|item| item.expr.ty.zerofill = false);
        }
        block.aggregation = Some(Aggregation { rel, groups, aggs });
    }
}

/// Whether `args` of `call` are one literal that counts in every row.
fn is_counted_literal(func: AggFunc, call: &ast::Aggregate<'_>, args: &[Expr]) -> bool {
    let is_written = matches!(call.args, [ast::Expr { kind: ast::ExprKind::Literal(_), .. }]);
    func == AggFunc::Count && !call.distinct && is_written && args.iter().all(|arg| !arg.nullable)
}

/// Whether `block` names no columns above its aggregation.
fn shows_aggregates_alone(block: &Block) -> bool {
    let is_aggregate =
        |expr: &Expr| matches!(expr.kind, ExprKind::Column(column) if column.rel == AGG_PENDING);
    block.having.is_none()
        && block.order.is_empty()
        && block.output.iter().all(|item| is_aggregate(&item.expr))
}

/// Where an expression is, for errors 1055 and 1140.
type Place = (&'static str, usize);

/// Rewrites expressions from the relations below the aggregation to its output.
struct GroupRewriter<'l, 'a> {
    level: &'l Level<'a>,
    rel: u16,
    groups: &'l [Expr],
    aggs: Vec<AggSpec>,
    determined: Vec<ColumnRef>,
    strict: bool,
    /// The first column that has no one value within a group.
    refused: Option<BindError>,
}

impl GroupRewriter<'_, '_> {
    /// Rewrites item `ordinal` of the select list. As in MySQL a group's expression is one value as a whole
    /// item, not as a part of another.
    fn item(&mut self, expr: &mut Expr, subqueries: &mut [SubBlock], ordinal: usize, rels: &[Source]) {
        let place = ("SELECT list", ordinal);
        if self.strict && self.groups.iter().any(|g| !matches!(g.kind, ExprKind::Column(_))) {
            self.refuse_parts(expr, place);
        }
        self.expr(expr, subqueries, place, rels);
    }

    /// Refuses the columns of groups' expressions within `expr` that have no one value themselves.
    fn refuse_parts(&mut self, expr: &Expr, place: Place) {
        if self.groups.iter().any(|g| same::same(g, expr)) {
            return;
        }
        let mut found = None;
        expr.walk(&mut |part| {
            if let ExprKind::Column(column) = part.kind
                && found.is_none()
                && self.is_below(column)
                && !self.determined.contains(&column)
            {
                found = Some(column);
            }
        });
        if let (Some(column), None) = (found, &self.refused) {
            self.refused = Some(self.refuse(column, place));
        }
    }

    /// Whether `column` is one below the aggregation.
    fn is_below(&self, column: ColumnRef) -> bool {
        let is_above = outer_id(column.rel).is_some() || column.rel == self.rel;
        !is_above && column.rel != AGG_PENDING && !volatile::is_item(column)
    }

    fn expr(&mut self, expr: &mut Expr, subqueries: &mut [SubBlock], place: Place, rels: &[Source]) {
        if let Some(at) = self.groups.iter().position(|g| same::same(g, expr)) {
            *expr = Expr::column(self.rel, at as u16, kept_type(expr), expr.nullable);
            return;
        }
        match &mut expr.kind {
            ExprKind::Column(column) => {
                let (ty, nullable) = (expr.ty.clone(), expr.nullable);
                *column = self.column(*column, ty, nullable, place);
                expr.nullable |=
                    self.groups.is_empty() && column.rel == self.rel && self.is_any_value(*column);
            }
            ExprKind::Subquery { plan, .. } => {
                for column in &mut subqueries[usize::from(*plan)].outer {
                    self.outer_column(column, place, rels);
                }
                self.children(expr, subqueries, place, rels);
            }
            _ => self.children(expr, subqueries, place, rels),
        }
    }

    fn children(&mut self, expr: &mut Expr, subqueries: &mut [SubBlock], place: Place, rels: &[Source]) {
        expr.for_each_child_mut(&mut |child| self.expr(child, subqueries, place, rels));
    }

    /// The output column that stands for `column`: a pending aggregate, or the value of any row of the group.
    fn column(&mut self, column: ColumnRef, ty: types::SqlType, nullable: bool, place: Place) -> ColumnRef {
        let first = self.groups.len() as u16;
        if column.rel == AGG_PENDING {
            return ColumnRef { rel: self.rel, col: first + column.col };
        }
        if !self.is_below(column) {
            return column;
        }
        if self.strict && self.refused.is_none() && !self.determined.contains(&column) {
            self.refused = Some(self.refuse(column, place));
        }
        let arg = Expr::column(column.rel, column.col, ty.clone(), nullable);
        let spec = AggSpec {
            func: AggFunc::AnyValue,
            args: vec![arg],
            distinct: false,
            order: Vec::new(),
            separator: b",".as_slice().into(),
            ty,
            nullable: nullable || self.groups.is_empty(),
        };
        let at = find_or_add(&mut self.aggs, spec);
        ColumnRef { rel: self.rel, col: first + at as u16 }
    }

    fn is_any_value(&self, column: ColumnRef) -> bool {
        let at = usize::from(column.col).checked_sub(self.groups.len());
        at.and_then(|at| self.aggs.get(at)).is_some_and(|spec| spec.func == AggFunc::AnyValue)
    }

    /// A column that a subquery above the aggregation names.
    fn outer_column(&mut self, column: &mut ColumnRef, place: Place, rels: &[Source]) {
        let group = self.groups.iter().position(|g| matches!(g.kind, ExprKind::Column(c) if c == *column));
        if let Some(at) = group {
            *column = ColumnRef { rel: self.rel, col: at as u16 };
            return;
        }
        let source = rels.get(usize::from(column.rel)).map(|r| r.column(usize::from(column.col)));
        let (ty, nullable) = source.map_or((types::SqlType::null(), true), |c| (c.ty, c.nullable));
        *column = self.column(*column, ty, nullable, place);
    }

    #[cold]
    fn refuse(&self, column: ColumnRef, (place, ordinal): Place) -> BindError {
        let column = order::column_name(self.level, &Block::default(), column);
        if self.groups.is_empty() {
            BindError::MixOfGroupAndFields { ordinal, place, column }
        } else {
            BindError::NotGrouped { ordinal, place, column }
        }
    }
}

/// Makes `ty`, of a value of a derived table's column, as wide as any column of its type.
pub(super) fn widen_derived(ty: &mut SqlType) {
    let is_short = ty.length < SqlType::new(ty.kind, 0).width();
    if matches!(ty.kind, TypeKind::Int | TypeKind::BigInt) && is_short {
        ty.length = 0;
    }
}

/// Whether items of the select list are names within an aggregate of `clause`.
pub(super) fn aliases_in_aggregate(clause: Clause) -> Aliases {
    if matches!(clause, Clause::Having | Clause::Order) { Aliases::Last } else { Aliases::Hidden }
}

/// The place of `spec` in `aggs`, where it is put if no equal one is there.
fn find_or_add(aggs: &mut Vec<AggSpec>, spec: AggSpec) -> usize {
    let equal = |other: &AggSpec| {
        other.func == spec.func
            && other.distinct == spec.distinct
            && other.order.is_empty()
            && spec.order.is_empty()
            && other.separator == spec.separator
            && other.args.len() == spec.args.len()
            && other.args.iter().zip(&spec.args).all(|(a, b)| same::same(a, b))
    };
    aggs.iter().position(equal).unwrap_or_else(|| {
        aggs.push(spec);
        aggs.len() - 1
    })
}

/// The columns of the aggregation's relation: groups, then aggregates.
fn group_columns(groups: &[Expr], aggs: &[AggSpec]) -> Vec<Column> {
    let groups = groups.iter().map(|g| Column { name: "".into(), ty: kept_type(g), nullable: g.nullable });
    let aggs = aggs.iter().map(|a| Column { name: "".into(), ty: a.ty.clone(), nullable: a.nullable });
    groups.chain(aggs).collect()
}

fn aggregate_func(func: AggregateFn) -> Result<AggFunc, BindError> {
    Ok(match func {
        AggregateFn::Count => AggFunc::Count,
        AggregateFn::Sum => AggFunc::Sum,
        AggregateFn::Avg => AggFunc::Avg,
        AggregateFn::Min => AggFunc::Min,
        AggregateFn::Max => AggFunc::Max,
        AggregateFn::GroupConcat => AggFunc::GroupConcat,
        AggregateFn::BitAnd => AggFunc::BitAnd,
        AggregateFn::BitOr => AggFunc::BitOr,
        AggregateFn::BitXor => AggFunc::BitXor,
        AggregateFn::StddevPop => AggFunc::StdPop,
        AggregateFn::StddevSamp => AggFunc::StdSamp,
        AggregateFn::VarPop => AggFunc::VarPop,
        AggregateFn::VarSamp => AggFunc::VarSamp,
        AggregateFn::AnyValue => AggFunc::AnyValue,
        AggregateFn::JsonArrayAgg | AggregateFn::JsonObjectAgg => {
            return Err(BindError::NotSupported("JSON aggregates"));
        }
        _ => return Err(BindError::NotSupported("window functions")),
    })
}

/// Whether a pending aggregate occurs in `expr`.
pub(super) fn has_pending(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Column(c) if c.rel == AGG_PENDING));
    found
}
