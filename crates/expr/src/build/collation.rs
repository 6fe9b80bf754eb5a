//! Which collation operands share.

use types::collation::{Charset, Collation, Conversion, convert};
use types::{CollationId, OwnedValue, TypeKind};

use super::kept_constant::varies;
use super::typing::{Class, charset_of, class_of, is_text};
use super::{BindError, Builder, string_type};
use crate::coercibility::{Coercibility, coercibility};
use crate::fold::fold;
use crate::func::Func;
use crate::{Expr, ExprKind};

/// One side while collations are combined.
#[derive(Clone, Copy)]
struct Side<'e> {
    collation: CollationId,
    strength: Coercibility,
    /// The operands that the side stands for.
    operands: &'e [&'e Expr],
}

impl Side<'_> {
    fn charset(&self) -> Charset {
        charset_of(self.collation)
    }

    /// Whether all of the operands' text has a place in `charset`.
    fn fits(&self, charset: Charset) -> bool {
        charset == Charset::Utf8mb4 || self.operands.iter().all(|e| fits(e, charset))
    }

    /// Whether the side is to be converted for `stronger`, which fails for characters that its set lacks.
    /// Where two values are compared, columns give way to nothing.
    fn gives_way_to(&self, stronger: &Side<'_>, converts: Converts) -> bool {
        self.strength > stronger.strength
            && (converts == Converts::All
                || self.strength >= Coercibility::SystemConstant
                || self.operands.iter().all(|e| is_given(e)))
    }

    fn describe(&self) -> String {
        let name = self.collation.collation().map_or("binary", |c| c.name);
        format!("{name},{}", self.strength)
    }
}

/// Which operands an operation converts to the character set of a stronger one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Converts {
    /// All of them.
    All,
    /// No columns.
    Weak,
}

impl Converts {
    fn of(operation: &str) -> Self {
        let converts_all = matches!(
            operation,
            "concat"
                | "concat_ws"
                | "elt"
                | "make_set"
                | "export_set"
                | "find_in_set"
                | "like"
                | " IN "
                | "between"
                | "case"
                | "coalesce"
                | "ifnull"
                | "least"
                | "greatest"
        );
        if converts_all { Converts::All } else { Converts::Weak }
    }
}

/// Whether the operand, if it is text, is sure to have a place in `charset`: constants are checked.
fn fits(expr: &Expr, charset: Charset) -> bool {
    let from = expr.ty.charset();
    if coercibility(expr) >= Coercibility::Numeric || from == charset || from == Charset::Ascii {
        return true;
    }
    if !is_given(expr) {
        return is_ascii(expr);
    }
    match fold(expr.clone()).kind {
        ExprKind::Const(OwnedValue::Bytes { data, .. }) => {
            convert(from, charset, &data, &mut Vec::new()) == Conversion::Exact
        }
        // Values from the session, and literals lifted out of the text, are checked when they are converted.
        _ => true,
    }
}

/// Whether the statement gives the value of `expr`, as far as its character set is asked for.
fn is_given(expr: &Expr) -> bool {
    let mut is_given = true;
    expr.walk(&mut |e| {
        is_given &= !matches!(
            e.kind,
            ExprKind::Column(_)
                | ExprKind::Subquery { .. }
                | ExprKind::UserVar(_)
                | ExprKind::Held { shown: None, .. }
        );
    });
    is_given
}

/// Whether `expr` is sure to be text of ASCII: numbers and dates, and what functions make of these and of
/// such text.
fn is_ascii(expr: &Expr) -> bool {
    if coercibility(expr) >= Coercibility::Numeric || expr.ty.charset() == Charset::Ascii {
        return true;
    }
    match &expr.kind {
        ExprKind::Const(OwnedValue::Bytes { data, .. }) => data.is_ascii(),
        ExprKind::Call { func, args } => match func {
            Func::Char | Func::ConvertUsing | Func::Collate => false,
            Func::FromBase64 | Func::Unhex | Func::UuidToBin => false,
            _ => func.makes_own_text() || args.iter().all(is_ascii),
        },
        ExprKind::Case { arms, otherwise } => {
            arms.iter().map(|(_, result)| result).chain(otherwise.as_deref()).all(is_ascii)
        }
        _ => false,
    }
}

impl Builder {
    /// The collation of the operands' common comparison. `operation`: for the error's text.
    pub(crate) fn common_collation(&self, args: &[&Expr], operation: &str) -> Result<CollationId, BindError> {
        let common = self.combine(args, operation)?;
        if common.strength == Coercibility::NoCollation {
            return Err(self.illegal_mix(args, operation));
        }
        Ok(common.collation)
    }

