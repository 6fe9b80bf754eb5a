//! Subqueries in expressions.

use expr::{CmpDomain, CmpOp, Expr, ExprKind, SubqueryForm};
use types::{SqlType, TypeKind};

use super::binder::{Binder, Level};
use super::block::{Block, JoinTree, Query, Source, SubBlock, Window};
use super::{BindError, rewrite};
use crate::ast::{self, BinaryOp};
use crate::plan::OutputColumn;

impl<'a> Binder<'a, '_> {
    /// Binds `query` as a subquery of the query at hand; its place among the subplans.
    fn subquery(&mut self, query: &'a ast::Query<'a>) -> Result<u16, BindError> {
        let id = self.new_sub()?;
        self.enter_select()?;
        self.levels.push(Level { sub: Some((id, Vec::new())), ..Level::new() });
        let bound = self.query(query);
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
        let plan = self.subquery(query)?;
        let ty = self.sole_column(plan)?.ty.clone();
        let kind = ExprKind::Subquery { plan, form: SubqueryForm::Scalar, needle: None };
        Ok(Expr { kind, ty, nullable: true })
    }

    /// `[NOT] EXISTS (SELECT ..)`: one row is enough.
    pub(super) fn exists(&mut self, query: &'a ast::Query<'a>, negated: bool) -> Result<Expr, BindError> {
        let plan = self.subquery(query)?;
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
        if let ast::ExprKind::Row(_) = needle.kind {
            return Err(BindError::NotSupported("a row IN a subquery"));
        }
        let needle = self.value(needle)?;
        let plan = self.subquery(query)?;
        let (needle, domain) = self.needle(needle, plan)?;
        let form = SubqueryForm::In { negated, domain };
        let kind = ExprKind::Subquery { plan, form, needle: Some(Box::new(needle)) };
        Ok(Expr { kind, ty: SqlType::new(TypeKind::BigInt, 1), nullable: true })
    }

    /// `(a, b) IN (SELECT x, y ..)` as a condition: EXISTS a row of the subquery with `x = a AND y = b`. Unlike IN this
    /// is false where IN is NULL.
    pub(super) fn row_in_subquery(
        &mut self,
        needle: &'a [ast::Expr<'a>],
        query: &'a ast::Query<'a>,
    ) -> Result<Expr, BindError> {
        let needle = self.values(needle)?;
        let id = self.new_sub()?;
        self.levels.push(Level { sub: Some((id, Vec::new())), ..Level::new() });
        let block = self.rows_equal_to(needle, query);
        let level = self.levels.pop().expect("pushed above");
        let (_, outer) = level.sub.expect("set above");
        let subqueries = &mut self.level().subqueries;
        subqueries.push(SubBlock { query: Query::Select(Box::new(block?)), id, outer });
        let plan = (subqueries.len() - 1) as u16;
        let kind = ExprKind::Subquery { plan, form: SubqueryForm::Exists { negated: false }, needle: None };
        Ok(Expr { kind, ty: SqlType::new(TypeKind::BigInt, 1), nullable: false })
    }

    /// The first row of `query` that equals `needle`, whose expressions are the enclosing query's.
    fn rows_equal_to(&mut self, needle: Vec<Expr>, query: &'a ast::Query<'a>) -> Result<Block, BindError> {
        self.enter_select()?;
        let rows = self.query_in_from(query)?;
        self.leave_select();
        let columns = Self::columns_of(rows.output());
        if columns.len() != needle.len() {
            return Err(BindError::OperandColumns(needle.len()));
        }
        let outside = self.levels.len() - 2;
        let mut filter = Vec::with_capacity(needle.len());
        for (at, (value, column)) in needle.into_iter().zip(&columns).enumerate() {
            let value = self.import(outside, value)?;
            let column = Expr::column(0, at as u16, column.ty.clone(), column.nullable);
            filter.push(self.build.compare(CmpOp::Eq, column, value)?);
        }
        let one = self.build.int(1);
        Ok(Block {
            rels: vec![Source::Query { query: Some(rows), columns }],
            from: JoinTree::Rel(0),
            filter,
            output: vec![OutputColumn { name: "1".into(), expr: one.clone(), origin: None, text: None }],
            limit: Window { offset: None, count: Some(one) },
            ..Block::default()
        })
    }

    /// The needle as it is compared with the subquery's column, and how.
    fn needle(&mut self, needle: Expr, plan: u16) -> Result<(Expr, CmpDomain), BindError> {
        let column = self.sole_column(plan)?;
        let column = Expr::column(0, 0, column.ty.clone(), column.nullable);
        let compared = self.build.compare(CmpOp::Eq, needle, column)?;
        match compared.kind {
            ExprKind::Compare { domain, args, .. } => {
                let [needle, _] = *args;
                Ok((needle, domain))
            }
            _ => Err(BindError::NotSupported("this comparison with a subquery")),
        }
    }

    /// `x = ANY (..)` and `x <> ALL (..)`, which are IN and NOT IN.
    pub(super) fn quantified(&mut self, test: &'a ast::Quantified<'a>) -> Result<Expr, BindError> {
        match (test.op, test.all) {
            (BinaryOp::Eq, false) => self.in_subquery(&test.expr, test.query, false),
            (BinaryOp::Ne, true) => self.in_subquery(&test.expr, test.query, true),
            _ => Err(BindError::NotSupported("this comparison with ANY or ALL")),
        }
    }
}

/// Whether `expr` names an outer query's column.
pub(super) fn names_outer(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        found |= matches!(e.kind, ExprKind::Column(c) if super::block::outer_id(c.rel).is_some());
    });
    found || rewrite::has_subquery(expr)
}
