//! Comparisons, BETWEEN, IN and LIKE: choice of the domain, conversion of constants to it.

use std::sync::Arc;

use types::collation::LikePattern;
use types::decimal::{MAX_PRECISION, MAX_SCALE};
use types::temporal::MAX_FSP;
use types::value::Loss;
use types::{Charset, DateTime, OwnedValue, SqlType, Time, TypeKind, Value, storage};

use super::logic::truth;
use super::stored_year::stored_year;
use super::typing::{Class, class_of, fixed_decimals, is_text};
use super::{BindError, Builder};
use crate::compare::exact_integer;
use crate::fold::fold;
use crate::func::Func;
use crate::{CmpDomain, CmpOp, Expr, ExprKind};

impl CmpOp {
    /// The operator as written.
    pub fn symbol(self) -> &'static str {
        match self {
            CmpOp::Eq => "=",
            CmpOp::NullSafeEq => "<=>",
            CmpOp::Ne => "<>",
            CmpOp::Lt => "<",
            CmpOp::Le => "<=",
            CmpOp::Gt => ">",
            CmpOp::Ge => ">=",
        }
    }
}

impl Builder {
    /// `a op b`.
    pub fn compare(&self, op: CmpOp, a: Expr, b: Expr) -> Result<Expr, BindError> {
        self.compare_digits(op, [a, b], true)
    }

    /// `a op b`; `is_rounded`: of doubles with a fixed number of fraction digits only these count.
    pub(super) fn compare_digits(
        &self,
        op: CmpOp,
        mut args: [Expr; 2],
        is_rounded: bool,
    ) -> Result<Expr, BindError> {
        let domain = if args.iter().all(is_plain_integer) {
            CmpDomain::Integer
        } else {
            self.read_text_as_decimal(&mut args);
            self.agree(&mut args, op.symbol())?
        };
        if matches!(domain, CmpDomain::Double | CmpDomain::Number) {
            if is_rounded {
                self.round_fixed(&mut args);
            }
            self.read_texts(&mut args, domain);
        }
        let nullable = op != CmpOp::NullSafeEq && args.iter().any(|e| e.nullable);
        Ok(truth(ExprKind::Compare { op, domain, args: Box::new(args) }, nullable))
    }

    /// A constant as a number of type `ty`, DOUBLE or DECIMAL, that is computed once a statement.
    fn kept_number(constant: Expr, ty: SqlType) -> Expr {
        let nullable = constant.nullable;
        let kind = ExprKind::Call { func: Func::KeptNumber, args: Box::new([constant]) };
        Expr { kind, ty, nullable }
    }

    /// The truth of a constant condition as a number, which is computed once a statement.
    pub fn kept_truth(&self, condition: Expr) -> Expr {
        match class_of(&condition) {
            Class::Text => Self::kept_number(condition, SqlType::double()),
            _ => self.kept_value(condition),
        }
    }

    /// The value of a constant operation, which is computed once a statement.
    pub fn kept_value(&self, operation: Expr) -> Expr {
        let (ty, nullable) = (operation.ty.clone(), operation.nullable);
        Expr { kind: ExprKind::Call { func: Func::KeptValue, args: Box::new([operation]) }, ty, nullable }
    }

    /// Makes a constant text, or a parameter's, a DECIMAL beside one that varies, as MySQL does where two
    /// values are compared.
    fn read_text_as_decimal(&self, args: &mut [Expr; 2]) {
        for at in 0..2 {
            let is_text = class_of(&args[at]) == Class::Text
                && !matches!(args[at].ty.kind, TypeKind::Enum | TypeKind::Set);
            let is_literal = matches!(args[at].kind, ExprKind::Const(_) | ExprKind::Param(_));
            let beside = &args[1 - at];
            if !is_text || !is_literal || class_of(beside) != Class::Decimal || !varies(beside) {
                continue;
            }
            let text = std::mem::replace(&mut args[at], self.null());
            let read = match &text.kind {
                ExprKind::Const(value) => Some(value.as_value().to_decimal()),
                _ => None,
            };
            args[at] = match read {
                Some(read) if read.loss == Loss::None => self.decimal(read.value),
                // A type of DECIMAL does not hold all that a DECIMAL column may have: the value is not cast
                // to one.
                _ => Self::kept_number(text, SqlType::decimal(MAX_PRECISION, MAX_SCALE)),
            };
        }
    }