    /// The collation of a text made of the operands.
    pub(crate) fn result_collation(&self, args: &[&Expr], operation: &str) -> Result<CollationId, BindError> {
        Ok(self.combine(args, operation)?.collation)
    }

    fn combine<'e>(&self, args: &'e [&'e Expr], operation: &str) -> Result<Side<'e>, BindError> {
        let mut common: Option<Side<'e>> = None;
        for (at, expr) in args.iter().enumerate() {
            let strength = coercibility(expr);
            // STRCMP passes over numbers in variables, too.
            let is_passed_over = operation == "strcmp" && !is_text(expr) && expr.ty.kind != TypeKind::Bit;
            if strength >= Coercibility::Numeric || is_passed_over {
                continue;
            }
            let side = Side { collation: self.held_collation(expr), strength, operands: &args[at..=at] };
            let winner = match common {
                None => side,
                Some(left) => stronger(left, side, Converts::of(operation))
                    .ok_or_else(|| self.illegal_mix(args, operation))?,
            };
            common = Some(Side { operands: &args[..=at], ..winner });
        }
        // Of NULL alone MySQL makes bytes.
        let has_type = args.is_empty() || args.iter().any(|e| e.ty.kind != TypeKind::Null);
        Ok(common.unwrap_or(Side {
            collation: if has_type { self.collation } else { CollationId::BINARY },
            strength: Coercibility::Coercible,
            operands: &[],
        }))
    }

    /// The collation of `expr` as text.
    fn held_collation(&self, expr: &Expr) -> CollationId {
        match expr.ty.kind {
            TypeKind::Bit => CollationId::BINARY,
            _ if is_text(expr) => expr.ty.collation,
            _ => self.collation,
        }
    }

    #[cold]
    fn illegal_mix(&self, args: &[&Expr], operation: &str) -> BindError {
        let operation = operation.to_owned();
        let side = |expr: &Expr| match coercibility(expr) {
            Coercibility::Numeric => "latin1_swedish_ci,NUMERIC".to_owned(),
            Coercibility::Ignorable => "binary,NULL".to_owned(),
            strength => Side { collation: self.held_collation(expr), strength, operands: &[] }.describe(),
        };
        match args {
            [left, right] => BindError::IllegalMix { left: side(left), right: side(right), operation },
            [a, b, c] => BindError::IllegalMixOfThree {
                sides: format!("({}), ({}), ({})", side(a), side(b), side(c)),
                operation,
            },
            _ => BindError::IllegalMixOfMany { operation },
        }
    }

    /// `expr` as text of the character set of `collation`: constants are converted now, others when
    /// evaluated.
    pub fn in_charset(&self, expr: Expr, collation: CollationId) -> Expr {
        let (from, to) = (expr.ty.charset(), charset_of(collation));
        let is_constant = matches!(expr.kind, ExprKind::Const(_));
        // Text of utf8mb3 is text of utf8mb4 as it is.
        let is_subset = (from, to) == (Charset::Utf8mb3, Charset::Utf8mb4) && !is_constant;
        if !is_text(&expr) || from == to || to == Charset::Binary || is_subset {
            return expr;
        }
        if let ExprKind::Const(OwnedValue::Bytes { data, .. }) = &expr.kind
            && (from != Charset::Binary || to.first_invalid(data).is_none())
        {
            let mut text = Vec::with_capacity(data.len());
            if convert(from, to, data, &mut text) == Conversion::Exact {
                return self.string(&text, collation);
            }
        }
        let (ty, nullable) = (string_type(super::shown_chars(&expr.ty), collation), expr.nullable);
        Expr { kind: ExprKind::Call { func: Func::ShareCharset, args: Box::new([expr]) }, ty, nullable }
    }

    /// Has constant texts share the character set of texts that vary, where dates are compared with both:
    /// MySQL refuses those that have no place in it.
    pub(super) fn share_among_dates(&self, args: &mut [Expr], operation: &str) {
        let is_date = |e: &Expr| matches!(class_of(e), Class::DateTime | Class::Time);
        let is_varying_text = |e: &Expr| is_text(e) && varies(e);
        if !args.iter().any(is_date)
            || !args.iter().any(is_varying_text)
            || !args.iter().all(|e| is_text(e) || is_date(e))
        {
            return;
        }
        let Ok(collation) = self.common_collation(&args.iter().collect::<Vec<_>>(), operation) else {
            return;
        };
        let is_written = |e: &Expr| {
            matches!(e.kind, ExprKind::Const(OwnedValue::Bytes { .. })) && e.ty.charset() != Charset::Binary
        };
        for arg in args.iter_mut().filter(|e| is_written(e)) {
            let shared = self.in_charset(arg.clone(), collation);
            if !matches!(shared.kind, ExprKind::Const(_)) {
                *arg = shared;
            }
        }
    }

    /// `expr COLLATE name`.
    pub fn collate(&self, expr: Expr, name: &str) -> Result<Expr, BindError> {
        let found = find_collation(name)?;
        let expr = if is_text(&expr) { expr } else { self.text_of(expr) };
        let is_null = expr.ty.kind == TypeKind::Null;
        let charset = if is_null { Charset::Binary } else { expr.ty.charset() };
        if charset != found.charset {
            return Err(BindError::CollationCharset { collation: found.name, charset: charset.name() });
        }
        let ty = string_type(super::shown_chars(&expr.ty), found.id);
        let nullable = expr.nullable || self.modes.is_strict();
        Ok(Expr { kind: ExprKind::Call { func: Func::Collate, args: Box::new([expr]) }, ty, nullable })
    }

    /// `CONVERT(expr USING charset)`.
    pub fn convert_using(&self, expr: Expr, charset: &str) -> Result<Expr, BindError> {
        let collation = find_charset(charset)?.default_collation();
        let to_bytes = collation == CollationId::BINARY;
        let length = if to_bytes { super::kept_bytes(&expr.ty) } else { super::shown_chars(&expr.ty) };
        let ty = string_type(length, collation);
        let nullable = expr.nullable || self.modes.is_strict();
        Ok(Expr { kind: ExprKind::Call { func: Func::ConvertUsing, args: Box::new([expr]) }, ty, nullable })
    }
}

/// The character set that an expression names.
pub(super) fn find_charset(name: &str) -> Result<Charset, BindError> {
    Charset::find(name).ok_or_else(|| BindError::UnknownCharset { name: name.into() })
}

fn find_collation(name: &str) -> Result<&'static Collation, BindError> {
    Collation::find(name).ok_or_else(|| BindError::UnknownCollation { name: name.into() })
}

