//! CASE and its relatives: branches are made of one type here, so that evaluation only chooses.

use types::{CollationId, OwnedValue, SqlType, TypeKind};

use super::logic::truth;
use super::typing::{Class, class_of, decimal_digits, decimal_type, is_text};
use super::{BindError, Builder};
use crate::func::Func;
use crate::{CmpDomain, CmpOp, Expr, ExprKind};

impl Builder {
    /// `CASE [operand] WHEN .. THEN .. ELSE .. END`. With an operand, each condition is what it is compared
    /// with; it is computed once.
    pub fn case(
        &self,
        operand: Option<Expr>,
        arms: Vec<(Expr, Expr)>,
        otherwise: Option<Expr>,
    ) -> Result<Expr, BindError> {
        let results: Vec<&Expr> = arms.iter().map(|(_, result)| result).chain(otherwise.as_ref()).collect();
        let ty = self.common_type(&results, "case")?;
        let nullable = otherwise.is_none() || results.iter().any(|e| e.nullable);
        // Nothing equals a NULL that is written as such: MySQL does not check the operand for it.
        let is_compared = |when: &Expr| !matches!(when.kind, ExprKind::Const(OwnedValue::Null));
        let operand = operand.filter(|_| arms.iter().any(|(when, _)| is_compared(when)));
        let collation = match &operand {
            Some(operand) => self.arm_collation(operand, &arms)?,
            None => None,
        };
        let operand = operand.map(|operand| {
            let compared = arms.iter().map(|(when, _)| when).filter(|when| is_compared(when));
            self.number_for(operand, compared)
        });
        let computed = operand.clone().filter(|operand| !operand.is_trivial());
        let operand = computed.as_ref().map(Expr::held).or(operand);
        let arms = arms
            .into_iter()
            .map(|(mut condition, result)| {
                if operand.is_none() {
                    self.read_branches(&mut condition);
                }
                let condition = match &operand {
                    Some(operand) if is_compared(&condition) => {
                        self.arm(operand.clone(), condition, collation)?
                    }
                    _ => condition,
                };
                Ok((condition, self.case_result(result, &ty)))
            })
            .collect::<Result<Box<[_]>, BindError>>()?;
        let otherwise = otherwise.map(|e| Box::new(self.case_result(e, &ty)));
        let case = Expr { kind: ExprKind::Case { arms, otherwise }, ty, nullable };
        Ok(match computed {
            Some(operand) => case.holding(operand),
            None => case,
        })
    }