    /// Has a constant text that is no number read once a statement, beside an integer column. Doubles would
    /// lose digits of some.
    fn read_once(&self, arg: &mut Expr) {
        let ExprKind::Const(value) = &arg.kind else { return };
        let text = value.as_value();
        if class_of(arg) != Class::Text || text.to_f64().loss == Loss::None {
            return;
        }
        let exact = text.to_decimal();
        if exact.loss != Loss::OutOfRange
            && Value::Double(text.to_f64().value).to_decimal().value == exact.value
        {
            let text = std::mem::replace(arg, self.null());
            *arg = Self::kept_number(text, SqlType::double());
        }
    }

    /// Has a constant text that is no number, or that is calculated, read once a statement.
    pub(super) fn keep_no_number(&self, arg: &mut Expr) {
        let is_kept = class_of(arg) == Class::Text
            && match &arg.kind {
                ExprKind::Const(value) => value.as_value().to_f64().loss != Loss::None,
                ExprKind::Call { func: Func::KeptNumber | Func::KeptValue, .. } => false,
                _ => is_constant(arg),
            };
        if is_kept {
            let text = std::mem::replace(arg, self.null());
            *arg = Self::kept_number(text, SqlType::double());
        }
    }

    /// Reads the texts among operands that are compared as numbers as MySQL does: a constant that is none
    /// once a statement, and columns by [`Builder::read_special_text`]. `domain`: of the comparison.
    fn read_texts(&self, args: &mut [Expr], domain: CmpDomain) {
        for arg in args {
            match domain {
                CmpDomain::Number => self.read_once(arg),
                _ => self.keep_no_number(arg),
            }
            self.read_special_text(arg);
        }
    }

    /// Makes a column of TEXT, BLOB or of bytes, and the text of a subquery, a conversion of its own, which
    /// tells the session what MySQL says of these.
    pub(crate) fn read_special_text(&self, arg: &mut Expr) {
        use TypeKind::{Blob, Text, VarBinary, VarChar};
        let is_special = match arg.ty.kind {
            Text(_) | Blob(_) | VarBinary => true,
            VarChar => arg.ty.charset() == Charset::Latin1,
            _ => false,
        };
        let is_read = match arg.kind {
            ExprKind::Column(_) => is_special,
            ExprKind::Subquery { .. } => class_of(arg) == Class::Text,
            _ => false,
        };
        if is_read {
            let nullable = arg.nullable;
            let column = std::mem::replace(arg, self.null());
            *arg = Expr::cast(column, SqlType::double(), nullable);
        }
    }

    /// Where both sides have a fixed number of fraction digits, doubles are compared by these: the error of a
    /// sum of DOUBLE(8,2) does not show.
    fn round_fixed(&self, args: &mut [Expr; 2]) {
        /// Rounding to more digits would change doubles.
        const DIGITS_MAX: u8 = 15;
        let decimals = args.iter().map(fixed_decimals).max().unwrap_or(SqlType::NOT_FIXED_DECIMALS);
        if decimals > DIGITS_MAX {
            return;
        }
        for at in 0..2 {
            let (arg, beside) = (&args[at], &args[1 - at]);
            if class_of(arg) != Class::Double || matches!(arg.kind, ExprKind::Const(_)) {
                continue;
            }
            if !is_stored_with_digits(arg) {
                args[at] = self.rounded(arg.clone(), decimals);
            } else if let Some(value) = constant_number(beside) {
                let stored = storage::round_to_scale(&arg.ty, value);
                if arg.ty.decimals == decimals && stored != value {
                    args[1 - at] = self.stored_digits(stored, decimals);
                }
            } else if !(is_stored_with_digits(beside) && beside.ty.decimals == arg.ty.decimals) {
                args[at] = self.rounded(arg.clone(), decimals);
            }
        }
    }

    fn rounded(&self, value: Expr, decimals: u8) -> Expr {
        let (ty, nullable) = (SqlType { decimals, ..SqlType::double() }, value.nullable);
        let args = Box::new([value, self.int(i64::from(decimals))]);
        Expr { kind: ExprKind::Call { func: Func::Round, args }, ty, nullable }
    }