/// The side whose collation holds for both; `None` if neither's can.
fn stronger<'e>(a: Side<'e>, b: Side<'e>, converts: Converts) -> Option<Side<'e>> {
    let strength = a.strength.min(b.strength);
    let wins = |side: Side<'e>| Some(Side { strength, ..side });
    if a.collation == b.collation {
        return wins(a);
    }
    if a.collation == CollationId::BINARY || b.collation == CollationId::BINARY {
        let binary_wins_tie = if a.collation == CollationId::BINARY { a } else { b };
        return wins(match a.strength.cmp(&b.strength) {
            std::cmp::Ordering::Less => a,
            std::cmp::Ordering::Greater => b,
            std::cmp::Ordering::Equal => binary_wins_tie,
        });
    }
    if a.charset() != b.charset() {
        return across_charsets(a, b, converts).and_then(wins);
    }
    if a.strength != b.strength {
        return wins(if a.strength < b.strength { a } else { b });
    }
    if strength == Coercibility::Explicit {
        return None;
    }
    let binary = a.charset().binary_collation();
    if a.collation == binary || b.collation == binary {
        return wins(if a.collation == binary { a } else { b });
    }
    Some(Side { collation: binary, strength: Coercibility::NoCollation, operands: a.operands })
}

/// Which of two character sets takes in the texts of the other, if both sides are equally strong.
fn reach(charset: Charset) -> u8 {
    match charset {
        Charset::Utf8mb4 => 3,
        Charset::Utf8mb3 => 2,
        Charset::Ascii => 0,
        _ => 1,
    }
}

/// As [`stronger`] for different character sets: text goes where it fits, to the stronger side first.
fn across_charsets<'e>(a: Side<'e>, b: Side<'e>, converts: Converts) -> Option<Side<'e>> {
    if a.strength.max(b.strength) == Coercibility::Explicit {
        return None;
    }
    let is_constant = |side: Side<'_>| side.operands.iter().all(|e| is_given(e));
    // MySQL converts a constant on the right before it compares.
    if converts == Converts::Weak && is_constant(b) && !is_constant(a) && b.fits(a.charset()) {
        return Some(a);
    }
    let rank = |side: &Side<'_>| (side.strength, std::cmp::Reverse(reach(side.charset())));
    let (first, second) = if rank(&b) < rank(&a) { (b, a) } else { (a, b) };
    if second.fits(first.charset()) || second.gives_way_to(&first, converts) {
        Some(first)
    } else if first.strength == second.strength && first.fits(second.charset()) {
        Some(second)
    } else {
        None
    }
}
