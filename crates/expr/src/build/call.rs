//! Functions by name.

use types::{Charset, SqlType, TypeKind};

use super::collation::find_charset;
use super::func_rules::rule_of;
use super::{BindError, Builder, string_type};
use crate::coercibility::{Coercibility, coercibility};
use crate::func::Func;
use crate::{Expr, ExprKind};

impl Builder {
    /// A function by its name, in any case of letters.
    ///
    /// # Errors
    /// 1305 for a name that no function has, 1582 for a wrong number of arguments, 1267 for collations that
    /// do not mix.
    pub fn call(&self, name: &str, args: Vec<Expr>) -> Result<Expr, BindError> {
        let Some(func) = Func::find(name) else {
            return Err(BindError::UnknownFunction { name: name.into() });
        };
        self.ensure_count(name, args.len())?;
        self.call_func(func, args)
    }

    /// Refuses a number of arguments that the function called `name` does not take. MySQL does so before it
    /// reads them.
    ///
    /// # Errors
    /// 1582.
    pub fn ensure_count(&self, name: &str, count: usize) -> Result<(), BindError> {
        let Some(func) = Func::find(name) else { return Ok(()) };
        let (least, most) = func.arity();
        let is_odd_pair = func == Func::Interval && count < 2;
        if (least..=most).contains(&count) && !is_odd_pair {
            return Ok(());
        }
        Err(BindError::ParameterCount { name: name.into() })
    }

    /// A function or operator with the right number of arguments.
    pub(crate) fn call_func(&self, func: Func, mut args: Vec<Expr>) -> Result<Expr, BindError> {
        debug_assert!(func.arity().0 <= args.len() && args.len() <= func.arity().1, "argument count");
        let (rule, nulls) = rule_of(func);
        self.read_branches_for(func, &mut args);
        if func == Func::StrCmp {
            self.store_for_strcmp(&mut args)?;
        }
        let lack_digits = args.iter().any(Expr::may_lack_digits);
        Ok(self.apply(func, &rule, nulls, args)?.with_digits_of(func, lack_digits))
    }

    /// `CHAR(n, ... USING charset)`; without USING a binary string.
    pub fn char_using(&self, args: Vec<Expr>, charset: &str) -> Result<Expr, BindError> {
        let charset: Charset = find_charset(charset)?;
        let ty = string_type(args.len() as u32 * 4, charset.default_collation());
        let nullable = self.modes.is_strict() || args.iter().any(|e| e.nullable);
        Ok(Expr { kind: ExprKind::Call { func: Func::Char, args: args.into() }, ty, nullable })
    }

    /// COERCIBILITY: that of the argument as it is written, before it is folded.
    pub(super) fn strength_of(&self, arg: &Expr) -> Expr {
        // A variable is as strong as a column, also one that is a number.
        let is_variable = matches!(arg.kind, ExprKind::UserVar(_));
        let strength = if is_variable { Coercibility::Implicit } else { coercibility(arg) };
        Expr { ty: SqlType::new(TypeKind::BigInt, 10), ..self.int(strength as i64) }
    }

    /// ELT(n, a, b, ..): the texts in one collation.
    pub(super) fn elt(&self, args: Vec<Expr>) -> Result<Expr, BindError> {
        let texts: Vec<&Expr> = args[1..].iter().collect();
        let collation = self.result_collation(&texts, "elt")?;
        let chars = texts.iter().map(|e| super::shown_chars(&e.ty)).max().unwrap_or(0);
        let ty = string_type(chars, collation);
        let args: Box<[Expr]> = args
            .into_iter()
            .enumerate()
            .map(|(i, e)| if i == 0 { e } else { self.in_charset(self.text_of(e), collation) })
            .collect();
        Ok(Expr { kind: ExprKind::Call { func: Func::Elt, args }, ty, nullable: true })
    }
}