    /// A constant as a column of DOUBLE(M,D) stores it: its last bit may be another than that of the number
    /// as it is written.
    fn stored_digits(&self, stored: f64, decimals: u8) -> Expr {
        let constant = self.double(stored);
        Expr { ty: SqlType { decimals, ..constant.ty }, ..constant }
    }

    /// `value [NOT] BETWEEN low AND high`.
    pub fn between(&self, value: Expr, low: Expr, high: Expr, negated: bool) -> Result<Expr, BindError> {
        if class_of(&value) == Class::Double
            && !negated
            && constant_number(&low).is_some_and(|low| constant_number(&high) == Some(low))
        {
            return self.compare(CmpOp::Eq, value, low);
        }
        let mut args = [value, low, high];
        let domain = self.agree(&mut args, "between")?;
        if matches!(domain, CmpDomain::Double | CmpDomain::Number) {
            for arg in &mut args {
                self.read_special_text(arg);
            }
        }
        let nullable = args.iter().any(|e| e.nullable);
        Ok(truth(ExprKind::Between { negated, domain, args: Box::new(args) }, nullable))
    }

    /// `needle [NOT] IN (list)`. A list of mixed types is one IN for each domain in which an item meets the
    /// needle.
    pub fn in_list(&self, needle: Expr, list: Vec<Expr>, negated: bool) -> Result<Expr, BindError> {
        if list.len() > 1 && is_plain_integer(&needle) && list.iter().all(is_plain_integer) {
            return Ok(in_set(CmpDomain::Integer, needle, list, negated));
        }
        let mut groups: Vec<(Mixing, Vec<Expr>)> = Vec::new();
        // A number is looked for from left to right; a text, which warns when it is read as a number, is read
        // as one once.
        let is_ordered = class_of(&needle) != Class::Text;
        for item in list {
            let mixing = Mixing::of(&needle, &item);
            // Those of a text are few: one of each kind.
            let first = if is_ordered { groups.len().saturating_sub(1) } else { 0 };
            let mut known = groups[first..].iter_mut();
            let meets = |known: Mixing| known == mixing || mixing == Mixing::None || known == Mixing::None;
            match known.find(|(known, _)| meets(*known)) {
                Some((known, items)) => {
                    if *known == Mixing::None {
                        *known = mixing;
                    }
                    items.push(item);
                }
                None => groups.push((mixing, vec![item])),
            }
        }
        if let [(_, items)] = &mut groups[..] {
            return self.in_uniform_list(needle, std::mem::take(items), negated);
        }
        let shown = if needle.is_at_hand() { needle.clone() } else { needle.held() };
        let parts = groups.into_iter().map(|(mixing, mut items)| {
            let is_text = class_of(&shown) == Class::Text;
            if mixing == Mixing::Text && is_text && items.iter().any(is_temporal) {
                // Beside numbers a text meets dates as texts.
                items.insert(0, shown.clone());
                let domain = self.agree_in_text(&mut items, " IN ")?;
                return Ok(in_domain(domain, items, negated));
            }
            if mixing == Mixing::Text && class_of(&shown) == Class::Time {
                items.insert(0, shown.clone());
                return Ok(in_domain(CmpDomain::Time, items, negated));
            }
            if mixing == Mixing::Double && is_number(&shown) && items.iter().any(is_temporal) {
                return Ok(self.in_numbers(shown.clone(), items, negated));
            }
            // A number that is no date stays a number.
            let is_direct = mixing == Mixing::Double;
            self.in_part_of_list(shown.clone(), items, negated, (is_direct, false))
        });
        let parts = parts.collect::<Result<Vec<Expr>, BindError>>()?;
        let whole = if negated { self.and(parts) } else { self.or(parts) };
        Ok(if needle.is_at_hand() { whole } else { whole.holding(needle) })
    }

    /// `needle [NOT] IN (list)` of a number among values that are read as doubles.
    fn in_numbers(&self, needle: Expr, mut list: Vec<Expr>, negated: bool) -> Expr {
        list.insert(0, needle);
        for arg in &mut list {
            self.read_special_text(arg);
        }
        in_domain(CmpDomain::Double, list, negated)
    }

