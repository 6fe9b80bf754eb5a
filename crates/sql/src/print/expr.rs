//! Expressions.

use std::fmt::{self, Write};

use super::{Printer, sql_name};
use crate::ast::{
    Aggregate, BinaryOp, CastType, Expr, ExprKind, FrameBound, FrameUnit, IsTest, MatchMode, OrderItem, Over,
    TrimSide, UnaryOp, VarScope, WindowSpec,
};
use crate::literal::{Literal, LiteralKind};

impl Printer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr<'_>) -> fmt::Result {
        match expr.kind {
            ExprKind::Null => self.put("NULL"),
            ExprKind::Bool(value) => self.put(if value { "TRUE" } else { "FALSE" }),
            ExprKind::Default => self.put("DEFAULT"),
            ExprKind::Star => self.put("*"),
            ExprKind::Literal(literal) => self.literal(&literal),
            ExprKind::Param(_) => self.put("?"),
            ExprKind::Column(c) => self.path(&[c.schema, c.table, Some(c.column)]),
            ExprKind::UserVar(name) => self.user_var(name),
            ExprKind::SystemVar(var) => self.system_var(var.scope, var.prefix, var.name),
            ExprKind::Assign(assign) => {
                self.put("(")?;
                self.user_var(assign.name)?;
                self.put(" := ")?;
                self.expr(&assign.value)?;
                self.put(")")
            }
            ExprKind::Unary(op, operand) => {
                self.put(unary_text(op))?;
                self.paren(operand)
            }
            ExprKind::Binary(op @ (BinaryOp::JsonExtract | BinaryOp::JsonExtractText), left, right) => {
                self.expr(left)?;
                self.put(binary_text(op))?;
                self.expr(right)
            }
            ExprKind::Binary(op, left, right) => {
                self.put("(")?;
                self.expr(left)?;
                self.put(binary_text(op))?;
                if op == BinaryOp::MemberOf {
                    self.paren(right)?;
                } else {
                    self.expr(right)?;
                }
                self.put(")")
            }
            ExprKind::And(operands, _) => self.chain(operands, " AND "),
            ExprKind::Or(operands, _) => self.chain(operands, " OR "),
            ExprKind::Row(items) => {
                self.put("ROW")?;
                self.args(items)
            }
            _ => self.compound(expr),
        }
    }

    /// Predicates, subqueries and calls.
    fn compound(&mut self, expr: &Expr<'_>) -> fmt::Result {
        match expr.kind {
            ExprKind::Is(operand, test, negated) => {
                self.put("(")?;
                self.expr(operand)?;
                self.put(if negated { " IS NOT " } else { " IS " })?;
                self.put(is_text(test))?;
                self.put(")")
            }
            ExprKind::Between(b) => {
                self.put("(")?;
                self.expr(&b.expr)?;
                self.put(if b.negated { " NOT BETWEEN " } else { " BETWEEN " })?;
                self.expr(&b.low)?;
                self.put(" AND ")?;
                self.expr(&b.high)?;
                self.put(")")
            }
            ExprKind::InList(list) => {
                self.put("(")?;
                self.expr(&list.expr)?;
                self.put(if list.negated { " NOT IN " } else { " IN " })?;
                self.args(list.list)?;
                self.put(")")
            }
            ExprKind::InSubquery(sub) => {
                self.put("(")?;
                self.expr(&sub.expr)?;
                self.put(if sub.negated { " NOT IN " } else { " IN " })?;
                self.paren_query(sub.query)?;
                self.put(")")
            }
            ExprKind::Like(like) => {
                self.put("(")?;
                self.expr(&like.expr)?;
                self.put(if like.negated { " NOT LIKE " } else { " LIKE " })?;
                self.expr(&like.pattern)?;
                if let Some(escape) = &like.escape {
                    self.put(" ESCAPE ")?;
                    self.expr(escape)?;
                }
                self.put(")")
            }
            ExprKind::Quantified(q) => {
                self.put("(")?;
                self.expr(&q.expr)?;
                self.put(binary_text(q.op))?;
                self.put(if q.all { "ALL " } else { "ANY " })?;
                self.paren_query(q.query)?;
                self.put(")")
            }
            ExprKind::Exists(query) => {
                self.put("EXISTS ")?;
                self.paren_query(query)
            }
            ExprKind::Subquery(query) => self.paren_query(query),
            _ => self.call(expr),
        }
    }

    fn call(&mut self, expr: &Expr<'_>) -> fmt::Result {
        match expr.kind {
            ExprKind::Case(case) => {
                self.put("CASE")?;
                self.opt(" ", case.operand.as_ref())?;
                for (when, then) in case.arms {
                    self.opt(" WHEN ", Some(when))?;
                    self.opt(" THEN ", Some(then))?;
                }
                self.opt(" ELSE ", case.otherwise.as_ref())?;
                self.put(" END")
            }
            ExprKind::Cast(cast) => {
                self.opt("CAST(", Some(&cast.expr))?;
                self.put(" AS ")?;
                self.cast_type(&cast.ty)?;
                self.put(if cast.array { " ARRAY)" } else { ")" })
            }
            ExprKind::ConvertUsing(convert) => {
                self.opt("CONVERT(", Some(&convert.expr))?;
                self.put(" USING ")?;
                self.name(convert.charset)?;
                self.put(")")
            }
            ExprKind::Collate(collate) => {
                self.opt("(", Some(&collate.expr))?;
                self.put(" COLLATE ")?;
                self.name(collate.collation)?;
                self.put(")")
            }
            ExprKind::Call(call) => {
                self.call_name(call.schema, call.name)?;
                self.put("(")?;
                self.list(call.args, Self::expr)?;
                if let Some(charset) = call.using {
                    self.put(" USING ")?;
                    self.name(charset)?;
                }
                if let Some(ty) = &call.returning {
                    self.put(if call.name == "WEIGHT_STRING" { " AS " } else { " RETURNING " })?;
                    self.cast_type(ty)?;
                }
                self.put(")")
            }
            ExprKind::Aggregate(aggregate) => self.aggregate(aggregate),
            _ => self.special_call(expr),
        }
    }

    fn special_call(&mut self, expr: &Expr<'_>) -> fmt::Result {
        match expr.kind {
            ExprKind::DateAdd(add) => {
                self.put(if add.subtract { "DATE_SUB" } else { "DATE_ADD" })?;
                self.opt("(", Some(&add.date))?;
                self.opt(", INTERVAL ", Some(&add.amount))?;
                write!(self.out, " {})", sql_name(add.unit))
            }
            ExprKind::Extract(unit, operand) => {
                write!(self.out, "EXTRACT({} FROM ", sql_name(unit))?;
                self.expr(operand)?;
                self.put(")")
            }
            ExprKind::UnitCall(call) => {
                self.put(if call.diff { "TIMESTAMPDIFF" } else { "TIMESTAMPADD" })?;
                write!(self.out, "({}, ", sql_name(call.unit))?;
                self.expr(&call.first)?;
                self.opt(", ", Some(&call.second))?;
                self.put(")")
            }
            ExprKind::Trim(trim) => {
                self.put(match trim.side {
                    TrimSide::Both => "TRIM(BOTH",
                    TrimSide::Leading => "TRIM(LEADING",
                    TrimSide::Trailing => "TRIM(TRAILING",
                })?;
                self.opt(" ", trim.remove.as_ref())?;
                self.opt(" FROM ", Some(&trim.expr))?;
                self.put(")")
            }
            ExprKind::ValuesOf(c) | ExprKind::DefaultOf(c) => {
                self.put(if matches!(expr.kind, ExprKind::ValuesOf(_)) { "VALUES(" } else { "DEFAULT(" })?;
                self.path(&[c.schema, c.table, Some(c.column)])?;
                self.put(")")
            }
            ExprKind::Match(m) => {
                self.put("MATCH ")?;
                self.args(m.columns)?;
                self.opt(" AGAINST (", Some(&m.against))?;
                self.put(match m.mode {
                    MatchMode::Natural => ")",
                    MatchMode::Expansion => " WITH QUERY EXPANSION)",
                    MatchMode::Boolean => " IN BOOLEAN MODE)",
                })
            }
            ExprKind::Keyword(word) => self.put(word),
            _ => Ok(()),
        }
    }

    fn call_name(&mut self, schema: Option<&str>, name: &str) -> fmt::Result {
        if schema.is_some() { self.path(&[schema, Some(name)]) } else { self.put(name) }
    }

    fn aggregate(&mut self, aggregate: &Aggregate<'_>) -> fmt::Result {
        self.put(&sql_name(aggregate.func))?;
        self.put(if aggregate.distinct { "(DISTINCT " } else { "(" })?;
        self.list(aggregate.args, Self::expr)?;
        self.order_by(aggregate.order_by)?;
        if let Some(separator) = aggregate.separator {
            self.put(" SEPARATOR ")?;
            self.string(separator)?;
        }
        self.put(")")?;
        match aggregate.over {
            None => Ok(()),
            Some(Over::Name(name)) => {
                self.put(" OVER ")?;
                self.name(name)
            }
            Some(Over::Spec(spec)) => {
                self.put(" OVER ")?;
                self.window(spec)
            }
        }
    }

    pub(super) fn window(&mut self, spec: &WindowSpec<'_>) -> fmt::Result {
        self.put("(")?;
        if let Some(base) = spec.base {
            self.name(base)?;
        }
        if !spec.partition_by.is_empty() {
            self.put(" PARTITION BY ")?;
            self.list(spec.partition_by, Self::expr)?;
        }
        self.order_by(spec.order_by)?;
        if let Some(frame) = spec.frame {
            self.put(match frame.unit {
                FrameUnit::Rows => " ROWS ",
                FrameUnit::Range => " RANGE ",
                FrameUnit::Groups => " GROUPS ",
            })?;
            if let Some(end) = &frame.end {
                self.put("BETWEEN ")?;
                self.bound(&frame.start)?;
                self.put(" AND ")?;
                self.bound(end)?;
            } else {
                self.bound(&frame.start)?;
            }
        }
        self.put(")")
    }

    fn bound(&mut self, bound: &FrameBound<'_>) -> fmt::Result {
        let (amount, unit, direction) = match bound {
            FrameBound::UnboundedPreceding => return self.put("UNBOUNDED PRECEDING"),
            FrameBound::UnboundedFollowing => return self.put("UNBOUNDED FOLLOWING"),
            FrameBound::CurrentRow => return self.put("CURRENT ROW"),
            FrameBound::Preceding(amount, unit) => (amount, unit, " PRECEDING"),
            FrameBound::Following(amount, unit) => (amount, unit, " FOLLOWING"),
        };
        match unit {
            Some(unit) => {
                self.opt("INTERVAL ", Some(amount))?;
                write!(self.out, " {}", sql_name(*unit))?;
            }
            None => self.expr(amount)?,
        }
        self.put(direction)
    }

    pub(super) fn order_by(&mut self, items: &[OrderItem<'_>]) -> fmt::Result {
        if items.is_empty() {
            return Ok(());
        }
        self.put(" ORDER BY ")?;
        self.list(items, Self::order_item)
    }

    pub(super) fn order_item(&mut self, item: &OrderItem<'_>) -> fmt::Result {
        self.expr(&item.expr)?;
        self.put(if item.descending { " DESC" } else { "" })
    }

    /// `before` and the expression, if there is one.
    pub(super) fn opt(&mut self, before: &str, expr: Option<&Expr<'_>>) -> fmt::Result {
        let Some(expr) = expr else {
            return Ok(());
        };
        self.put(before)?;
        self.expr(expr)
    }

    pub(super) fn args(&mut self, items: &[Expr<'_>]) -> fmt::Result {
        self.put("(")?;
        self.list(items, Self::expr)?;
        self.put(")")
    }

    fn paren(&mut self, expr: &Expr<'_>) -> fmt::Result {
        self.put("(")?;
        self.expr(expr)?;
        self.put(")")
    }

    fn chain(&mut self, operands: &[Expr<'_>], word: &str) -> fmt::Result {
        for (i, operand) in operands.iter().enumerate() {
            self.put(if i == 0 { "(" } else { word })?;
            self.expr(operand)?;
        }
        self.put(")")
    }

    fn user_var(&mut self, name: &str) -> fmt::Result {
        self.put("@")?;
        self.name(name)
    }

    fn system_var(&mut self, scope: VarScope, prefix: Option<&str>, name: &str) -> fmt::Result {
        self.put(match scope {
            VarScope::Unspecified => "@@",
            VarScope::Global => "@@GLOBAL.",
            VarScope::Session => "@@SESSION.",
            VarScope::Persist => "@@PERSIST.",
            VarScope::PersistOnly => "@@PERSIST_ONLY.",
        })?;
        self.path(&[prefix, Some(name)])
    }

    fn literal(&mut self, literal: &Literal) -> fmt::Result {
        self.put(match literal.kind {
            LiteralKind::Date => "DATE",
            LiteralKind::Time => "TIME",
            LiteralKind::Timestamp => "TIMESTAMP",
            _ => "",
        })?;
        let text = String::from_utf8_lossy(literal.text(self.sql)).into_owned();
        if let Some(charset) = literal.charset.name()
            && !text.starts_with(['n', 'N'])
        {
            write!(self.out, "_{charset} ")?;
        }
        self.put(&text)
    }

    fn cast_type(&mut self, ty: &CastType<'_>) -> fmt::Result {
        let sized = |out: &mut String, name: &str, n: Option<u32>| match n {
            Some(n) => write!(out, "{name}({n})"),
            None => out.write_str(name),
        };
        match *ty {
            CastType::Binary(n) => sized(&mut self.out, "BINARY", n),
            CastType::Char { length, charset, binary, .. } => {
                sized(&mut self.out, "CHAR", length)?;
                if let Some(charset) = charset {
                    self.put(" CHARACTER SET ")?;
                    self.name(charset)?;
                }
                self.put(if binary { " BINARY" } else { "" })
            }
            CastType::Signed => self.put("SIGNED"),
            CastType::Unsigned => self.put("UNSIGNED"),
            CastType::Date => self.put("DATE"),
            CastType::Time(n) => sized(&mut self.out, "TIME", n),
            CastType::DateTime(n) => sized(&mut self.out, "DATETIME", n),
            CastType::Year => self.put("YEAR"),
            CastType::Decimal(Some(p), Some(s)) => write!(self.out, "DECIMAL({p}, {s})"),
            CastType::Decimal(p, _) => sized(&mut self.out, "DECIMAL", p),
            CastType::Double => self.put("DOUBLE"),
            CastType::Float(n) => sized(&mut self.out, "FLOAT", n),
            CastType::Json => self.put("JSON"),
            CastType::Spatial(base) => write!(self.out, "{base:?}"),
        }
    }
}

fn unary_text(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "-",
        UnaryOp::Plus => "+",
        UnaryOp::BitNot => "~",
        UnaryOp::Not => "!",
    }
}

fn is_text(test: IsTest) -> &'static str {
    match test {
        IsTest::Null => "NULL",
        IsTest::True => "TRUE",
        IsTest::False => "FALSE",
        IsTest::Unknown => "UNKNOWN",
    }
}

