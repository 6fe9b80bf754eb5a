//! Comparisons of rows: with rows, and with the row of a subquery.

use expr::{CmpOp, Expr, ExprKind, SubqueryForm};
use types::{SqlType, TypeKind};

use super::BindError;
use super::binder::Binder;
use super::block::{Block, JoinTree};
use super::subquery::Pairs;
use crate::ast;
use crate::plan::OutputColumn;

impl<'a> Binder<'a, '_> {
    /// `(a, b) op (SELECT x, y ..)`: NULL without a row, an error with more than one.
    pub(super) fn compare_row_with_query(
        &mut self,
        op: CmpOp,
        needle: &'a [ast::Expr<'a>],
        query: &'a ast::Query<'a>,
    ) -> Result<Expr, BindError> {
        self.row_beside_query(needle)?;
        let needle = self.values(needle)?;
        let plan = self.made_subquery(|binder| binder.row_comparison_block(op, needle, query))?;
        let kind = ExprKind::Subquery { plan, form: SubqueryForm::Scalar, needle: None };
        let compared = Expr { kind, ty: SqlType::new(TypeKind::BigInt, 1), nullable: true };
        if op != CmpOp::NullSafeEq {
            return Ok(compared);
        }
        // That is never NULL, and false without a row.
        Ok(self.build.call("COALESCE", vec![compared, self.build.boolean(false)])?)
    }

    /// The truth of the comparison of `needle`, whose expressions are the enclosing query's, with each row of
    /// `query`.
    fn row_comparison_block(
        &mut self,
        op: CmpOp,
        needle: Vec<Expr>,
        query: &'a ast::Query<'a>,
    ) -> Result<Block, BindError> {
        let (rels, pairs) = self.rows_beside(needle, query)?;
        let expr = self.row_comparison(op, pairs)?;
        let output = vec![OutputColumn { name: op.symbol().into(), expr, origin: None, text: None }];
        Ok(Block { rels, from: JoinTree::Rel(0), output, ..Block::default() })
    }

    /// Rows, given as pairs of their parts, compare as conjunctions and disjunctions of these:
    /// `(a, b) < (c, d)` is `a < c OR (a = c AND b < d)`.
    fn row_comparison(&mut self, op: CmpOp, mut pairs: Pairs) -> Result<Expr, BindError> {
        let strict = match op {
            CmpOp::Eq | CmpOp::NullSafeEq | CmpOp::Ne => {
                let parts = pairs.into_iter().map(|(a, b)| self.build.compare(op, a, b));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                return Ok(if op == CmpOp::Ne { self.build.or(parts) } else { self.build.and(parts) });
            }
            CmpOp::Le => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Gt,
            op => op,
        };
        let Some((a, b)) = pairs.pop() else { return Err(BindError::OperandColumns(1)) };
        let mut compared = self.build.compare(op, a, b)?;
        let mut height = 0;
        while let Some((a, b)) = pairs.pop() {
            height += 2;
            self.descend(2)?;
            self.note_copy(&a)?;
            self.note_copy(&b)?;
            let first = self.build.compare(strict, a.clone(), b.clone())?;
            let equal = self.build.compare(CmpOp::Eq, a, b)?;
            compared = self.build.or(vec![first, self.build.and(vec![equal, compared])]);
        }
        self.ascend(height);
        Ok(compared)
    }
}

/// Whether rows of which one is less are compared as `a < c OR (a = c AND b < d)`: where an index may serve
/// them, and where their parts are columns and literals, which cost nothing to repeat.
pub(super) fn is_by_order(rows: [&[ast::Expr<'_>]; 2]) -> bool {
    use ast::ExprKind::{Bool, Column, Literal, Null, Param, Row, Subquery};
    let is_column = |e: &ast::Expr<'_>| matches!(e.kind, Column(_));
    let varies = |e: &ast::Expr<'_>| e.any(&|part| matches!(part.kind, Column(_) | Subquery(_)));
    let is_key = |key: usize| rows[key].iter().all(is_column) && !rows[1 - key].iter().any(varies);
    let is_plain = |e: &ast::Expr<'_>| matches!(e.kind, Bool(_) | Column(_) | Literal(_) | Null | Param(_));
    let mut all = rows[0].iter().chain(rows[1]);
    let is_nested = all.clone().any(|e| matches!(e.kind, Row(_)));
    let has_column = all.clone().any(is_column);
    is_nested || is_key(0) || is_key(1) || has_column && all.all(is_plain)
}
