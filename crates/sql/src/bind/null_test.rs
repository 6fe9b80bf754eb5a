//! IS NULL of columns that are NOT NULL, which finds rows all the same.

use expr::{CmpDomain, CmpOp, Expr, ExprKind};
use types::{ColumnDef, Date, DateTime, SqlType, TypeKind};

use super::BindError;
use super::binder::Binder;
use super::block::Source;
use crate::ast;

impl<'a> Binder<'a, '_> {
    /// `value IS NULL` as a condition of WHERE. Of DATE and DATETIME columns that are NOT NULL it finds zero
    /// dates.
    pub(super) fn null_condition(&self, value: Expr) -> Expr {
        let zero = match self.never_null(&value).map(|column| column.ty) {
            Some(SqlType { kind: TypeKind::Date, .. }) => self.build.date(Date::ZERO),
            Some(SqlType { kind: TypeKind::DateTime, decimals, .. }) => {
                self.build.datetime(DateTime::ZERO, decimals)
            }
            _ => return self.build.is_null(value, false),
        };
        let (ty, is_outer) = (SqlType::new(TypeKind::BigInt, 1), value.nullable);
        let args = Box::new([value.clone(), zero]);
        let kind = ExprKind::Compare { op: CmpOp::Eq, domain: CmpDomain::DateTime, args };
        let is_zero = Expr { kind, ty, nullable: is_outer };
        if !is_outer {
            return is_zero;
        }
        self.build.or(vec![self.build.is_null(value, false), is_zero])
    }

    /// WHERE. Under `sql_auto_is_null` a condition that is `column IS NULL` finds the row whose
    /// AUTO_INCREMENT number was given last.
    pub(super) fn filter(&mut self, condition: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        if self.ctx.session.auto_is_null()
            && let ast::ExprKind::Is(operand, ast::IsTest::Null, false) = condition.kind
        {
            let value = self.value(operand)?;
            let is_numbered = self.never_null(&value).is_some_and(|column| column.auto_increment);
            if is_numbered && !value.nullable {
                let newest = self.build.call("LAST_INSERT_ID", Vec::new())?;
                return Ok(self.build.compare(CmpOp::Eq, value, newest)?);
            }
            return Ok(self.null_condition(value));
        }
        self.condition(condition)
    }

    /// The definition of the column that `value` is, if it is one of a table of this query and NOT NULL.
    fn never_null(&self, value: &Expr) -> Option<ColumnDef> {
        let ExprKind::Column(column) = value.kind else { return None };
        let level = self.levels.last().expect("a query is being bound");
        let Source::Table { def, .. } = level.rels.get(usize::from(column.rel))? else { return None };
        def.columns.get(usize::from(column.col)).filter(|column| !column.nullable).cloned()
    }
}
