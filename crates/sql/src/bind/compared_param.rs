//! Parameters that comparisons read in ways of their own: in lists of dates, beside `<=>` and TIME columns,
//! and as columns of derived tables.

use expr::{CmpOp, Expr, ExprKind};
use types::{SqlType, TypeKind};

use super::binder::Binder;
use super::block::{Query, Source};
use super::{BindError, Clause, NumberRead, ParamRole, ParamUse};
use crate::ast;

impl<'a> Binder<'a, '_> {
    /// Notes the parameters of a list that `values[0]` is searched for in. A list of constants beside dates
    /// is one of dates: MySQL reads its texts as such, once.
    pub(super) fn note_list(&mut self, values: &mut [Expr]) {
        if self.param_uses.is_empty() {
            return;
        }
        let (needle, items) = values.split_at_mut(1);
        if needle[0].ty.kind == TypeKind::Time {
            for item in items {
                self.note_role(item, ParamRole::TimeItem);
            }
            return;
        }
        let is_date = |e: &Expr| e.ty.kind == TypeKind::Date;
        let is_item = |e: &Expr| {
            let is_constant = matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_));
            is_constant && (is_date(e) || e.ty.is_string() || e.ty.kind == TypeKind::Null)
        };
        let is_text = |e: &Expr| e.ty.is_string() || matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set);
        let is_needle = is_date(&needle[0]) || is_text(&needle[0]);
        let has_date = is_date(&needle[0]) || items.iter().any(is_date);
        if !(is_needle && has_date && items.iter().all(is_item)) {
            return;
        }
        for item in items.iter_mut().filter(|item| item.ty.kind != TypeKind::Null) {
            let date = SqlType::new(TypeKind::Date, 10);
            let Some(used) = self.use_of(item) else { continue };
            (used.role, used.ty) = (ParamRole::Equal, date.clone());
            item.ty = date;
        }
    }

    /// Notes the parameters among the operands of `op`.
    #[inline]
    pub(super) fn note_operands_of(&mut self, op: CmpOp, sides: &[Expr; 2]) {
        if !self.param_uses.is_empty() {
            self.note_params_of(op, sides);
        }
    }

    #[cold]
    fn note_params_of(&mut self, op: CmpOp, sides: &[Expr; 2]) {
        match op {
            CmpOp::NullSafeEq => {
                for side in sides.iter().filter(|side| side.ty.is_temporal()) {
                    if let Some(used) = self.use_of(side).filter(|used| used.role == ParamRole::Operand) {
                        used.role = ParamRole::Equal;
                    }
                }
            }
            CmpOp::Eq => {
                let [left, right] = sides;
                self.note_time_column(left, right);
                self.note_time_column(right, left);
            }
            _ => {}
        }
    }

    /// Notes that `column`, if it is of times, and `param` are equal in WHERE or ON: MySQL stores the value
    /// in the column before it reads a row.
    fn note_time_column(&mut self, column: &Expr, param: &Expr) {
        let ExprKind::Column(found) = column.kind else { return };
        if column.ty.kind != TypeKind::Time || !self.is_in_condition() {
            return;
        }
        let rel = self.levels.last().and_then(|level| level.rels.get(usize::from(found.rel)));
        let Some(Source::Table { def, .. }) = rel else { return };
        let name = def.columns[usize::from(found.col)].name.clone();
        if let Some(used) = self.use_of(param) {
            used.time_column = Some(name);
        }
    }

    /// Notes that a parameter which equals a YEAR column in `term` of WHERE or ON is the year that the column
    /// would store: one of a century, if it has two digits. What is computed of such a comparison, or a row
    /// of them, reads the number.
    pub(super) fn note_stored_years(&mut self, term: &Expr) {
        match &term.kind {
            _ if self.param_uses.is_empty() || !self.is_in_condition() => {}
            ExprKind::Compare { op: CmpOp::Eq, args, .. } => {
                let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(_));
                for param in args.iter().filter(|e| e.ty.kind == TypeKind::Year && !is_column(e)) {
                    if args.iter().any(is_column) {
                        self.note_role(param, ParamRole::StoredYear);
                    }
                }
            }
            ExprKind::Or(terms) => terms.iter().for_each(|term| self.note_stored_years(term)),
            _ => {}
        }
    }

    /// Notes that `operands` of a condition are compared: MySQL compares below a derived table, where a
    /// column may be a parameter, which is read as what it is compared as.
    pub(super) fn note_compared_below(&mut self, operands: &[Expr]) {
        if !self.is_in_condition() {
            return;
        }
        let reads = super::open_param::common_number(operands, true);
        let has_number = operands.iter().any(super::open_param::is_number);
        let first = operands[0].ty.kind;
        let are_two_kinds =
            operands.iter().all(|e| e.ty.is_temporal()) && operands.iter().any(|e| e.ty.kind != first);
        for operand in operands {
            let Some(param) = self.param_below(operand) else { continue };
            match operand.ty.is_temporal() && !has_number {
                false => self.note_below(param, reads),
                true if are_two_kinds => {
                    self.note_below(param, NumberRead::Own);
                    for other in operands {
                        if let ExprKind::Param(other) = other.kind {
                            self.note_below(usize::from(other), NumberRead::Own);
                        }
                    }
                }
                true => {}
            }
        }
    }

    /// Of each place of the rows of `list` and `needle`, the type of the first operand that is no parameter,
    /// if that is a column or literal, and there are open ones. Empty without open parameters.
    pub(super) fn types_of_places(
        &mut self,
        needle: &'a [ast::Expr<'a>],
        list: &'a [ast::Expr<'a>],
    ) -> Result<Vec<Option<SqlType>>, BindError> {
        if !self.has_open_params || list.len() < 2 {
            return Ok(Vec::new());
        }
        let mut types = Vec::with_capacity(needle.len());
        for (at, left) in needle.iter().enumerate() {
            let cells = list.iter().filter_map(|item| match item.kind {
                ast::ExprKind::Row(row) => row.get(at),
                _ => None,
            });
            let first =
                std::iter::once(left).chain(cells).find(|e| !matches!(e.kind, ast::ExprKind::Param(_)));
            let is_plain =
                |e: &&ast::Expr<'_>| matches!(e.kind, ast::ExprKind::Column(_) | ast::ExprKind::Literal(_));
            let first = first.filter(is_plain).map(|e| self.value(e)).transpose()?;
            types.push(first.map(|e| e.ty));
        }
        Ok(types)
    }

    fn note_below(&mut self, param: usize, reads: NumberRead) {
        if let Some(used) = self.param_uses.get_mut(param) {
            (used.role, used.reads) = (ParamRole::Below, reads);
        }
    }

    /// Notes the parameters among `values` as read late.
    pub(super) fn note_late<'e>(&mut self, values: impl IntoIterator<Item = &'e Expr>) {
        for value in values {
            if let Some(used) = self.use_of(value) {
                used.is_read_late = true;
            }
        }
    }

    /// The parameter that `expr`, a column of a derived table that MySQL puts conditions into, shows.
    fn param_below(&self, expr: &Expr) -> Option<usize> {
        let ExprKind::Column(column) = expr.kind else { return None };
        let source = self.levels.last()?.rels.get(usize::from(column.rel))?;
        let Source::Query { query: Some(Query::Select(block)), .. } = source else { return None };
        let shown = block.output.get(usize::from(column.col))?;
        let ExprKind::Param(param) = shown.expr.kind else { return None };
        (block.has_one_row() || block.is_merged_by_mysql()).then_some(usize::from(param))
    }

    fn is_in_condition(&self) -> bool {
        self.levels.last().is_some_and(|level| matches!(level.clause, Clause::Where | Clause::On))
    }

    /// The use of the parameter that `expr` is.
    fn use_of(&mut self, expr: &Expr) -> Option<&mut ParamUse> {
        let ExprKind::Param(n) = expr.kind else { return None };
        self.param_uses.get_mut(usize::from(n))
    }
}