/// The operator with blanks around it.
pub(crate) fn binary_text(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => " + ",
        BinaryOp::Sub => " - ",
        BinaryOp::Mul => " * ",
        BinaryOp::Div => " / ",
        BinaryOp::IntDiv => " DIV ",
        BinaryOp::Mod => " % ",
        BinaryOp::BitOr => " | ",
        BinaryOp::BitAnd => " & ",
        BinaryOp::BitXor => " ^ ",
        BinaryOp::Shl => " << ",
        BinaryOp::Shr => " >> ",
        BinaryOp::Eq => " = ",
        BinaryOp::NullSafeEq => " <=> ",
        BinaryOp::Ne => " <> ",
        BinaryOp::Lt => " < ",
        BinaryOp::Le => " <= ",
        BinaryOp::Gt => " > ",
        BinaryOp::Ge => " >= ",
        BinaryOp::Xor => " XOR ",
        BinaryOp::Concat => " || ",
        BinaryOp::Regexp => " REGEXP ",
        BinaryOp::NotRegexp => " NOT REGEXP ",
        BinaryOp::SoundsLike => " SOUNDS LIKE ",
        BinaryOp::MemberOf => " MEMBER OF ",
        BinaryOp::JsonExtract => " -> ",
        BinaryOp::JsonExtractText => " ->> ",
    }
}
