//! Constant arguments that MySQL reads before any row: the counts and places of functions of texts, the
//! length of SHA2, the locale of FORMAT. What they warn of is said then, and again when they are read for a
//! row.

use expr::build::CastTo;
use expr::{Expr, ExprKind, Func, Warning};
use types::{Locale, OwnedValue, TypeKind};

use super::binder::Binder;
use super::text_param::TextUse;
use super::{BindError, Deprecated};
use crate::ast;
use crate::charset::Introducer;
use crate::literal::LiteralKind;

/// The arguments of `func` that are counts or places which MySQL reads at once, if they are constants.
fn counts_of(func: Func) -> &'static [usize] {
    match func {
        Func::Left | Func::Right | Func::Repeat | Func::LPad | Func::RPad => &[1],
        Func::Substring => &[1, 2],
        Func::Space => &[0],
        Func::Sha2 => &[1],
        _ => &[],
    }
}

/// Whether the number of digits decides the type of a rounded number: only that of a DECIMAL has them.
fn keeps_digits(args: &[Expr]) -> bool {
    args.len() == 2 && args[0].ty.kind == TypeKind::Decimal
}

impl<'a> Binder<'a, '_> {
    /// Notes what the constant arguments of a call of the function `name` warn of.
    pub(super) fn note_counts(
        &mut self,
        name: &str,
        args: &mut [Expr],
        written: &'a [ast::Expr<'a>],
    ) -> Result<(), BindError> {
        let Some(func) = Func::find(name) else { return Ok(()) };
        let mut counts = counts_of(func);
        if matches!(func, Func::Round | Func::Truncate) && keeps_digits(args) {
            counts = &[1];
        }
        let is_null = |arg: &Expr| matches!(arg.kind, ExprKind::Const(OwnedValue::Null));
        if func == Func::Substring && args.get(1).is_some_and(is_null) {
            counts = &[];
        }
        for &at in counts {
            if let Some(arg) = args.get_mut(at) {
                self.note_count(arg, &written[at])?;
            }
        }
        match (func, &mut *args) {
            // Its operands are a row.
            (Func::Interval, _) => self.note_row(written)?,
            (Func::StrToDate, _) => self.note_operand(&written[1])?,
            // The digits of a text are those of the result, that of the last operand first.
            (
                Func::Timestamp | Func::TimeOf | Func::TimeDiff | Func::ConvertTz | Func::UnixTimestamp,
                args,
            ) => {
                let moments = if func == Func::ConvertTz { 1 } else { args.len() };
                for at in (0..moments).rev().filter(|&at| args[at].ty.is_string()) {
                    self.note_operand(&written[at])?;
                }
            }
            (Func::Sha2, [_, bits]) if !self.is_literal_of(bits, &written[1], TextUse::DigestBits) => {
                self.hold_literal(bits, &written[1])?;
                self.note_bits(bits);
            }
            // A constant seed is read once.
            (Func::Rand, [seed]) if matches!(&seed.kind, ExprKind::Const(OwnedValue::Bytes { .. })) => {
                let number = self.build.cast(seed.clone(), CastTo::Signed)?;
                *seed = self.build.kept_value(number);
            }
            (Func::Format, [_, _, locale]) if !self.is_literal_of(locale, &written[2], TextUse::Locale) => {
                self.hold_literal(locale, &written[2])?;
                self.note_locale(locale);
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes what a count warns of. A literal that is no number becomes a constant of the plan.
    fn note_count(&mut self, arg: &mut Expr, written: &'a ast::Expr<'a>) -> Result<(), BindError> {
        match (&arg.kind, written.kind) {
            (ExprKind::Const(OwnedValue::Int(_) | OwnedValue::UInt(_) | OwnedValue::Null), _) => {
                return Ok(());
            }
            (&ExprKind::Param(param), ast::ExprKind::Literal(literal))
                if literal.kind == LiteralKind::String =>
            {
                if self.is_text_of(&literal, param, TextUse::Count) {
                    return Ok(());
                }
                *arg = self.constant(&literal)?;
            }
            (ExprKind::Param(_) | ExprKind::Column(_), _) => return Ok(()),
            // A text that is chosen among others is read without a warning.
            (
                ExprKind::Call { func: Func::Coalesce | Func::Greatest | Func::IfNull | Func::Least, .. },
                _,
            ) if arg.ty.is_string() => {
                return Ok(());
            }
            _ => {}
        }
        let count = self.build.cast(arg.clone(), CastTo::Signed)?;
        for warning in expr::warnings_of(&count, self.ctx.modes) {
            match warning {
                Warning::TruncatedWrongValue { type_name, value } => {
                    self.note_incorrect(format!("Truncated incorrect {type_name} value: '{value}'"));
                }
                // A literal is read as it is.
                Warning::PositiveToSigned if matches!(arg.kind, ExprKind::Const(_)) => {}
                other => self.deprecated.push(Deprecated::Constant(other)),
            }
        }
        Ok(())
    }

    /// Whether `arg`, written so, is a literal that was lifted out of the text and is what it is read as. The
    /// plan is good for such literals alone then.
    fn is_literal_of(&mut self, arg: &Expr, written: &ast::Expr<'_>, read_as: TextUse) -> bool {
        match (&arg.kind, written.kind) {
            (&ExprKind::Param(param), ast::ExprKind::Literal(literal))
                if literal.charset == Introducer::NONE =>
            {
                self.is_text_of(&literal, param, read_as)
            }
            _ => false,
        }
    }

    /// Makes a literal that was lifted out of the text a constant of the plan again.
    pub(super) fn hold_literal(
        &mut self,
        arg: &mut Expr,
        written: &'a ast::Expr<'a>,
    ) -> Result<(), BindError> {
        if let (ExprKind::Param(_), ast::ExprKind::Literal(literal)) = (&arg.kind, written.kind) {
            *arg = self.constant(&literal)?;
        }
        Ok(())
    }

    /// Notes a constant length for which there is no digest.
    fn note_bits(&mut self, bits: &Expr) {
        let ExprKind::Const(value) = expr::fold(bits.clone()).kind else { return };
        if value.is_null() || !matches!(value.as_value().to_i64().value, 0 | 224 | 256 | 384 | 512) {
            let warning = Warning::WrongParameters { function: Func::Sha2.name() };
            self.deprecated.push(Deprecated::Constant(warning));
        }
    }

    /// Notes a constant that names no locale.
    fn note_locale(&mut self, locale: &Expr) {
        let ExprKind::Const(value) = expr::fold(locale.clone()).kind else { return };
        let (value, mut scratch) = (value.as_value(), Vec::new());
        let name = if value.is_null() {
            "NULL".into()
        } else {
            String::from_utf8_lossy(value.as_text(&mut scratch))
        };
        if Locale::find(&name).is_none() {
            let name = if value.is_null() { name.into_owned() } else { value.raw_message_text() };
            self.deprecated.push(Deprecated::Constant(Warning::UnknownLocale { name }));
        }
    }
}