    /// The domain in which all of `args` are compared as texts, whatever they are.
    pub(crate) fn agree_in_text(&self, args: &mut [Expr], operation: &str) -> Result<CmpDomain, BindError> {
        let domain = self.string_domain(args, operation)?;
        if let CmpDomain::String(collation) = domain {
            for arg in args {
                let text = std::mem::replace(arg, self.null());
                *arg = self.in_charset(text, collation);
            }
        }
        Ok(domain)
    }

    fn in_uniform_list(&self, needle: Expr, list: Vec<Expr>, negated: bool) -> Result<Expr, BindError> {
        let is_direct = list.len() == 1;
        let list =
            if !is_direct && needle.ty.kind == TypeKind::Date { self.dates_of_list(list) } else { list };
        if !is_direct && is_number(&needle) && list.iter().any(is_temporal) {
            return Ok(self.in_numbers(needle, list, negated));
        }
        let is_read_each_row = |e: &Expr| class_of(e) == Class::Text && !matches!(e.kind, ExprKind::Const(_));
        if !is_direct && class_of(&needle) == Class::Time && list.iter().any(is_read_each_row) {
            return Ok(in_domain(CmpDomain::Time, [vec![needle], list].concat(), negated));
        }
        if !is_direct && meets_in_time(&needle, &list) {
            return self.in_times(needle, list, negated);
        }
        self.in_part_of_list(needle, list, negated, (is_direct, true))
    }

    /// `needle [NOT] IN (list)`, compared as times. MySQL reads the text of a date as a time, and warns.
    fn in_times(&self, needle: Expr, list: Vec<Expr>, negated: bool) -> Result<Expr, BindError> {
        let needle = match needle.ty.kind {
            TypeKind::Date => {
                let nullable = needle.nullable;
                Expr::cast(self.text_of(needle), super::literal::time_type(MAX_FSP), nullable)
            }
            _ => needle,
        };
        let mut args = [vec![needle], list].concat();
        let domain = self.agree_in_time(&mut args, CmpDomain::Time, (" IN ", false))?;
        Ok(in_domain(domain, args, negated))
    }

