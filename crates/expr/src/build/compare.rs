//! Comparisons, BETWEEN, IN and LIKE: choice of the domain, conversion of constants to it.

use std::sync::Arc;

use types::collation::LikePattern;
use types::temporal::{DateFlags, MAX_FSP};
use types::value::Loss;
use types::{Date, DateTime, OwnedValue, Time, TypeKind};

use super::logic::truth;
use super::typing::{Class, class_of, is_text};
use super::{BindError, Builder};
use crate::compare::exact_integer;
use crate::fold::fold;
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
        let mut args = [a, b];
        let domain = self.agree(&mut args, op.symbol())?;
        let nullable = op != CmpOp::NullSafeEq && args.iter().any(|e| e.nullable);
        Ok(truth(ExprKind::Compare { op, domain, args: Box::new(args) }, nullable))
    }

    /// `value [NOT] BETWEEN low AND high`.
    pub fn between(&self, value: Expr, low: Expr, high: Expr, negated: bool) -> Result<Expr, BindError> {
        let mut args = [value, low, high];
        let domain = self.agree(&mut args, "between")?;
        let nullable = args.iter().any(|e| e.nullable);
        Ok(truth(ExprKind::Between { negated, domain, args: Box::new(args) }, nullable))
    }

    /// `needle [NOT] IN (list)`. Without dates each item is compared as `needle = item` is, so that a list of mixed
    /// types is one IN for each domain.
    pub fn in_list(&self, needle: Expr, list: Vec<Expr>, negated: bool) -> Result<Expr, BindError> {
        let is_time = |e: &Expr| matches!(class_of(e), Class::DateTime | Class::Time);
        if is_time(&needle) || list.iter().any(is_time) {
            return self.in_uniform_list(needle, list, negated);
        }
        let mut groups: Vec<(Mixing, Vec<Expr>)> = Vec::new();
        for item in list {
            let mixing = Mixing::of(&needle, &item);
            match groups.iter_mut().find(|(known, _)| *known == mixing || mixing == Mixing::None) {
                Some((_, items)) => items.push(item),
                None => groups.push((mixing, vec![item])),
            }
        }
        if let [(_, items)] = &mut groups[..] {
            return self.in_uniform_list(needle, std::mem::take(items), negated);
        }
        let shown = if needle.is_at_hand() { needle.clone() } else { needle.held() };
        let parts = groups.into_iter().map(|(_, items)| self.in_uniform_list(shown.clone(), items, negated));
        let parts = parts.collect::<Result<Vec<Expr>, BindError>>()?;
        let whole = if negated { self.and(parts) } else { self.or(parts) };
        Ok(if needle.is_at_hand() { whole } else { whole.holding(needle) })
    }

    fn in_uniform_list(&self, needle: Expr, list: Vec<Expr>, negated: bool) -> Result<Expr, BindError> {
        let mut args = Vec::with_capacity(list.len() + 1);
        args.push(needle);
        args.extend(list);
        let domain = self.agree(&mut args, " IN ")?;
        let nullable = args.iter().any(|e| e.nullable);
        let needle = Box::new(args.remove(0));
        Ok(truth(ExprKind::In { negated, domain, needle, list: args.into() }, nullable))
    }

    /// `text [NOT] LIKE pattern ESCAPE escape`; `None` for `ESCAPE ''`, backslash is the default. A constant pattern is
    /// compiled here.
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

    /// The domain in which all of `args` are compared. Constants are converted to it and strings to its character set.
    pub(crate) fn agree(&self, args: &mut [Expr], operation: &str) -> Result<CmpDomain, BindError> {
        self.adopt_integer_constants(args);
        let domain = self.domain(args, operation)?;
        match domain {
            CmpDomain::String(collation) => {
                for arg in args.iter_mut() {
                    let text = std::mem::replace(arg, self.null());
                    *arg = self.in_charset(text, collation);
                }
            }
            CmpDomain::DateTime | CmpDomain::Time => return self.agree_in_time(args, domain, operation),
            _ => {}
        }
        Ok(domain)
    }

    /// Turns constants among `args` to dates or times. What is none is refused beside one date; beside one time the
    /// comparison is one of text; in BETWEEN and longer lists it counts as zero. A number that is none stays a number.
    fn agree_in_time(
        &self,
        args: &mut [Expr],
        domain: CmpDomain,
        operation: &str,
    ) -> Result<CmpDomain, BindError> {
        let has = |kind: TypeKind| args.iter().any(|e| e.ty.kind == kind);
        let type_name = match domain {
            _ if has(TypeKind::Timestamp) => "TIMESTAMP",
            _ if has(TypeKind::DateTime) => "DATETIME",
            _ => "DATE",
        };
        let is_direct = args.len() == 2;
        let mut adopted = args.to_vec();
        for arg in &mut adopted {
            let Err(value) = self.adopt_temporal_constant(arg, domain) else { continue };
            if is_number(arg) && (is_direct || operation == "between") {
                return Ok(CmpDomain::Double);
            }
            match domain {
                CmpDomain::Time if is_direct => return self.string_domain(args, operation),
                CmpDomain::Time => *arg = self.time(Time::ZERO, MAX_FSP),
                _ if is_direct => return Err(BindError::IncorrectTemporal { type_name, value }),
                _ => *arg = self.datetime(DateTime::ZERO, MAX_FSP),
            }
        }
        args.clone_from_slice(&adopted);
        Ok(domain)
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
            let numbers_are_constant = args
                .iter()
                .all(|e| !is_number(e) || matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_)));
            return Ok(if numbers_are_constant { CmpDomain::DateTime } else { CmpDomain::Double });
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

    /// Beside integer columns, a string constant that is just an integer is that integer: so that `id = '5'` is an
    /// exact comparison that an index can serve. A YEAR column reads one or two digits as a year.
    fn adopt_integer_constants(&self, args: &mut [Expr]) {
        let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(_)) && class_of(e) == Class::Int;
        if !args.iter().any(is_column) {
            return;
        }
        let is_year = |e: &Expr| is_column(e) && e.ty.kind == TypeKind::Year;
        // Of BETWEEN and of a list only the first operand decides.
        let year = is_year(&args[0]) || (args.len() == 2 && is_year(&args[1]));
        let is_short = args.len() <= 3;
        for arg in args.iter_mut() {
            if year && is_short {
                let folded = fold(arg.clone());
                if let Some(number) = short_year(&folded) {
                    *arg = self.int(number);
                }
            }
            let ExprKind::Const(value) = &arg.kind else { continue };
            let Some(number) = exact_integer(&value.as_value()) else { continue };
            match number {
                0..=69 if year && !is_zero_number(value) => *arg = self.int(number as i64 + 2000),
                70..=99 if year => *arg = self.int(number as i64 + 1900),
                _ if class_of(arg) != Class::Text => {}
                _ => {
                    *arg = i64::try_from(number).map_or_else(|_| self.uint(number as u64), |v| self.int(v));
                }
            }
        }
    }

    /// Makes a constant the date or time that it stands for; the error is the text of one that stands for none.
    fn adopt_temporal_constant(&self, arg: &mut Expr, domain: CmpDomain) -> Result<(), String> {
        let folded = fold(arg.clone());
        let ExprKind::Const(value) = &folded.kind else { return Ok(()) };
        let value = value.as_value();
        if value.is_null() || value.is_temporal() {
            return Ok(());
        }
        if domain == CmpDomain::Time {
            let read = value.to_time().ok_or_else(|| value.message_text())?;
            *arg = self.time(read.value, MAX_FSP);
            return Ok(());
        }
        match value.to_datetime(DateFlags::from_modes(self.modes), Date::ZERO) {
            Some(read) if read.loss == Loss::None => *arg = self.datetime(read.value, MAX_FSP),
            // What follows the date is a warning of every evaluation.
            Some(_) => {}
            None => return Err(value.message_text()),
        }
        Ok(())
    }
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
        let has_text = left == Class::Text || right == Class::Text;
        match (left, right) {
            (Class::Null, _) | (_, Class::Null) => Mixing::None,
            // A hexadecimal literal is a number only among numbers.
            _ if has_text && is_text(needle) && is_text(item) => Mixing::Text,
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

fn is_zero_number(value: &OwnedValue) -> bool {
    matches!(value, OwnedValue::Int(0) | OwnedValue::UInt(0))
}

/// A constant number with a fraction, or the result of a calculation, that stands for a year of its century.
fn short_year(folded: &Expr) -> Option<i64> {
    let ExprKind::Const(value) = &folded.kind else { return None };
    let number = value.as_value().to_i64().value;
    (is_number(folded) && (0..100).contains(&number)).then_some(number)
}