    /// The operand of CASE, read as a number if it is a text that is compared with numbers alone: that is
    /// done once a row.
    fn number_for<'a>(&self, mut operand: Expr, mut compared: impl Iterator<Item = &'a Expr>) -> Expr {
        let is_text = class_of(&operand) == Class::Text;
        if !is_text || compared.any(is_textual) {
            return operand;
        }
        self.read_branches(&mut operand);
        let nullable = operand.nullable;
        Expr::cast(operand, SqlType::double(), nullable)
    }

    /// Whether the operand of CASE, or of a list of rows, equals `when`. The operand decides whether texts
    /// are dates or times; constants are not converted, and an invalid date is no error.
    pub fn arm_condition(&self, operand: Expr, when: Expr) -> Result<Expr, BindError> {
        self.arm(operand, when, None)
    }

    /// The collation in which CASE compares its operand with texts: one for all of `arms`. `None`: it
    /// compares no texts.
    fn arm_collation(&self, operand: &Expr, arms: &[(Expr, Expr)]) -> Result<Option<CollationId>, BindError> {
        let whens = arms.iter().map(|(when, _)| when);
        if !is_textual(operand) || !whens.clone().any(is_textual) {
            return Ok(None);
        }
        let all: Vec<&Expr> = std::iter::once(operand).chain(whens).collect();
        self.common_collation(&all, "case").map(Some)
    }

    /// As [`Builder::arm_condition`]; `collation`: that of the comparison of two texts, if it is given.
    fn arm(&self, operand: Expr, when: Expr, collation: Option<CollationId>) -> Result<Expr, BindError> {
        let mut args = [operand, when];
        let domain = match (args.each_ref().map(is_textual), class_of(&args[0])) {
            ([true, true], Class::DateTime) => {
                self.drop_offset(&mut args[1]);
                CmpDomain::DateTime
            }
            ([true, true], Class::Time) => CmpDomain::Time,
            ([true, true], _) => match collation {
                Some(collation) => {
                    self.bring_to_charset(&mut args, collation);
                    CmpDomain::String(collation)
                }
                None => self.agree_in_text(&mut args, "case")?,
            },
            ([false, false], _) => {
                return self.compare_digits(CmpOp::Eq, args, false);
            }
            _ => {
                for arg in &mut args {
                    self.read_special_text(arg);
                }
                CmpDomain::Double
            }
        };
        let nullable = args.iter().any(|e| e.nullable);
        Ok(truth(ExprKind::Compare { op: CmpOp::Eq, domain, args: Box::new(args) }, nullable))
    }

    /// `expr` as a result of CASE: a decimal keeps its own fraction digits.
    fn case_result(&self, expr: Expr, ty: &SqlType) -> Expr {
        let is_text = is_text_type(ty);
        let (was_text, casts) = (expr.ty.is_string(), casts_around(&expr));
        let branch = if ty.kind == TypeKind::Decimal && expr.ty.kind != TypeKind::Null {
            let (whole, scale) = decimal_digits(&expr);
            self.branch(expr, &decimal_type(whole, u32::from(scale)))
        } else {
            self.branch(expr, ty)
        };
        let is_converted = if is_text { !was_text } else { casts_around(&branch) > casts };
        Self::noted_branch(branch, is_converted)
    }

    /// `expr` as a value of the common type `ty`.
    pub(crate) fn branch(&self, expr: Expr, ty: &SqlType) -> Expr {
        if ty.kind == TypeKind::Year && expr.ty.kind == TypeKind::Year {
            // A chosen year is a number: 0, where a column shows 0000.
            let nullable = expr.nullable;
            return Expr::cast(expr, SqlType::bigint_unsigned(), nullable);
        }
        if matches!(ty.kind, TypeKind::Enum | TypeKind::Set) {
            // A chosen member is a text, and a number what that reads; where CASE chooses it, its position.
            return self.text_of(expr);
        }
        if !ty.is_string() {
            return self.coerce(expr, ty);
        }
        let expr = if expr.ty.kind == TypeKind::Bit { self.text_of(expr) } else { expr };
        let expr = self.in_charset(expr, ty.collation);
        self.coerce(expr, ty)
    }

    /// IF(condition, a, b).
    pub(super) fn if_call(&self, mut args: Vec<Expr>) -> Result<Expr, BindError> {
        let otherwise = args.pop();
        let result = args.pop();
        let condition = args.pop();
        match (condition, result) {
            (Some(condition), Some(result)) => self.case(None, vec![(condition, result)], otherwise),
            _ => Err(BindError::ParameterCount { name: "IF".into() }),
        }
    }

    /// COALESCE and IFNULL.
    pub(super) fn coalesce(&self, func: Func, args: Vec<Expr>) -> Result<Expr, BindError> {
        let ty = self.common_type(&args.iter().collect::<Vec<_>>(), func.name())?;
        let nullable = args.iter().all(|e| e.nullable);
        let args = args.into_iter().map(|e| self.chosen(e, &ty)).collect();
        Ok(Expr { kind: ExprKind::Call { func, args }, ty, nullable })
    }

    /// As [`Builder::branch`], for functions that MySQL computes: their bits are a number, which clients see
    /// as digits.
    fn chosen(&self, expr: Expr, ty: &SqlType) -> Expr {
        if ty.kind == TypeKind::Bit && expr.ty.kind == TypeKind::Bit {
            let nullable = expr.nullable;
            return Expr::cast(expr, SqlType::bigint_unsigned(), nullable);
        }
        self.branch(expr, ty)
    }

    /// NULLIF(a, b): `CASE WHEN a = b THEN NULL ELSE a END`.
    pub(super) fn nullif(&self, a: Expr, b: Expr) -> Result<Expr, BindError> {
        // What is kept warns once, however often it is used.
        let is_kept = matches!(a.kind, ExprKind::Call { func: Func::KeptValue, .. });
        let computed = (is_kept || !a.is_small()).then(|| a.held());
        let shown = computed.as_ref().unwrap_or(&a);
        let column = matches!(b.kind, ExprKind::Column(_)).then(|| b.ty.clone());
        let equal = self.compare(CmpOp::Eq, shown.clone(), b).map_err(|error| match error {
            BindError::IllegalMix { left, right, .. } => {
                BindError::IllegalMix { left, right, operation: "nullif".to_owned() }
            }
            other => other,
        })?;
        let stored = column.and_then(|column| self.stored_operand(&column, &a, &equal));
        let stored = stored.or_else(|| shared_text(&a, &equal));
        let shown = stored.as_ref().unwrap_or(shown);
        let result = self.case(None, vec![(equal, self.null())], Some(shown.clone()))?;
        let mut result = Expr { nullable: true, ..result };
        result.ty.unsigned |= shown.ty.kind == TypeKind::Decimal && shown.ty.unsigned;
        Ok(if computed.is_some() { result.holding(a) } else { result })
    }

    /// The constant `a` of NULLIF beside a column of times, years, or, if it is a number, dates: what the
    /// column stores, as `equal` compares it.
    fn stored_operand(&self, column: &SqlType, a: &Expr, equal: &Expr) -> Option<Expr> {
        let ExprKind::Compare { args, .. } = &equal.kind else { return None };
        let ExprKind::Const(value) = &args[0].kind else { return None };
        match (column.kind, value) {
            (TypeKind::Time, OwnedValue::Time(time, _)) => Some(self.time(*time, column.decimals)),
            (TypeKind::Date, OwnedValue::DateTime(moment, _)) if class_of(a) == Class::Int => {
                Some(self.date(moment.date()))
            }
            (TypeKind::Year, OwnedValue::Int(year)) if !a.ty.is_temporal() => {
                let year = u16::try_from(*year).ok()?;
                Some(Expr::constant(OwnedValue::Year(year), column.clone()))
            }
            _ => None,
        }
    }

    /// GREATEST and LEAST: operands in the domain in which they are compared.
    pub(super) fn extreme(&self, func: Func, mut args: Vec<Expr>) -> Result<Expr, BindError> {
        let operation = func.name();
        let is_date = |e: &Expr| class_of(e) == Class::DateTime;
        let is_value = |e: &Expr| !matches!(class_of(e), Class::DateTime | Class::Time | Class::Null);
        let nullable = args.iter().any(|e| e.nullable);
        if args.iter().any(is_date) && args.iter().any(is_value) {
            // Beside a date numbers and texts are dates; the answer is a text.
            let dates: Vec<&Expr> = args.iter().filter(|e| is_date(e)).collect();
            let ty = self.common_type(&dates, operation)?;
            let text = self.common_type(&args.iter().collect::<Vec<_>>(), operation)?;
            if ty.kind != TypeKind::Date && text.is_string() {
                let of_moments =
                    if func == Func::Greatest { Func::GreatestMoment } else { Func::LeastMoment };
                let kind = ExprKind::Call { func: of_moments, args: args.into() };
                return Ok(Expr { kind, ty: text, nullable });
            }
            let kind = ExprKind::Call { func, args: args.into() };
            let date = Expr { kind, ty, nullable };
            return Ok(if text.is_string() {
                Self::noted_branch(Expr::cast(date, text, nullable), true)
            } else {
                self.text_of(date)
            });
        }
        let ty = self.common_type(&args.iter().collect::<Vec<_>>(), operation)?;
        if ty.kind == TypeKind::Null {
            return Ok(self.null());
        }
        // Beside times, members of ENUM and SET have the numbers of their own.
        let has_time = ty.is_string() && args.iter().any(|e| class_of(e) == Class::Time);
        let chosen = |e: Expr| {
            let is_own = class_of(&e) == Class::Time || matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set);
            Self::noted_branch(self.chosen(e, &ty), has_time && is_own)
        };
        args = args.into_iter().map(chosen).collect();
        Ok(Expr { kind: ExprKind::Call { func, args: args.into() }, ty, nullable })
    }
}

/// The constant text `a` of NULLIF in the character set that `equal` compares it in, if that is another.
fn shared_text(a: &Expr, equal: &Expr) -> Option<Expr> {
    let ExprKind::Compare { args, .. } = &equal.kind else { return None };
    let is_text = |e: &Expr| matches!(e.kind, ExprKind::Const(OwnedValue::Bytes { .. }));
    let is_shared = is_text(a) && is_text(&args[0]) && a.ty.charset() != args[0].ty.charset();
    is_shared.then(|| args[0].clone())
}

/// How many conversions `expr` is one of another of.
fn casts_around(expr: &Expr) -> usize {
    let mut casts = 0;
    let mut within = expr;
    while let ExprKind::Cast { arg, .. } = &within.kind {
        (casts, within) = (casts + 1, arg);
    }
    casts
}

/// Whether results of type `ty` are texts; those of ENUM and SET are.
pub(super) fn is_text_type(ty: &SqlType) -> bool {
    ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set)
}

/// Whether CASE compares `expr` as a text or a date; a hexadecimal literal is a text.
pub(super) fn is_textual(expr: &Expr) -> bool {
    is_text(expr) || matches!(class_of(expr), Class::DateTime | Class::Time)
}
