//! The domain in which operands are compared, and their conversion to it.

use types::temporal::{FSP_MAX, OddDelimiter};
use types::{CollationId, DateTime, OwnedValue, Time, TypeKind};

use super::in_list::bits_as_text;
use super::kept_constant::is_constant;
use super::literal::datetime_type;
use super::stored_year::stored_year;
use super::typing::{Class, class_of, is_number, is_text};
use super::{BindError, Builder, ComparedRows};
use crate::compare::exact_integer;
use crate::fold::fold;
use crate::func::Func;
use crate::{CmpDomain, Expr, ExprKind};

impl Builder {
    /// The domain in which all of `args` are compared. Constants are converted to it and strings to its
    /// character set.
    pub(crate) fn agree(&self, args: &mut [Expr], operation: &str) -> Result<CmpDomain, BindError> {
        let is_direct = args.len() == 2;
        self.agree_among(args, operation, is_direct)
    }

    /// As [`Builder::agree`]; `is_direct`: of two operands that are compared with each other alone.
    pub(super) fn agree_among(
        &self,
        args: &mut [Expr],
        operation: &str,
        is_direct: bool,
    ) -> Result<CmpDomain, BindError> {
        self.adopt_integer_constants(args, operation == " IN " || self.rows != ComparedRows::None);
        let has_year = args.iter().any(|e| e.ty.kind == TypeKind::Year);
        if let ([a, b], true) = (&mut *args, is_direct && has_year) {
            *a = self.beside_date(std::mem::replace(a, self.null()), b)?;
            *b = self.beside_date(std::mem::replace(b, self.null()), a)?;
        }
        let domain = self.domain(args, operation)?;
        match domain {
            CmpDomain::String(collation) => self.bring_to_charset(args, collation),
            CmpDomain::DateTime | CmpDomain::Time => {
                return self.agree_in_time(args, domain, (operation, is_direct));
            }
            _ => {}
        }
        Ok(domain)
    }

    /// The domain in which all of `args` are compared as texts, whatever they are.
    pub(crate) fn agree_in_text(&self, args: &mut [Expr], operation: &str) -> Result<CmpDomain, BindError> {
        let domain = self.string_domain(args, operation)?;
        if let CmpDomain::String(collation) = domain {
            self.bring_to_charset(args, collation);
        }
        Ok(domain)
    }

    /// Makes texts among `args` ones of the character set of `collation`.
    pub(super) fn bring_to_charset(&self, args: &mut [Expr], collation: CollationId) {
        for arg in args {
            let text = std::mem::replace(arg, self.null());
            *arg = self.in_charset(text, collation);
        }
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

    /// Turns constants among `args` to dates or times. An invalid date is refused beside one date; beside one
    /// time the comparison is one of text; in longer lists it counts as zero. A number that is no date stays
    /// a number.
    pub(super) fn agree_in_time(
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
        if domain == CmpDomain::Time && operation == "between" && self.has_no_time(&args[1..]) {
            return self.string_domain(args, operation);
        }
        let mut has_number = false;
        for arg in &mut adopted {
            let Err(value) = self.adopt_temporal_constant(arg, domain) else {
                if is_direct && domain == CmpDomain::DateTime && is_odd_text(arg) {
                    // Of two operands MySQL converts such a constant once.
                    let moment = Expr::cast(arg.clone(), datetime_type(FSP_MAX), true);
                    *arg = self.kept_value(moment);
                }
                continue;
            };
            if is_number(arg) && !is_text(arg) && (is_direct || operation == "between") {
                has_number = true;
                continue;
            }
            match domain {
                CmpDomain::Time if is_direct => return self.string_domain(args, operation),
                CmpDomain::Time => *arg = self.time(Time::ZERO, FSP_MAX),
                _ if is_direct => return Err(BindError::IncorrectTemporal { type_name, value }),
                // It counts as the zero date, with a warning of every evaluation.
                _ if operation == "between" => *arg = bits_as_text(std::mem::replace(arg, self.null())),
                _ => *arg = self.datetime(DateTime::ZERO, FSP_MAX),
            }
        }
        // What is compared with several values is not stored.
        if (is_direct || operation == "between") && operation != " IN " && self.rows == ComparedRows::None {
            self.store_beside_column(args, &mut adopted, domain);
        }
        args.clone_from_slice(&adopted);
        Ok(if has_number { CmpDomain::Double } else { domain })
    }

    /// Whether `bounds` are constant texts of which none is a time.
    fn has_no_time(&self, bounds: &[Expr]) -> bool {
        let is_no_time = |bound: &Expr| {
            is_text(bound) && self.adopt_temporal_constant(&mut bound.clone(), CmpDomain::Time).is_err()
        };
        bounds.iter().all(is_no_time)
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
        // A client's number beside a date or time is no literal: it has become a date before if it is one.
        let takes_params = !self.has_client_params || operation == " IN ";
        let is_given = |e: &Expr| {
            matches!(e.kind, ExprKind::Param(_) if takes_params || !is_number(e))
                || matches!(fold(e.clone()).kind, ExprKind::Const(_))
        };
        if has(Class::DateTime) {
            let numbers_are_dates = args.iter().all(|e| !is_number(e) || is_text(e))
                || (self.rows != ComparedRows::Order
                    && takes_numbers(args, operation)
                    && args.iter().all(|e| !is_number(e) || is_given(e)));
            return Ok(if numbers_are_dates { CmpDomain::DateTime } else { CmpDomain::Double });
        }
        if has(Class::Time) {
            // A constant is turned to the type of a column, in BETWEEN of the first operand; a text beside
            // another time is compared as text.
            let is_taking = |e: &Expr| class_of(e) == Class::Time && matches!(e.kind, ExprKind::Column(_));
            let taking = if operation == "between" { &args[..1] } else { args };
            let takes_constants = !text || (self.rows != ComparedRows::Order && taking.iter().any(is_taking));
            let only_time = args.iter().all(|e| {
                matches!(class_of(e), Class::Time | Class::Null) || (takes_constants && is_given(e))
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

/// Whether `expr` is a constant text with a delimiter that MySQL deprecates in dates.
fn is_odd_text(expr: &Expr) -> bool {
    if !is_text(expr) || !is_constant(expr) {
        return false;
    }
    let folded = fold(expr.clone());
    let ExprKind::Const(OwnedValue::Bytes { data, .. }) = &folded.kind else { return false };
    OddDelimiter::of_date(data).is_some()
}

/// Whether `expr` is a column of an integer type; YEAR and BIT are none.
fn is_integer_column(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(_)) && expr.ty.is_integer()
}