    /// `is_direct`: the items are compared as `needle = item` is. `is_whole`: the list has no other items, so
    /// that its texts are read once.
    fn in_part_of_list(
        &self,
        needle: Expr,
        list: Vec<Expr>,
        negated: bool,
        (is_direct, is_whole): (bool, bool),
    ) -> Result<Expr, BindError> {
        let mut args = Vec::with_capacity(list.len() + 1);
        args.push(needle);
        args.extend(list);
        let domain = self.agree_among(&mut args, " IN ", is_direct)?;
        if matches!(domain, CmpDomain::Double | CmpDomain::Number) {
            // MySQL reads a list of constants of one type once, another one for each row.
            let is_at_hand = |e: &Expr| matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_));
            if is_whole && args[1..].iter().all(is_at_hand) {
                self.read_texts(&mut args, domain);
            } else {
                for arg in &mut args {
                    self.read_special_text(arg);
                }
            }
        }
        Ok(in_domain(domain, args, negated))
    }

    /// `text [NOT] LIKE pattern ESCAPE escape`; `None` for `ESCAPE ''`, backslash is the default. A constant
    /// pattern is compiled here.
    pub fn like(
        &self,
        text: Expr,
        pattern: Expr,
        escape: Option<char>,
        negated: bool,
    ) -> Result<Expr, BindError> {
        let collation = self.common_collation(&[&text, &pattern], "like")?;
        let text = self.in_charset(self.text_of(text), collation);
        let pattern = self.in_charset(self.text_of(pattern), collation);
        let nullable = text.nullable || pattern.nullable;
        let compiled = match (&pattern.kind, collation.collation()) {
            (ExprKind::Const(OwnedValue::Bytes { data, .. }), Some(known)) => {
                Some(Arc::new(LikePattern::new(data, escape.map(u32::from), known)))
            }
            _ => None,
        };
        let args = Box::new([text, pattern]);
        Ok(truth(ExprKind::Like { negated, collation, escape, compiled, args }, nullable))
    }

    /// `text [NOT] LIKE pattern ESCAPE escape` with an escape character that is computed.
    pub fn like_with_escape(
        &self,
        text: Expr,
        pattern: Expr,
        escape: Expr,
        negated: bool,
    ) -> Result<Expr, BindError> {
        let mut args = vec![self.text_of(text), self.text_of(pattern)];
        let collation = self.share_charset(&mut args, Func::LikeEscape, true)?;
        args.push(self.in_charset(self.text_of(escape), collation));
        let nullable = args.iter().any(|e| e.nullable);
        let kind = ExprKind::Call { func: Func::LikeEscape, args: args.into() };
        let found = truth(kind, nullable);
        Ok(if negated { self.not(found) } else { found })
    }

    /// The domain in which all of `args` are compared. Constants are converted to it and strings to its
    /// character set.
    pub(crate) fn agree(&self, args: &mut [Expr], operation: &str) -> Result<CmpDomain, BindError> {
        let is_direct = args.len() == 2;
        self.agree_among(args, operation, is_direct)
    }

    /// As [`Builder::agree`]; `is_direct`: of two operands that are compared with each other alone.
    fn agree_among(
        &self,
        args: &mut [Expr],
        operation: &str,
        is_direct: bool,
    ) -> Result<CmpDomain, BindError> {
        self.adopt_integer_constants(args, operation == " IN ");
        let has_year = args.iter().any(|e| e.ty.kind == TypeKind::Year);
        if let ([a, b], true) = (&mut *args, is_direct && has_year) {
            *a = self.beside_date(std::mem::replace(a, self.null()), b)?;
            *b = self.beside_date(std::mem::replace(b, self.null()), a)?;
        }
        let domain = self.domain(args, operation)?;
        match domain {
            CmpDomain::String(collation) => {
                for arg in args.iter_mut() {
                    let text = std::mem::replace(arg, self.null());
                    *arg = self.in_charset(text, collation);
                }
            }
            CmpDomain::DateTime | CmpDomain::Time => {
                return self.agree_in_time(args, domain, (operation, is_direct));
            }
            _ => {}
        }
        Ok(domain)
    }

    /// `value` as it is compared with `beside` alone: a year beside a date is the number of the date of its
    /// month and day 0.
    pub fn beside_date(&self, value: Expr, beside: &Expr) -> Result<Expr, BindError> {
        if value.ty.kind != TypeKind::Year || class_of(beside) != Class::DateTime {
            return Ok(value);
        }
        let unit = if beside.ty.kind == TypeKind::Date { 10_000 } else { 10_000_000_000 };
        self.operator(Func::Mul, vec![value, self.int(unit)])
    }

    /// Turns constants among `args` to dates or times. What is none is refused beside one date; beside one
    /// time the comparison is one of text; in BETWEEN and longer lists it counts as zero. A number that is
    /// none stays a number.
    fn agree_in_time(
        &self,
        args: &mut [Expr],
        domain: CmpDomain,
        (operation, is_direct): (&str, bool),
    ) -> Result<CmpDomain, BindError> {
        let has = |kind: TypeKind| args.iter().any(|e| e.ty.kind == kind);
        let type_name = match domain {
            _ if has(TypeKind::Timestamp) => "TIMESTAMP",
            _ if has(TypeKind::DateTime) => "DATETIME",
            _ => "DATE",
        };
        let mut adopted = args.to_vec();
        let mut has_number = false;
        for arg in &mut adopted {
            let Err(value) = self.adopt_temporal_constant(arg, domain) else { continue };
            if is_number(arg) && !is_text(arg) && (is_direct || operation == "between") {
                has_number = true;
                continue;
            }
            match domain {
                CmpDomain::Time if is_direct => return self.string_domain(args, operation),
                CmpDomain::Time => *arg = self.time(Time::ZERO, MAX_FSP),
                _ if is_direct => return Err(BindError::IncorrectTemporal { type_name, value }),
                _ => *arg = self.datetime(DateTime::ZERO, MAX_FSP),
            }
        }
        args.clone_from_slice(&adopted);
        Ok(if has_number { CmpDomain::Double } else { domain })
    }

    fn domain(&self, args: &[Expr], operation: &str) -> Result<CmpDomain, BindError> {
        if args.iter().all(|e| class_of(e) == Class::Int) {
            return Ok(CmpDomain::Integer);
        }
        // A hexadecimal literal is a number only among numbers.
        let text_around = args.iter().any(|e| class_of(e) == Class::Text);
        let seen_as = |e: &Expr| if text_around && is_text(e) { Class::Text } else { class_of(e) };
        let has = |class: Class| args.iter().any(|e| seen_as(e) == class);
        let (text, number) = (has(Class::Text), has(Class::Int) || has(Class::Decimal) || has(Class::Double));
        if has(Class::DateTime) {
            let is_given = |e: &Expr| {
                matches!(e.kind, ExprKind::Param(_)) || matches!(fold(e.clone()).kind, ExprKind::Const(_))
            };
            let numbers_are_dates = args.iter().all(|e| !is_number(e) || is_text(e))
                || (takes_numbers(args, operation) && args.iter().all(|e| !is_number(e) || is_given(e)));
            return Ok(if numbers_are_dates { CmpDomain::DateTime } else { CmpDomain::Double });
        }
        if has(Class::Time) {
            // A constant is turned to the type of a column; a text beside another time is compared as text.
            let takes_constants = !text
                || args.iter().any(|e| class_of(e) == Class::Time && matches!(e.kind, ExprKind::Column(_)));
            let only_time = args.iter().all(|e| {
                matches!(class_of(e), Class::Time | Class::Null)
                    || (takes_constants && matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_)))
            });
            return match (only_time, number) {
                (true, _) => Ok(CmpDomain::Time),
                (false, true) => Ok(CmpDomain::Double),
                (false, false) => self.string_domain(args, operation),
            };
        }
        if has(Class::Double) || (text && number) {
            let beside_integers = args.iter().any(is_integer_column);
            return Ok(if beside_integers { CmpDomain::Number } else { CmpDomain::Double });
        }
        if text {
            return self.string_domain(args, operation);
        }
        Ok(if has(Class::Decimal) { CmpDomain::Decimal } else { CmpDomain::Integer })
    }

    fn string_domain(&self, args: &[Expr], operation: &str) -> Result<CmpDomain, BindError> {
        let all: Vec<&Expr> = args.iter().collect();
        Ok(CmpDomain::String(self.common_collation(&all, operation)?))
    }

    /// Beside integer columns, a string constant that is just an integer is that integer: so that `id = '5'`
    /// is an exact comparison that an index can serve. A constant that is compared with a YEAR column is the
    /// year that the column would store; those of lists are numbers.
    fn adopt_integer_constants(&self, args: &mut [Expr], is_list: bool) {
        let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(_)) && class_of(e) == Class::Int;
        if !args.iter().any(is_column) {
            return;
        }
        let is_year = |e: &Expr| is_column(e) && e.ty.kind == TypeKind::Year;
        // Of BETWEEN only the first operand decides.
        let year = !is_list && (is_year(&args[0]) || (args.len() == 2 && is_year(&args[1])));
        for arg in args.iter_mut() {
            if year
                && let ExprKind::Const(value) = fold(arg.clone()).kind
                && let Some(number) = stored_year(&value.as_value())
            {
                *arg = self.int(number);
                continue;
            }
            let ExprKind::Const(value) = &arg.kind else { continue };
            let Some(number) = exact_integer(&value.as_value()) else { continue };
            if class_of(arg) == Class::Text {
                *arg = i64::try_from(number).map_or_else(|_| self.uint(number as u64), |v| self.int(v));
            }
        }
    }
}

