//! Subqueries in expressions.

use expr::{CmpDomain, CmpOp, Expr, ExprKind, SubqueryForm};
use types::{SqlType, TypeKind};

use super::binder::{Binder, Level};
use super::block::{Query, SubBlock};
use super::{BindError, rewrite};
use crate::ast::{self, BinaryOp};

impl<'a> Binder<'a, '_> {
    /// Binds `query` as a subquery of the query at hand; its place among the subplans.
    fn subquery(&mut self, query: &'a ast::Query<'a>) -> Result<u16, BindError> {
        let id = self.new_sub();
        self.levels.push(Level { sub: Some((id, Vec::new())), ..Level::new() });
        let bound = self.query(query);
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
