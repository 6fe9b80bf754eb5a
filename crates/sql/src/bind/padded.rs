//! PAD_CHAR_TO_FULL_LENGTH: CHAR columns with the blanks that are not stored.

use expr::Expr;
use types::{SqlModes, TypeKind};

use super::BindError;
use super::binder::Binder;

impl Binder<'_, '_> {
    /// `column` as expressions see it: in the mode, a CHAR has its full length.
    pub(super) fn shown(&self, column: Expr) -> Result<Expr, BindError> {
        if column.ty.kind != TypeKind::Char || !self.ctx.modes.has(SqlModes::PAD_CHAR_TO_FULL_LENGTH) {
            return Ok(column);
        }
        let (ty, nullable) = (column.ty.clone(), column.nullable);
        let length = self.build.int(i64::from(ty.length));
        let padded = self.build.call("RPAD", vec![column, length, self.build.string(b" ", ty.collation)])?;
        Ok(Expr { ty, nullable, ..padded })
    }
}

/// The column that `expr` is, without the blanks that [`Binder::shown`] adds.
pub(super) fn stored(expr: &Expr) -> &Expr {
    expr.unpadded().unwrap_or(expr)
}
