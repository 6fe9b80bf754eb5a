//! Expressions: the syntax tree's forms, one by one, to bound ones. Typing is the [`expr::Builder`]'s.

use expr::{CmpOp, ComparedRows, Expr, Func};
use types::{SqlType, TypeKind};

use super::binder::Binder;
use super::subquery::RowIn;
use super::{BindError, Clause, ParamRole, conjuncts};
use crate::ast::{self, BinaryOp, ExprKind, IsTest, UnaryOp, VarScope};

impl<'a> Binder<'a, '_> {
    /// A condition of WHERE, ON or HAVING, which need not distinguish NULL from false.
    pub(super) fn condition(&mut self, condition: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        match condition.kind {
            ExprKind::And(terms, _) => {
                self.note_deprecated(condition);
                let terms = terms.iter().map(|term| self.condition(term)).collect::<Result<Vec<_>, _>>()?;
                Ok(self.build.and(terms))
            }
            ExprKind::Is(operand, IsTest::Null, false) if self.level().clause == Clause::Where => {
                let bound = self.value(operand)?;
                Ok(self.null_condition(bound))
            }
            ExprKind::Call(ast::FunctionCall { name, args: [operand], .. })
                if self.level().clause == Clause::Where && name.eq_ignore_ascii_case("isnull") =>
            {
                let bound = self.value(operand)?;
                Ok(self.null_condition(bound))
            }
            ExprKind::InSubquery(ast::InSubquery {
                expr: ast::Expr { kind: ExprKind::Row(needle), .. },
                query,
                negated,
            }) => self.row_in_subquery(needle, query, RowIn { negated: *negated, is_condition: true }),
            _ => {
                let mut bound = self.value(condition)?;
                self.settle_condition(std::slice::from_mut(&mut bound));
                self.build.read_branches(&mut bound);
                self.note_stored_years(&bound);
                Ok(bound)
            }
        }
    }

    /// Appends the terms of a condition of WHERE, all of which must hold, to `out`.
    pub(super) fn conjuncts(
        &mut self,
        condition: &'a ast::Expr<'a>,
        out: &mut Vec<Expr>,
    ) -> Result<(), BindError> {
        if matches!(condition.kind, ExprKind::And(..)) {
            return self.terms(condition, out);
        }
        conjuncts::split(self.filter(condition)?, out);
        Ok(())
    }

    fn terms(&mut self, condition: &'a ast::Expr<'a>, out: &mut Vec<Expr>) -> Result<(), BindError> {
        if let ExprKind::And(terms, _) = condition.kind {
            self.note_deprecated(condition);
            out.reserve(terms.len());
            return terms.iter().try_for_each(|term| self.terms(term, out));
        }
        conjuncts::split(self.condition(condition)?, out);
        Ok(())
    }

    /// An expression of one column.
    pub(super) fn value(&mut self, e: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        self.descend(1)?;
        let bound = self.value_of(e);
        self.ascend(1);
        bound
    }

    fn value_of(&mut self, e: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        self.note_deprecated(e);
        match e.kind {
            ExprKind::Null => Ok(self.build.null()),
            ExprKind::Bool(value) => Ok(self.build.boolean(value)),
            ExprKind::Default => Err(BindError::NotSupported("DEFAULT in an expression")),
            ExprKind::Star => Err(BindError::NotSupported("* in an expression")),
            ExprKind::Literal(literal) if self.ctx.sql.get(e.pos as usize) == Some(&b'{') => {
                Ok(self.odbc_literal(&literal))
            }
            ExprKind::Literal(literal) => self.literal(literal, false),
            ExprKind::Param(n) => Ok(self.param(n)),
            ExprKind::Column(name) => self.column(name),
            ExprKind::UserVar(name) => Ok(self.user_variable(name)),
            ExprKind::SystemVar(var) => self.system_variable(var),
            ExprKind::Assign(assign) => {
                let value = self.value(&assign.value)?;
                Ok(self.build.assign_user_var(assign.name, value))
            }
            ExprKind::Unary(op, operand) => self.unary(op, operand),
            ExprKind::Binary(op, left, right) => self.binary(op, left, right),
            ExprKind::And(terms, _) => {
                let mut terms = self.values(terms)?;
                self.settle_condition(&mut terms);
                Ok(self.build.and(terms))
            }
            ExprKind::Or(terms, _) => {
                let mut terms = self.values(terms)?;
                self.settle_condition(&mut terms);
                Ok(self.build.or(terms))
            }
            ExprKind::Row(row) => {
                self.note_row(row)?;
                Err(BindError::OperandColumns(1))
            }
            ExprKind::Is(operand, test, negated) => self.is(operand, test, negated),
            ExprKind::Between(between) => self.between(between),
            ExprKind::InList(list) => self.in_list(list),
            ExprKind::InSubquery(test) => self.in_subquery(&test.expr, test.query, test.negated),
            ExprKind::Like(like) => self.like(like),
            ExprKind::Quantified(test) => self.quantified(test),
            ExprKind::Exists(query) => self.exists(query, false),
            ExprKind::Subquery(query) => self.scalar_subquery(query),
            ExprKind::Case(case) => self.case(case),
            ExprKind::Aggregate(aggregate) => self.aggregate_call(aggregate),
            _ => self.function(e),
        }
    }

    /// Expressions of one column each.
    pub(super) fn values(&mut self, list: &'a [ast::Expr<'a>]) -> Result<Vec<Expr>, BindError> {
        // Collecting results would reserve room for other numbers than these.
        let mut values = Vec::with_capacity(list.len());
        for e in list {
            values.push(self.value(e)?);
        }
        Ok(values)
    }

    /// Parameter `n` with the type announced for it.
    pub(super) fn param(&self, n: u32) -> Expr {
        let ty = self.ctx.param_types.get(n as usize).cloned().flatten();
        let ty = ty.unwrap_or_else(|| SqlType::varchar(super::literal::PARAM_CHARS, self.ctx.collation));
        let param = self.build.param(n as u16, ty);
        match self.ctx.late_types.get(n as usize) {
            Some(Some(ty)) => self.build.converted(param, ty.clone()),
            _ => param,
        }
    }

    fn user_variable(&mut self, name: &str) -> Expr {
        self.shareable = false;
        let field = self.field_variables.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let ty = match field {
            Some((_, collation)) => SqlType::varchar(super::literal::PARAM_CHARS, *collation),
            None => self.ctx.session.user_variable(name),
        };
        self.build.user_var(name, ty)
    }

    fn system_variable(&mut self, var: &ast::SystemVar<'_>) -> Result<Expr, BindError> {
        let global = match var.scope {
            VarScope::Unspecified => None,
            VarScope::Global => Some(true),
            VarScope::Session => Some(false),
            VarScope::Persist | VarScope::PersistOnly => {
                return Err(BindError::NotSupported("@@persist"));
            }
        };
        if var.prefix.is_some() {
            return Err(BindError::NotSupported("structured system variables"));
        }
        let ty = self.ctx.session.system_variable(global, var.name);
        let ty = ty.ok_or_else(|| BindError::UnknownSystemVariable(var.name.to_owned()))?;
        Ok(self.build.sys_var(global, var.name, ty))
    }

    fn unary(&mut self, op: UnaryOp, operand: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        if let (UnaryOp::Not, ExprKind::Exists(query)) = (op, operand.kind) {
            return self.exists(query, true);
        }
        if let (UnaryOp::Neg, ExprKind::Literal(literal)) = (op, operand.kind) {
            return self.literal(literal, true);
        }
        let mut arg = self.value(operand)?;
        match op {
            UnaryOp::Neg => {
                // MySQL reads a constant integer to find out which type its negative has.
                let is_integer = arg.ty.is_integer() || arg.ty.kind == TypeKind::Year;
                if is_integer && !matches!(operand.kind, ExprKind::Column(_) | ExprKind::Param(_)) {
                    self.note_operand(operand)?;
                }
                self.settle_negated(&mut arg);
            }
            UnaryOp::BitNot => self.settle_operands(Func::BitNot, std::slice::from_mut(&mut arg)),
            UnaryOp::Not => self.settle_condition(std::slice::from_mut(&mut arg)),
            UnaryOp::Plus => {}
        }
        match op {
            UnaryOp::Neg => Ok(self.build.negate(arg)?),
            UnaryOp::Plus => Ok(arg),
            UnaryOp::BitNot => Ok(self.build.operator(Func::BitNot, vec![arg])?),
            UnaryOp::Not => Ok(self.build.not(arg)),
        }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &'a ast::Expr<'a>,
        right: &'a ast::Expr<'a>,
    ) -> Result<Expr, BindError> {
        if let Some(op) = op.comparison() {
            return self.comparison(op, left, right);
        }
        // A quotient has as many fraction digits more than its dividend as the session says.
        let left = if op == BinaryOp::Div { self.value_with_digits(left)? } else { self.value(left)? };
        let mut operands = [left, self.value(right)?];
        match op {
            BinaryOp::Xor => self.settle_condition(&mut operands),
            BinaryOp::Regexp | BinaryOp::NotRegexp | BinaryOp::SoundsLike | BinaryOp::Concat => {
                self.settle_texts(&mut operands);
            }
            _ => self.settle_operands(arithmetic(op), &mut operands),
        }
        let [a, b] = operands;
        let func = match op {
            BinaryOp::Xor => return Ok(self.build.xor(a, b)),
            BinaryOp::Regexp => return Ok(self.build.call("REGEXP_LIKE", vec![a, b])?),
            BinaryOp::NotRegexp => {
                let found = self.build.call("REGEXP_LIKE", vec![a, b])?;
                return Ok(self.build.not(found));
            }
            BinaryOp::SoundsLike => {
                let [a, b] = [self.build.call("SOUNDEX", vec![a])?, self.build.call("SOUNDEX", vec![b])?];
                return Ok(self.build.compare(CmpOp::Eq, a, b)?);
            }
            BinaryOp::Concat => return Ok(self.build.call("CONCAT", vec![a, b])?),
            BinaryOp::MemberOf | BinaryOp::JsonExtract | BinaryOp::JsonExtractText => {
                return Err(BindError::NotSupported("JSON"));
            }
            _ => arithmetic(op),
        };
        Ok(self.build.operator(func, vec![a, b])?)
    }

    /// A comparison of values or of rows.
    fn comparison(
        &mut self,
        op: CmpOp,
        left: &'a ast::Expr<'a>,
        right: &'a ast::Expr<'a>,
    ) -> Result<Expr, BindError> {
        match (left.kind, right.kind) {
            (ExprKind::Row(a), ExprKind::Row(b)) => {
                self.descend(1)?;
                let bound = self.compare_rows(op, a, b);
                self.ascend(1);
                bound
            }
            (ExprKind::Row(a), ExprKind::Subquery(query)) => self.compare_row_with_query(op, a, query),
            (ExprKind::Subquery(query), ExprKind::Row(b)) => {
                self.compare_row_with_query(op.swapped(), b, query)
            }
            (ExprKind::Row(a), _) => {
                self.note_row(a)?;
                Err(BindError::OperandColumns(a.len()))
            }
            (_, ExprKind::Row(b)) => {
                self.note_row(b)?;
                Err(BindError::OperandColumns(1))
            }
            _ => {
                let sides = [self.compared_value(left)?, self.compared_value(right)?];
                self.compare_bound(op, sides, [left, right])
            }
        }
    }

    /// The value of a side of a comparison. What is compared within it is no part of a row, though it may be
    /// one.
    fn compared_value(&mut self, side: &'a ast::Expr<'a>) -> Result<Expr, BindError> {
        self.comparing(ComparedRows::None, |binder| binder.value(side))
    }

    /// What `bind` makes of parts of `rows`.
    fn comparing<R>(&mut self, rows: ComparedRows, bind: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.build.rows, rows);
        let bound = bind(self);
        self.build.rows = before;
        bound
    }

    /// A comparison of `bound`, which is `left`, with the value of `right`.
    pub(super) fn compare_with(
        &mut self,
        op: CmpOp,
        (bound, left): (Expr, &'a ast::Expr<'a>),
        right: &'a ast::Expr<'a>,
    ) -> Result<Expr, BindError> {
        let sides = [bound, self.compared_value(right)?];
        self.compare_bound(op, sides, [left, right])
    }

    fn compare_bound(
        &mut self,
        op: CmpOp,
        mut sides: [Expr; 2],
        written: [&'a ast::Expr<'a>; 2],
    ) -> Result<Expr, BindError> {
        self.settle_compared(&mut sides);
        self.note_operands_of(op, &sides);
        if sides.iter().all(|side| side.ty.is_integer()) {
            // What follows is about texts, dates and numbers that are not exact.
            let [a, b] = sides;
            return Ok(self.build.compare(op, a, b)?);
        }
        self.read_times_of_day(&mut sides);
        self.read_text_first(&mut sides, written)?;
        self.build.shifts_offsets = self.shifts_offsets(&sides);
        self.pin_compared(&mut sides, &written)?;
        if self.build.rows == ComparedRows::None {
            self.note_misfits(&sides);
            self.read_moment_first(&mut sides);
        }
        let moment = Self::moment_beside(&sides);
        self.build.read_beside_moments(&mut sides);
        let [a, b] = sides;
        let compared = self.build.compare(op, a, b);
        self.build.shifts_offsets = false;
        match moment {
            Some(moment) => self.compared_with_moment(compared, moment),
            None => Ok(compared?),
        }
    }

    /// Rows compare as conjunctions and disjunctions of their parts.
    fn compare_rows(
        &mut self,
        op: CmpOp,
        left: &'a [ast::Expr<'a>],
        right: &'a [ast::Expr<'a>],
    ) -> Result<Expr, BindError> {
        let is_by_part = matches!(op, CmpOp::Eq | CmpOp::NullSafeEq | CmpOp::Ne);
        if !is_by_part && self.build.rows == ComparedRows::None {
            self.note_row(left)?;
            self.note_row(right)?;
        }
        if left.len() != right.len() {
            return Err(BindError::OperandColumns(left.len()));
        }
        let mut parts = Vec::with_capacity(left.len());
        for (a, b) in left.iter().zip(right) {
            let part_op = if op == CmpOp::NullSafeEq { op } else { CmpOp::Eq };
            parts.push(match op {
                CmpOp::Eq | CmpOp::NullSafeEq => self.comparison(part_op, a, b)?,
                CmpOp::Ne => self.comparison(CmpOp::Ne, a, b)?,
                _ => {
                    let compare = |binder: &mut Self| binder.compare_rows_in_order(op, left, right);
                    return self.comparing(ComparedRows::Order, compare);
                }
            });
        }
        Ok(if op == CmpOp::Ne { self.build.or(parts) } else { self.build.and(parts) })
    }

    /// `(a, b) < (c, d)`: part by part, each computed once, unless an index may serve it or nothing is
    /// computed.
    fn compare_rows_in_order(
        &mut self,
        op: CmpOp,
        left: &'a [ast::Expr<'a>],
        right: &'a [ast::Expr<'a>],
    ) -> Result<Expr, BindError> {
        if left.len() < 2 || super::row_compare::is_by_order([left, right]) {
            return self.compare_rows_by_order(op, left, right);
        }
        let parts = left.iter().zip(right).map(|(a, b)| self.comparison(op, a, b));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        match self.build.row_order(parts) {
            Some(compared) => Ok(compared),
            None => self.compare_rows_by_order(op, left, right),
        }
    }

    /// `(a, b) < (c, d)` is `a < c OR (a = c AND b < d)`.
    fn compare_rows_by_order(
        &mut self,
        op: CmpOp,
        left: &'a [ast::Expr<'a>],
        right: &'a [ast::Expr<'a>],
    ) -> Result<Expr, BindError> {
        let strict = match op {
            CmpOp::Le => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Gt,
            op => op,
        };
        if left.len() == 1 {
            return self.comparison(op, &left[0], &right[0]);
        }
        let first = self.comparison(strict, &left[0], &right[0])?;
        let equal = self.comparison(CmpOp::Eq, &left[0], &right[0])?;
        self.descend(2)?;
        let rest = self.compare_rows_by_order(op, &left[1..], &right[1..])?;
        self.ascend(2);
        Ok(self.build.or(vec![first, self.build.and(vec![equal, rest])]))
    }

    fn is(&mut self, operand: &'a ast::Expr<'a>, test: IsTest, negated: bool) -> Result<Expr, BindError> {
        let mut arg = self.value(operand)?;
        match test {
            IsTest::Null | IsTest::Unknown => self.note_role(&arg, ParamRole::Text),
            IsTest::True | IsTest::False => self.settle_condition(std::slice::from_mut(&mut arg)),
        }
        Ok(match test {
            IsTest::Null | IsTest::Unknown => self.build.is_null(arg, negated),
            IsTest::True => self.build.is_truth(arg, true, negated),
            IsTest::False => self.build.is_truth(arg, false, negated),
        })
    }

    fn between(&mut self, between: &'a ast::Between<'a>) -> Result<Expr, BindError> {
        let mut parts = [self.value(&between.expr)?, self.value(&between.low)?, self.value(&between.high)?];
        self.settle_compared(&mut parts);
        let of_numbers = !parts[0].ty.is_string() && !parts[0].ty.is_temporal();
        // An upper bound that is not a date is no bound.
        let bounds = if parts[0].ty.kind == TypeKind::Time { &parts[1..] } else { &parts[1..2] };
        for bound in bounds.iter().filter(|_| !of_numbers) {
            self.note_role(bound, ParamRole::Bound);
        }
        for bound in parts[1..].iter().filter(|_| parts[0].ty.kind == TypeKind::Year) {
            self.note_role(bound, ParamRole::Bound);
        }
        self.pin_compared(&mut parts, &[&between.expr, &between.low, &between.high])?;
        // Of BETWEEN only the first operand decides.
        if matches!(parts[0].kind, expr::ExprKind::Column(_)) {
            self.note_misfits(&parts);
        }
        let [value, low, high] = parts;
        Ok(self.build.between(value, low, high, between.negated)?)
    }

    fn in_list(&mut self, test: &'a ast::InList<'a>) -> Result<Expr, BindError> {
        if let ExprKind::Row(needle) = test.expr.kind {
            self.note_rows_of_list(needle, test.list)?;
        }
        // One value is a plain comparison, which has the shorter ways of plans and programs.
        if let [only] = test.list {
            let is_row = matches!(test.expr.kind, ExprKind::Row(_));
            let rows = if is_row { ComparedRows::List } else { ComparedRows::None };
            let op = if test.negated { CmpOp::Ne } else { CmpOp::Eq };
            return self.comparing(rows, |binder| binder.comparison(op, &test.expr, only));
        }
        if let ExprKind::Row(needle) = test.expr.kind {
            return self.row_in_list(needle, test);
        }
        let needle = self.value(&test.expr)?;
        if let Some(list) = self.integer_literals(&needle, test.list)? {
            return Ok(self.build.in_list(needle, list, test.negated)?);
        }
        let mut values = Vec::with_capacity(1 + test.list.len());
        values.push(needle);
        for item in test.list {
            values.push(self.value(item)?);
        }
        self.settle_compared(&mut values);
        self.note_list(&mut values);
        self.read_texts_of_list(&mut values, test.list)?;
        let written: Vec<&ast::Expr<'_>> = std::iter::once(&test.expr).chain(test.list).collect();
        self.pin_compared(&mut values, &written)?;
        let list = values.split_off(1);
        let needle = values.swap_remove(0);
        Ok(self.build.in_list(needle, list, test.negated)?)
    }

    /// As [`Binder::integer_literal`], a list of them; `None`, with nothing noted: it has something else.
    fn integer_literals(
        &mut self,
        column: &Expr,
        list: &'a [ast::Expr<'a>],
    ) -> Result<Option<Vec<Expr>>, BindError> {
        if column.as_column().is_none() {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(list.len());
        for item in list {
            let Some(value) = self.integer_literal(column, item)? else { return Ok(None) };
            values.push(value);
        }
        Ok(Some(values))
    }

    fn row_in_list(
        &mut self,
        needle: &'a [ast::Expr<'a>],
        test: &'a ast::InList<'a>,
    ) -> Result<Expr, BindError> {
        self.comparing(ComparedRows::List, |binder| binder.equals_row_of_list(needle, test))
    }

    fn equals_row_of_list(
        &mut self,
        needle: &'a [ast::Expr<'a>],
        test: &'a ast::InList<'a>,
    ) -> Result<Expr, BindError> {
        let mut equalities = Vec::with_capacity(test.list.len());
        let mut columns: Vec<Option<Expr>> = Vec::new();
        let places = Self::places_of_rows(needle, test.list);
        let types = self.types_of_places(needle, test.list)?;
        for item in test.list {
            let ExprKind::Row(row) = item.kind else { return Err(BindError::OperandColumns(needle.len())) };
            if row.len() != needle.len() {
                return Err(BindError::OperandColumns(needle.len()));
            }
            if columns.is_empty() {
                columns = self.columns_of_row(needle)?;
            }
            let mut parts = Vec::with_capacity(row.len());
            for (at, ((column, left), right)) in columns.iter().zip(needle).zip(row).enumerate() {
                let place = places.as_ref().and_then(|places| places[at]);
                if !types.is_empty() {
                    self.type_of_place.clone_from(&types[at]);
                }
                if let Some(number) = self.number_in_row(right, place)? {
                    let left = self.compared_value(left)?;
                    parts.push(self.build.compare(CmpOp::Eq, left, number)?);
                    continue;
                }
                let is_in_list = test.list.len() > 1;
                let compared = match (column, left.kind, right.kind) {
                    (_, ExprKind::Row(_), _) | (_, _, ExprKind::Row(_)) => {
                        self.comparison(CmpOp::Eq, left, right)
                    }
                    (Some(column), ..) => match self.integer_literal(column, right)? {
                        Some(value) => Ok(self.build.compare(CmpOp::Eq, column.clone(), value)?),
                        None if is_in_list => self.compare_with_item((column.clone(), left), right),
                        None => self.compare_with(CmpOp::Eq, (column.clone(), left), right),
                    },
                    (None, ..) if is_in_list => {
                        let bound = self.compared_value(left)?;
                        self.compare_with_item((bound, left), right)
                    }
                    (None, ..) => self.comparison(CmpOp::Eq, left, right),
                };
                parts.push(match compared {
                    Err(BindError::Expr(expr::BindError::IncorrectTemporal { .. }))
                        if test.list.len() > 1 && self.change.is_none() =>
                    {
                        let (value, date) = (self.value(left)?, self.value(right)?);
                        self.build.arm_condition(value, date)?
                    }
                    compared => compared?,
                });
            }
            equalities.push(self.build.and(parts));
        }
        if !types.is_empty() {
            self.type_of_place = None;
        }
        let found = self.build.or(equalities);
        Ok(if test.negated { self.build.not(found) } else { found })
    }

    /// Whether `bound`, which is `left`, equals `right` of a row in a list: numbers beside an integer are
    /// read as integers, and beside a text as texts. Two texts are compared in the collation of the first.
    fn compare_with_item(
        &mut self,
        (bound, left): (Expr, &'a ast::Expr<'a>),
        right: &'a ast::Expr<'a>,
    ) -> Result<Expr, BindError> {
        use TypeKind::{Decimal, Double, Float};
        let item = self.compared_value(right)?;
        let is_real = matches!(item.ty.kind, Decimal | Double | Float);
        // A parameter of a given type is read as a literal of it is.
        if self.is_open(&item) || self.is_open(&bound) {
            return self.compare_bound(CmpOp::Eq, [bound, item], [left, right]);
        }
        if self.build.are_of_two_collations(&bound, &item) {
            return Ok(self.build.equal_as_first(bound, item));
        }
        if bound.ty.is_string() && (is_real || item.ty.is_integer()) {
            return Ok(self.build.equal_texts(bound, item));
        }
        if !bound.ty.is_integer() || !(is_real || item.ty.is_string()) {
            return self.compare_bound(CmpOp::Eq, [bound, item], [left, right]);
        }
        let is_fixed = matches!(item.kind, expr::ExprKind::Const(_) | expr::ExprKind::Param(_));
        let read = self.build.cast(item, expr::build::CastTo::Signed)?;
        let read = if is_fixed { self.build.kept_value(read) } else { read };
        Ok(self.build.compare(CmpOp::Eq, bound, read)?)
    }

    /// What `value` is bound to beside `column`, if that is an integer and `value` a parameter that is
    /// for an integer literal: no rule changes such a pair.
    fn integer_literal(&mut self, column: &Expr, value: &ast::Expr<'a>) -> Result<Option<Expr>, BindError> {
        let ExprKind::Literal(literal) = value.kind else { return Ok(None) };
        if literal.kind != crate::LiteralKind::Int || !column.ty.is_integer() {
            return Ok(None);
        }
        self.descend(1)?;
        self.ascend(1);
        Ok(self.lifted(&literal))
    }

    /// The columns among the operands of a row, which are looked up once however long the list is that the
    /// row is compared with.
    fn columns_of_row(&mut self, row: &'a [ast::Expr<'a>]) -> Result<Vec<Option<Expr>>, BindError> {
        let mut columns = Vec::with_capacity(row.len());
        for operand in row {
            let is_column = matches!(operand.kind, ExprKind::Column(_));
            let bound = if is_column { Some(self.value(operand)?) } else { None };
            // A name may stand for a larger expression, each copy of which is counted.
            columns.push(bound.filter(|bound| matches!(bound.kind, expr::ExprKind::Column(_))));
        }
        Ok(columns)
    }

    fn like(&mut self, like: &'a ast::Like<'a>) -> Result<Expr, BindError> {
        let escape = match &like.escape {
            None if self.ctx.modes.has(types::SqlModes::NO_BACKSLASH_ESCAPES) => None,
            None => Some('\\'),
            Some(ast::Expr { kind: ExprKind::Literal(literal), .. })
                if literal.kind == crate::LiteralKind::String =>
            {
                self.escape_char(literal)?
            }
            Some(escape) => return self.like_with_escape(like, escape),
        };
        let mut operands = [self.value(&like.expr)?, self.value(&like.pattern)?];
        self.settle_like(&mut operands);
        let [text, pattern] = operands;
        if let Some(escape) = &like.escape {
            let escape = self.value(escape)?;
            self.build.agree_like(&text, &pattern, &escape)?;
        }
        Ok(self.build.like(text, pattern, escape, like.negated)?)
    }

    /// LIKE with an escape character that is known when the statement runs: it is the same for all rows.
    fn like_with_escape(
        &mut self,
        like: &'a ast::Like<'a>,
        escape: &'a ast::Expr<'a>,
    ) -> Result<Expr, BindError> {
        let (text, pattern) = (self.value(&like.expr)?, self.value(&like.pattern)?);
        let escape = self.value(escape)?;
        self.build.agree_like(&text, &pattern, &escape)?;
        let mut varies = false;
        escape.walk(&mut |e| {
            varies |= matches!(e.kind, expr::ExprKind::Column(_));
        });
        if varies {
            return Err(BindError::WrongArguments("ESCAPE"));
        }
        Ok(self.build.like_with_escape(text, pattern, escape, like.negated)?)
    }

    /// The character of ESCAPE: a constant of at most one character.
    fn escape_char(&mut self, literal: &crate::literal::Literal) -> Result<Option<char>, BindError> {
        let refused = || BindError::WrongArguments("ESCAPE");
        self.pin(literal);
        let text = literal.string_value(self.ctx.sql, self.lex_mode()).into_owned();
        let text = String::from_utf8(text).map_err(|_| refused())?;
        let mut chars = text.chars();
        let first = chars.next();
        if chars.next().is_some() { Err(refused()) } else { Ok(first) }
    }

    /// A column of the row that INSERT would have inserted: `VALUES(column)`.
    pub(super) fn values_of(&mut self, name: &ast::ColumnRef<'_>) -> Result<Expr, BindError> {
        let level = self.levels.last().expect("a query is being bound");
        let Some(rel) = level.values_rel else { return Ok(self.build.null()) };
        let Some(table) = level.scope.tables.first() else { return Ok(self.build.null()) };
        let is_tables = name.table.is_none_or(|wanted| table.is_named(name.schema, wanted));
        let Some(col) = table.columns.find(name.column).filter(|_| is_tables) else {
            return Err(BindError::UnknownColumn {
                name: super::scope::written(name),
                clause: Clause::FieldList,
            });
        };
        let found = table.found(col);
        self.note_read(&level.scope, found.column);
        Ok(Expr::column(rel, col, found.ty, found.nullable))
    }
}

/// The function of an arithmetic or bit operator.
fn arithmetic(op: BinaryOp) -> Func {
    match op {
        BinaryOp::Sub => Func::Sub,
        BinaryOp::Mul => Func::Mul,
        BinaryOp::Div => Func::Div,
        BinaryOp::IntDiv => Func::IntDiv,
        BinaryOp::Mod => Func::Mod,
        BinaryOp::BitOr => Func::BitOr,
        BinaryOp::BitAnd => Func::BitAnd,
        BinaryOp::BitXor => Func::BitXor,
        BinaryOp::Shl => Func::ShiftLeft,
        BinaryOp::Shr => Func::ShiftRight,
        _ => Func::Add,
    }
}