/// Whether constant numbers among `args`, of which one is a date, become dates: beside a column they do, and
/// in lists.
fn takes_numbers(args: &[Expr], operation: &str) -> bool {
    let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(_)) && class_of(e) == Class::DateTime;
    match operation {
        " IN " => true,
        "between" => is_column(&args[0]),
        _ => args.iter().any(is_column),
    }
}

/// Whether the text of the statement gives the value of `expr`, and the same one each time it is computed.
pub(super) fn is_constant(expr: &Expr) -> bool {
    !has(expr, |e| is_variable(e) || matches!(e.kind, ExprKind::Param(_)))
}

/// Whether the value of `expr` may change while the statement runs.
fn varies(expr: &Expr) -> bool {
    has(expr, is_variable)
}

fn is_variable(expr: &Expr) -> bool {
    match expr.kind {
        ExprKind::Column(_)
        | ExprKind::UserVar(_)
        | ExprKind::AssignUserVar { .. }
        | ExprKind::SysVar { .. }
        | ExprKind::Subquery { .. }
        // What it stands for is too large to be looked at here.
        | ExprKind::Held { shown: None, .. } => true,
        ExprKind::Call { func, .. } => func.is_volatile(),
        _ => false,
    }
}

/// Whether a part of `expr` is such.
fn has(expr: &Expr, is_such: impl Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= is_such(e));
    found
}

