//! CASE.

use expr::Expr;
use types::TypeKind;

use super::BindError;
use super::binder::Binder;
use crate::ast;

impl<'a> Binder<'a, '_> {
    /// `CASE [operand] WHEN .. THEN .. ELSE .. END`.
    pub(super) fn case(&mut self, case: &'a ast::Case<'a>) -> Result<Expr, BindError> {
        let operand = case.operand.as_ref().map(|e| self.value(e)).transpose()?;
        let mut arms = Vec::with_capacity(case.arms.len());
        for (when, then) in case.arms {
            let mut compared = self.value(when)?;
            if let (Some(operand), Some(written)) = (&operand, &case.operand)
                && matches!(operand.ty.kind, TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Date)
            {
                let mut sides = [operand.clone(), compared];
                self.pin_beside_column(&mut sides, &[written, when])?;
                [_, compared] = sides;
            }
            arms.push((compared, self.value(then)?));
        }
        let otherwise = case.otherwise.as_ref().map(|e| self.value(e)).transpose()?;
        let (operand, arms, otherwise) = self.settle_case(operand, arms, otherwise);
        Ok(self.build.case(operand, arms, otherwise)?)
    }
}
