//! Subqueries in expressions.

use expr::{CmpDomain, CmpOp, ColumnRef, Expr, ExprKind, SubqueryForm};
use types::{CollationId, SqlType, TypeKind};

use super::binder::{Binder, Level, Role};
use super::block::{Block, JoinTree, Query, Source, SubBlock, Window};
use super::{BindError, Clause, aggregate};
use crate::ast::{self, BinaryOp};
use crate::plan::OutputColumn;

/// Values, each beside the column that it is compared with.
pub(super) type Pairs = Vec<(Expr, Expr)>;

/// A row IN a subquery.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowIn {
    /// NOT IN.
    pub(super) negated: bool,
    /// NULL is as good as false.
    pub(super) is_condition: bool,
}

impl<'a> Binder<'a, '_> {
    /// Binds `query` as a subquery of the current query; its place among the subplans.
    fn subquery(&mut self, query: &'a ast::Query<'a>, role: Role) -> Result<u16, BindError> {
        let id = self.new_sub()?;
        self.enter_select()?;
        self.levels.push(Level { sub: Some((id, Vec::new())), ..Level::new(role) });
        let bound = self.within(|binder| binder.query(query));
        self.leave_select();
        let level = self.levels.pop().expect("pushed above");
        let (_, outer) = level.sub.expect("set above");
        let subqueries = &mut self.level().subqueries;
        subqueries.push(SubBlock { query: bound?, id, outer });
        Ok((subqueries.len() - 1) as u16)
    }

    /// The select list of a subquery that must have one column.
    fn sole_column(&mut self, plan: u16) -> Result<&Expr, BindError> {
        match self.level().subqueries[usize::from(plan)].query.output() {
            [only] => Ok(&only.expr),
            _ => Err(BindError::OperandColumns(1)),
        }
    }

    /// `(SELECT ..)` as a value.
    pub(super) fn scalar_subquery(&mut self, query: &'a ast::Query<'a>) -> Result<Expr, BindError> {
        let plan = self.subquery(query, Role::Value)?;
        let column = self.sole_column(plan)?;
        let (mut ty, nullable) = (column.ty.clone(), column.nullable);
        let shown = match column.kind {
            ExprKind::Column(shown) => Some(shown),
            _ => None,
        };
        let subquery = &self.level().subqueries[usize::from(plan)].query;
        // MySQL puts a text in the place of the subquery that selects it from no table.
        if let Query::Select(block) = subquery
            && block.has_one_row()
            && let [OutputColumn { expr, .. }] = &block.output[..]
            && matches!(expr.kind, ExprKind::Const(_))
            && expr.ty.is_string()
        {
            return Ok(expr.clone());
        }
        if shows_derived(subquery, shown) {
            aggregate::widen_derived(&mut ty);
        }
        if ty.kind == TypeKind::Null && matches!(subquery, Query::Union(_)) {
            // The table of a set operation has an empty text where all operands have NULL.
            ty = SqlType::new(TypeKind::VarBinary, 0);
        }
        let may_be_empty = !matches!(subquery, Query::Select(block) if block.has_one_row());
        ty.zerofill = false;
        let kind = ExprKind::Subquery { plan, form: SubqueryForm::Scalar, needle: None };
        Ok(Expr { kind, ty, nullable: nullable || may_be_empty })
    }

    /// `[NOT] EXISTS (SELECT ..)`: one row is enough.
    pub(super) fn exists(&mut self, query: &'a ast::Query<'a>, negated: bool) -> Result<Expr, BindError> {
        let plan = self.subquery(query, Role::Exists)?;
        let one = self.build.int(1);
        if let Query::Select(block) = &mut self.level().subqueries[usize::from(plan)].query {
            block.order.clear();
            if block.limit.count.is_none() {
                block.limit.count = Some(one);
            }
        }
        let kind = ExprKind::Subquery { plan, form: SubqueryForm::Exists { negated }, needle: None };
        Ok(Expr { kind, ty: SqlType::new(TypeKind::BigInt, 1), nullable: false })
    }

    /// `needle [NOT] IN (SELECT ..)`.
    pub(super) fn in_subquery(
        &mut self,
        needle: &'a ast::Expr<'a>,
        query: &'a ast::Query<'a>,
        negated: bool,
    ) -> Result<Expr, BindError> {
        if let ast::ExprKind::Row(needle) = needle.kind {
            return self.row_in_subquery(needle, query, RowIn { negated, is_condition: false });
        }
        if let Some(literal) = query.literal() {
            let op = if negated { CmpOp::Ne } else { CmpOp::Eq };
            return self.compare_with_literal(op, needle, literal);
        }
        let plan = self.subquery(query, Role::Set)?;
        let mut needle = self.operand_of_set(needle)?;
        let ty = self.sole_column(plan)?.ty.clone();
        self.settle(&mut needle, &ty);
        let (needle, domain) = self.needle(needle, plan)?;
        let form = SubqueryForm::In { negated, domain };
        let kind = ExprKind::Subquery { plan, form, needle: Some(Box::new(needle)) };
        Ok(Expr { kind, ty: SqlType::new(TypeKind::BigInt, 1), nullable: true })
    }

    /// `needle op (SELECT literal)` of a set of rows: MySQL puts the literal in its place.
    fn compare_with_literal(
        &mut self,
        op: CmpOp,
        needle: &'a ast::Expr<'a>,
        literal: &'a ast::Expr<'a>,
    ) -> Result<Expr, BindError> {
        let bound = self.operand_of_set(needle)?;
        self.compare_with(op, (bound, needle), literal)
    }

    /// The value that is searched for in a set of rows, whose query is bound. MySQL has a name of its own for
    /// this place in errors.
    fn operand_of_set(&mut self, needle: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        let here = self.level().clause;
        self.value(needle).map_err(|error| match error {
            BindError::UnknownColumn { name, clause } if clause == here => {
                BindError::UnknownColumn { name, clause: Clause::Set }
            }
            BindError::AmbiguousColumn { name, clause } if clause == here => {
                BindError::AmbiguousColumn { name, clause: Clause::Set }
            }
            error => error,
        })
    }

    /// Notes `row`, which is compared with a subquery's.
    /// # Errors  [`BindError::OperandColumns`] if a part of it is a row.
    pub(super) fn row_beside_query(&mut self, row: &'a [ast::Expr<'a>]) -> Result<(), BindError> {
        self.note_row(row)?;
        let inner = row.iter().find_map(|part| match part.kind {
            ast::ExprKind::Row(inner) => Some(inner.len()),
            _ => None,
        });
        inner.map_or(Ok(()), |count| Err(BindError::OperandColumns(count)))
    }

    /// `(a, b) [NOT] IN (SELECT x, y ..)`: EXISTS a row of the subquery with `x = a AND y = b`, if that is
    /// never NULL or as good as false; else `1 IN (SELECT x = a AND y = b ..)`.
    pub(super) fn row_in_subquery(
        &mut self,
        needle: &'a [ast::Expr<'a>],
        query: &'a ast::Query<'a>,
        RowIn { negated, is_condition }: RowIn,
    ) -> Result<Expr, BindError> {
        self.row_beside_query(needle)?;
        let needle = needle.iter().map(|part| self.operand_of_set(part)).collect::<Result<Vec<_>, _>>()?;
        let mut nullable = negated || !is_condition;
        let plan = self.made_subquery(|binder| binder.rows_equal_to(needle, query, &mut nullable))?;
        let (form, needle) = if nullable {
            let needle = Box::new(self.build.int(1));
            (SubqueryForm::In { negated, domain: CmpDomain::Integer }, Some(needle))
        } else {
            (SubqueryForm::Exists { negated }, None)
        };
        let kind = ExprKind::Subquery { plan, form, needle };
        Ok(Expr { kind, ty: SqlType::new(TypeKind::BigInt, 1), nullable })
    }

    /// A subquery that `make` makes at a level of its own; its place among the subplans.
    pub(super) fn made_subquery(
        &mut self,
        make: impl FnOnce(&mut Self) -> Result<Block, BindError>,
    ) -> Result<u16, BindError> {
        let id = self.new_sub()?;
        self.levels.push(Level { sub: Some((id, Vec::new())), ..Level::new(Role::Rows) });
        let block = make(self);
        let level = self.levels.pop().expect("pushed above");
        let (_, outer) = level.sub.expect("set above");
        let subqueries = &mut self.level().subqueries;
        subqueries.push(SubBlock { query: Query::Select(Box::new(block?)), id, outer });
        Ok((subqueries.len() - 1) as u16)
    }

    /// The first row of `query` that equals `needle`, whose expressions are the enclosing query's. Where NULL
    /// matters and some equality may be NULL (`nullable` becomes false if none may be): whether they are
    /// equal, of all rows that are not different.
    fn rows_equal_to(
        &mut self,
        needle: Vec<Expr>,
        query: &'a ast::Query<'a>,
        nullable: &mut bool,
    ) -> Result<Block, BindError> {
        let (rels, pairs) = self.rows_beside(needle, query)?;
        let mut filter = Vec::with_capacity(pairs.len());
        for (value, column) in pairs {
            filter.push(self.build.compare(CmpOp::Eq, column, value)?);
        }
        *nullable &= filter.iter().any(|equality| equality.nullable);
        let one = self.build.int(1);
        let (shown, count) =
            if *nullable { (self.build.and(filter.clone()), None) } else { (one.clone(), Some(one)) };
        for equality in filter.iter_mut().filter(|equality| *nullable && equality.nullable) {
            let nullable = std::mem::replace(equality, self.build.null());
            *equality = self.build.is_truth(nullable, false, true);
        }
        Ok(Block {
            rels,
            from: JoinTree::Rel(0),
            filter,
            output: vec![OutputColumn { name: "1".into(), expr: shown, origin: None, text: None }],
            limit: Window { offset: None, count },
            ..Block::default()
        })
    }

    /// `query` as the one relation of the innermost level, and each value of `needle` beside the column that
    /// it meets.
    pub(super) fn rows_beside(
        &mut self,
        needle: Vec<Expr>,
        query: &'a ast::Query<'a>,
    ) -> Result<(Vec<Source>, Pairs), BindError> {
        self.enter_select()?;
        let rows = self.query_in_from(query)?;
        self.leave_select();
        let columns = Self::columns_of(rows.output());
        if columns.len() != needle.len() {
            return Err(BindError::OperandColumns(needle.len()));
        }
        let outside = self.levels.len() - 2;
        let mut pairs = Vec::with_capacity(needle.len());
        for (at, (value, column)) in needle.into_iter().zip(&columns).enumerate() {
            let value = self.import(outside, value)?;
            pairs.push((value, Expr::column(0, at as u16, column.ty.clone(), column.nullable)));
        }
        Ok((vec![Source::Query { query: Some(rows), columns, origins: Vec::new() }], pairs))
    }

    /// The needle as it is compared with the subquery's column, and how.
    fn needle(&mut self, needle: Expr, plan: u16) -> Result<(Expr, CmpDomain), BindError> {
        let build = self.build;
        if let Query::Select(block) = &mut self.level().subqueries[usize::from(plan)].query
            && let [shown] = &mut block.output[..]
        {
            shown.expr = build.beside_date(std::mem::replace(&mut shown.expr, build.null()), &needle)?;
        }
        let column = self.sole_column(plan)?;
        let mut beside = Expr::column(0, 0, column.ty.clone(), column.nullable);
        // A text that is computed does not have its character set as firmly as a column.
        if needle.ty.is_string()
            && beside.ty.is_string()
            && let Some(text) =
                computed(&self.level().subqueries[usize::from(plan)].query, needle.ty.collation)
        {
            beside = text;
        }
        let compared = self.build.compare(CmpOp::Eq, needle, beside)?;
        match compared.kind {
            ExprKind::Compare { domain, args, .. } => {
                let [needle, _] = *args;
                if let (CmpDomain::String(collation), Query::Select(block)) =
                    (domain, &mut self.level().subqueries[usize::from(plan)].query)
                    && let [shown] = &mut block.output[..]
                {
                    shown.expr =
                        build.in_charset(std::mem::replace(&mut shown.expr, build.null()), collation);
                }
                Ok((needle, domain))
            }
            _ => Err(BindError::NotSupported("a computed comparison with a subquery")),
        }
    }

    /// `x op ANY (..)` and `x op ALL (..)`; `= ANY` is IN and `<> ALL` is NOT IN.
    pub(super) fn quantified(&mut self, test: &'a ast::Quantified<'a>) -> Result<Expr, BindError> {
        match (test.op, test.all) {
            (BinaryOp::Eq, false) => return self.in_subquery(&test.expr, test.query, false),
            (BinaryOp::Ne, true) => return self.in_subquery(&test.expr, test.query, true),
            _ => {}
        }
        let Some(op) = test.op.comparison() else {
            return Err(BindError::NotSupported("an operator other than a comparison with ANY or ALL"));
        };
        if let Some(literal) = test.query.literal() {
            return self.compare_with_literal(op, &test.expr, literal);
        }
        let plan = self.subquery(test.query, Role::Set)?;
        self.sole_column(plan)?;
        let needle = self.operand_of_set(&test.expr)?;
        let (needle, domain) = self.needle(needle, plan)?;
        let form = SubqueryForm::Quantified { op, all: test.all, domain };
        let kind = ExprKind::Subquery { plan, form, needle: Some(Box::new(needle)) };
        Ok(Expr { kind, ty: SqlType::new(TypeKind::BigInt, 1), nullable: true })
    }
}

/// What `query`, of one column, selects, if that is no column: of set operations, whose operands cannot be
/// converted to another character set, only constants of bytes or beside bytes.
fn computed(query: &Query, beside: CollationId) -> Option<Expr> {
    let [shown] = query.output() else { return None };
    match query {
        Query::Select(_) if matches!(shown.expr.kind, ExprKind::Column(_)) => None,
        Query::Select(_) => Some(shown.expr.clone()),
        Query::Union(union) => {
            let ty = &shown.expr.ty;
            if ![ty.collation, beside].contains(&CollationId::BINARY) {
                return None;
            }
            let constant = |arm| computed(arm, beside).filter(|text| matches!(text.kind, ExprKind::Const(_)));
            let constants: Vec<Expr> = union.arms.iter().map(constant).collect::<Option<_>>()?;
            Some(Expr { ty: ty.clone(), ..constants.into_iter().next()? })
        }
    }
}

/// Whether `shown`, the only item of `query`, is a column of a derived table.
fn shows_derived(query: &Query, shown: Option<ColumnRef>) -> bool {
    let (Query::Select(block), Some(column)) = (query, shown) else { return false };
    matches!(block.rels.get(usize::from(column.rel)), Some(Source::Query { .. }))
}
