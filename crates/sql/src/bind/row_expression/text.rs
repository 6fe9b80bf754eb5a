//! The text of a row expression: operators, conditions and columns.

use std::sync::Arc;

use types::{EXPRESSION_BYTES_MAX, TableDef};

use super::RowExpressionError as Refusal;
use crate::ast::{BinaryOp, ColumnRef, Expr, ExprKind, InList, IsTest, UnaryOp};
use crate::bind::binder::Binder;
use crate::bind::{BindError, Clause};
use crate::print::expr::binary_text;

/// Prints the default of one column.
pub(super) struct Printer<'p, 'a, 'c> {
    /// Reads literals.
    pub(super) binder: &'p Binder<'a, 'c>,
    table: &'p TableDef,
    /// The column whose default it is.
    position: usize,
    pub(super) out: String,
}

/// The text of `expr`.
///
/// # Errors
/// Those of its columns and literals; [`Refusal::TooLong`].
pub(super) fn of(
    expr: &Expr<'_>,
    binder: &Binder<'_, '_>,
    table: &Arc<TableDef>,
    position: usize,
) -> Result<String, Refusal> {
    let mut printer = Printer { binder, table, position, out: String::new() };
    printer.expr(expr)?;
    printer.ensure_room(0)?;
    Ok(printer.out)
}