/// `needle [NOT] IN (list)`, compared in `domain`; `args`: the needle, then the list.
fn in_domain(domain: CmpDomain, mut args: Vec<Expr>, negated: bool) -> Expr {
    let needle = args.remove(0);
    in_set(domain, needle, args, negated)
}

/// `needle [NOT] IN (list)`, compared in `domain`.
fn in_set(domain: CmpDomain, needle: Expr, list: Vec<Expr>, negated: bool) -> Expr {
    let nullable = needle.nullable || list.iter().any(|e| e.nullable);
    truth(ExprKind::In { negated, domain, needle: Box::new(needle), list: list.into() }, nullable)
}

fn is_temporal(expr: &Expr) -> bool {
    matches!(class_of(expr), Class::DateTime | Class::Time)
}

/// Whether the needle and the items of an IN list are compared as times: texts and times of which one is
/// TIME, with no date in the list.
fn meets_in_time(needle: &Expr, list: &[Expr]) -> bool {
    let is_textual = |e: &Expr| is_text(e) || matches!(class_of(e), Class::Time | Class::Null);
    let is_time = |e: &Expr| class_of(e) == Class::Time;
    list.iter().all(is_textual)
        && (is_textual(needle) || class_of(needle) == Class::DateTime)
        && (is_time(needle) || list.iter().any(is_time))
}

/// How an item of an IN list meets the needle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mixing {
    /// NULL goes with any.
    None,
    Text,
    Exact,
    Double,
}

impl Mixing {
    fn of(needle: &Expr, item: &Expr) -> Self {
        let (left, right) = (class_of(needle), class_of(item));
        let is_time = |class: Class| matches!(class, Class::DateTime | Class::Time);
        let has_text = left == Class::Text || right == Class::Text || is_time(left) || is_time(right);
        let is_textual = |expr: &Expr, class: Class| is_text(expr) || is_time(class);
        match (left, right) {
            (Class::Null, _) | (_, Class::Null) => Mixing::None,
            // A hexadecimal literal is a number only among numbers.
            _ if has_text && is_textual(needle, left) && is_textual(item, right) => Mixing::Text,
            (Class::Int | Class::Decimal, Class::Int | Class::Decimal) => Mixing::Exact,
            _ => Mixing::Double,
        }
    }
}

fn is_number(expr: &Expr) -> bool {
    matches!(class_of(expr), Class::Int | Class::Decimal | Class::Double)
}

/// Whether `expr` is a column of an integer type; YEAR and BIT are none.
fn is_integer_column(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(_)) && expr.ty.is_integer()
}

/// Whether `expr` is a column whose values were rounded when they were stored. What is computed has the
/// length of every DOUBLE.
fn is_stored_with_digits(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(_))
        && expr.ty.kind == TypeKind::Double
        && expr.ty.length != SqlType::double().length
}

/// The number that a constant is.
fn constant_number(expr: &Expr) -> Option<f64> {
    let is_number = matches!(class_of(expr), Class::Int | Class::Decimal | Class::Double);
    match fold(expr.clone()).kind {
        ExprKind::Const(OwnedValue::Null) => None,
        ExprKind::Const(value) if is_number => Some(value.as_value().to_f64().value),
        _ => None,
    }
}

/// Whether `expr` is an integer that [`Builder::agree`] would leave as it is.
#[inline]
fn is_plain_integer(expr: &Expr) -> bool {
    expr.ty.is_integer() && !matches!(expr.kind, ExprKind::Const(_))
}