impl Printer<'_, '_, '_> {
    /// # Errors  [`Refusal::TooLong`] if `more` bytes are too many.
    pub(super) fn ensure_room(&self, more: usize) -> Result<(), Refusal> {
        let is_room = self.out.len().saturating_add(more) <= EXPRESSION_BYTES_MAX;
        is_room.then_some(()).ok_or(Refusal::TooLong)
    }

    pub(super) fn put(&mut self, text: &str) -> Result<(), Refusal> {
        self.ensure_room(text.len())?;
        self.out.push_str(text);
        Ok(())
    }

    /// A value.
    pub(super) fn expr(&mut self, expr: &Expr<'_>) -> Result<(), Refusal> {
        match expr.kind {
            ExprKind::Null => self.put("NULL"),
            ExprKind::Bool(value) => self.put(if value { "true" } else { "false" }),
            ExprKind::Literal(literal) => self.literal(&literal),
            ExprKind::Column(name) => self.column(name),
            ExprKind::Unary(op, operand) => self.unary(op, operand),
            ExprKind::Binary(op, left, right) => self.binary(op, left, right),
            ExprKind::And(terms, _) => self.chain(terms, " and ", Self::truth),
            ExprKind::Or(terms, _) => self.chain(terms, " or ", Self::truth),
            ExprKind::Row(items) => self.list("(", items, ")"),
            ExprKind::Is(operand, test, negated) => self.is(operand, test, negated),
            ExprKind::Between(test) => self.between((&test.expr, &test.low, &test.high), test.negated),
            ExprKind::InList(list) => self.in_list(list, list.negated),
            ExprKind::Like(like) => {
                if like.negated {
                    self.put("(not(")?;
                }
                self.pair(&like.expr, " like ", &like.pattern, like.escape.as_ref())?;
                self.put(if like.negated { "))" } else { "" })
            }
            _ => self.call(expr),
        }
    }

    fn column(&mut self, name: &ColumnRef<'_>) -> Result<(), Refusal> {
        let Some(at) = self.table.find_column(name.column) else {
            let name = name.column.to_owned();
            return Err(BindError::UnknownColumn { name, clause: Clause::Default }.into());
        };
        let column = &self.table.columns[at];
        if column.auto_increment {
            return Err(Refusal::AutoIncrement);
        }
        if at >= self.position && column.default_expression().is_some() {
            return Err(Refusal::LaterColumn);
        }
        self.name(&column.name)
    }

    /// A name in backquotes.
    pub(super) fn name(&mut self, name: &str) -> Result<(), Refusal> {
        self.put("`")?;
        self.put(&name.replace('`', "``"))?;
        self.put("`")
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr<'_>) -> Result<(), Refusal> {
        let sign = match op {
            UnaryOp::Plus => return self.expr(operand),
            UnaryOp::Not => return self.negation(operand),
            UnaryOp::Neg => "-(",
            UnaryOp::BitNot => "~(",
        };
        self.put(sign)?;
        self.expr(operand)?;
        self.put(")")
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr<'_>, right: &Expr<'_>) -> Result<(), Refusal> {
        if let (ExprKind::Row(left), ExprKind::Row(right)) = (left.kind, right.kind)
            && left.len() == right.len()
            && let Some(word) = row_word(op)
        {
            let pairs: Vec<_> = left.iter().zip(right).collect();
            return self.chain(&pairs, word, |printer, (left, right)| printer.binary(op, left, right));
        }
        match op {
            BinaryOp::Xor => {
                self.put("(")?;
                self.truth(left)?;
                self.put(" xor ")?;
                self.truth(right)?;
                self.put(")")
            }
            BinaryOp::Concat => self.function("concat", &[*left, *right]),
            BinaryOp::SoundsLike => {
                self.put("(")?;
                self.function("soundex", &[*left])?;
                self.put(" = ")?;
                self.function("soundex", &[*right])?;
                self.put(")")
            }
            BinaryOp::JsonExtract => self.function("json_extract", &[*left, *right]),
            BinaryOp::JsonExtractText => {
                self.put("json_unquote(")?;
                self.function("json_extract", &[*left, *right])?;
                self.put(")")
            }
            BinaryOp::MemberOf => {
                self.expr(left)?;
                self.put(" member of (")?;
                self.expr(right)?;
                self.put(")")
            }
            _ => self.pair(left, binary_text(op), right, None),
        }
    }

    /// `(left word right)`, with an ESCAPE if there is one.
    fn pair(
        &mut self,
        left: &Expr<'_>,
        word: &str,
        right: &Expr<'_>,
        escape: Option<&Expr<'_>>,
    ) -> Result<(), Refusal> {
        self.put("(")?;
        self.expr(left)?;
        self.put(word)?;
        self.expr(right)?;
        if let Some(escape) = escape {
            self.put(" escape ")?;
            self.expr(escape)?;
        }
        self.put(")")
    }

    fn is(&mut self, operand: &Expr<'_>, test: IsTest, negated: bool) -> Result<(), Refusal> {
        self.put("(")?;
        let word = match test {
            IsTest::Null | IsTest::Unknown => "null",
            IsTest::True => "true",
            IsTest::False => "false",
        };
        let is_value = word == "null";
        (if is_value { self.expr(operand) } else { self.truth(operand) })?;
        self.put(if negated { " is not " } else { " is " })?;
        self.put(word)?;
        self.put(")")
    }

    fn between(
        &mut self,
        (value, low, high): (&Expr<'_>, &Expr<'_>, &Expr<'_>),
        negated: bool,
    ) -> Result<(), Refusal> {
        self.put("(")?;
        self.expr(value)?;
        self.put(if negated { " not between " } else { " between " })?;
        self.expr(low)?;
        self.put(" and ")?;
        self.expr(high)?;
        self.put(")")
    }

    fn in_list(&mut self, list: &InList<'_>, negated: bool) -> Result<(), Refusal> {
        if let [value] = list.list {
            return self.binary(if negated { BinaryOp::Ne } else { BinaryOp::Eq }, &list.expr, value);
        }
        self.put("(")?;
        self.expr(&list.expr)?;
        self.list(if negated { " not in (" } else { " in (" }, list.list, "))")
    }

    /// Values with commas between `before` and `after`.
    pub(super) fn list(&mut self, before: &str, items: &[Expr<'_>], after: &str) -> Result<(), Refusal> {
        self.put(before)?;
        for (at, item) in items.iter().enumerate() {
            self.put(if at == 0 { "" } else { "," })?;
            self.expr(item)?;
        }
        self.put(after)
    }

    fn chain<T>(
        &mut self,
        items: &[T],
        word: &str,
        mut item: impl FnMut(&mut Self, &T) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        for (at, one) in items.iter().enumerate() {
            self.put(if at == 0 { "(" } else { word })?;
            item(self, one)?;
        }
        self.put(")")
    }

    /// A condition: a value that is none by itself is compared with zero.
    fn truth(&mut self, expr: &Expr<'_>) -> Result<(), Refusal> {
        if is_condition(expr) {
            return self.expr(expr);
        }
        self.put("(0 <> ")?;
        self.expr(expr)?;
        self.put(")")
    }

    /// What `NOT expr` is.
    fn negation(&mut self, expr: &Expr<'_>) -> Result<(), Refusal> {
        match expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => self.truth(operand),
            ExprKind::Binary(op, left, right) if opposite(op).is_some() => {
                self.binary(opposite(op).unwrap_or(op), left, right)
            }
            ExprKind::Binary(BinaryOp::Xor, left, right) => {
                self.put("(")?;
                self.negation(left)?;
                self.put(" xor ")?;
                self.truth(right)?;
                self.put(")")
            }
            ExprKind::And(terms, _) => self.chain(terms, " or ", Self::negation),
            ExprKind::Or(terms, _) => self.chain(terms, " and ", Self::negation),
            ExprKind::Is(operand, test, negated) => self.is(operand, test, !negated),
            ExprKind::Between(test) => self.between((&test.expr, &test.low, &test.high), !test.negated),
            ExprKind::InList(list) => self.in_list(list, !list.negated),
            ExprKind::Like(like) if like.negated => {
                self.pair(&like.expr, " like ", &like.pattern, like.escape.as_ref())
            }
            ExprKind::Call(call) if call.name.eq_ignore_ascii_case("isnull") && call.args.len() == 1 => {
                self.is(&call.args[0], IsTest::Null, true)
            }
            _ if is_condition(expr) => {
                self.put("(not(")?;
                self.expr(expr)?;
                self.put("))")
            }
            _ => {
                self.put("(0 = ")?;
                self.expr(expr)?;
                self.put(")")
            }
        }
    }
}

/// Whether the value is true, false or NULL.
fn is_condition(expr: &Expr<'_>) -> bool {
    match expr.kind {
        ExprKind::Bool(_)
        | ExprKind::Unary(UnaryOp::Not, _)
        | ExprKind::And(..)
        | ExprKind::Or(..)
        | ExprKind::Is(..)
        | ExprKind::Between(_)
        | ExprKind::InList(_)
        | ExprKind::Like(_) => true,
        ExprKind::Binary(op, ..) => {
            op.comparison().is_some()
                || matches!(op, BinaryOp::Xor | BinaryOp::SoundsLike | BinaryOp::MemberOf)
        }
        ExprKind::Call(call) => call.name.eq_ignore_ascii_case("isnull"),
        _ => false,
    }
}

/// The word between the comparisons that a comparison of rows comes to.
fn row_word(op: BinaryOp) -> Option<&'static str> {
    match op {
        BinaryOp::Eq | BinaryOp::NullSafeEq => Some(" and "),
        BinaryOp::Ne => Some(" or "),
        _ => None,
    }
}

/// The comparison that holds where `op` does not.
fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        _ => return None,
    })
}
