//! Constant operands of comparisons that a statement converts once, and texts whose conversion MySQL reports.

use types::decimal::{PRECISION_MAX, SCALE_MAX};
use types::temporal::FSP_MAX;
use types::value::Loss;
use types::{Charset, SqlType, TypeKind, Value};

use super::Builder;
use super::literal::datetime_type;
use super::typing::{Class, class_of, is_long_hexadecimal, is_text};
use crate::fold::constant_value;
use crate::func::Func;
use crate::{CmpDomain, Expr, ExprKind};

impl Builder {
    /// A constant as a number of type `ty`, DOUBLE or DECIMAL, that is computed once a statement. With the
    /// type of a text it is a number of any of these types, or an integer.
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

    /// A constant operation that is compared with integers, which is computed once a statement. Its text is
    /// the number that it is among these.
    pub fn kept_beside_integers(&self, operation: Expr) -> Expr {
        match class_of(&operation) {
            Class::Text => {
                let ty = operation.ty.clone();
                Self::kept_number(operation, ty)
            }
            _ => self.kept_value(operation),
        }
    }

    /// The value of a constant operation, which is computed once a statement.
    pub fn kept_value(&self, operation: Expr) -> Expr {
        let (ty, nullable) = (operation.ty.clone(), operation.nullable);
        Expr { kind: ExprKind::Call { func: Func::KeptValue, args: Box::new([operation]) }, ty, nullable }
    }

    /// As [`Builder::kept_value`], in a condition of a SELECT: reading its text as a number gives no warning.
    pub fn cached_value(&self, operation: Expr) -> Expr {
        let (ty, nullable) = (operation.ty.clone(), operation.nullable);
        Expr { kind: ExprKind::Call { func: Func::CachedValue, args: Box::new([operation]) }, ty, nullable }
    }

    /// Makes texts dates and times that are compared with constant ones: MySQL warns of them in other words
    /// than beside a column.
    pub fn read_beside_moments(&self, compared: &mut [Expr]) {
        let is_fixed = |e: &Expr| {
            matches!(e.ty.kind, TypeKind::DateTime | TypeKind::Timestamp) && !e.nullable && is_constant(e)
        };
        let is_null = |e: &Expr| e.ty.kind == TypeKind::Null;
        let is_among_fixed = match &*compared {
            [a, b] => is_fixed(a) && varies(b) || is_fixed(b) && varies(a),
            [value, ..] => is_fixed(value),
            [] => false,
        };
        if !is_among_fixed || !compared.iter().all(|e| is_fixed(e) || is_null(e) || is_text(e)) {
            return;
        }
        for text in compared.iter_mut().filter(|e| is_text(e)) {
            if !varies(text) && self.adopt_temporal_constant(&mut text.clone(), CmpDomain::DateTime).is_ok() {
                continue;
            }
            let nullable = text.nullable;
            let args = Box::new([std::mem::replace(text, self.null())]);
            let kind = ExprKind::Call { func: Func::MomentOfText, args };
            *text = Expr { kind, ty: datetime_type(FSP_MAX), nullable };
        }
    }

    /// Makes a constant text, or a parameter's, a DECIMAL beside one that varies, as MySQL does where two
    /// values are compared.
    pub(super) fn read_text_as_decimal(&self, args: &mut [Expr; 2]) {
        for at in 0..2 {
            let is_text = class_of(&args[at]) == Class::Text
                && !matches!(args[at].ty.kind, TypeKind::Enum | TypeKind::Set);
            let is_given = matches!(args[at].kind, ExprKind::Const(_) | ExprKind::Param(_))
                || is_text && is_text_of_statement(&args[at]);
            let beside = &args[1 - at];
            if !is_text || !is_given || class_of(beside) != Class::Decimal || !varies(beside) {
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
                _ => Self::kept_number(text, SqlType::decimal(PRECISION_MAX, SCALE_MAX)),
            };
        }
    }

    /// Has a constant text that is no number read once a statement, beside an integer column. Doubles would
    /// lose digits of some.
    fn read_once(&self, arg: &mut Expr) {
        let is_kept = matches!(
            arg.kind,
            ExprKind::Call { func: Func::KeptNumber | Func::KeptValue | Func::CachedValue, .. }
        );
        if class_of(arg) != Class::Text || is_kept || !is_constant(arg) {
            return;
        }
        let is_read = match constant_value(arg, self.modes) {
            Some(value) => is_double_with_rest(&value.as_value()),
            // The text is the session's.
            None => true,
        };
        if is_read {
            let text = std::mem::replace(arg, self.null());
            *arg = Self::kept_number(text, SqlType::double());
        }
    }

    /// Has a constant text that is no number, or that is calculated, read once a statement.
    pub(super) fn keep_no_number(&self, arg: &mut Expr) {
        let is_kept = class_of(arg) == Class::Text
            && match &arg.kind {
                ExprKind::Const(value) => value.as_value().to_f64().loss != Loss::None,
                ExprKind::Call { func: Func::KeptNumber | Func::KeptValue | Func::CachedValue, .. } => false,
                _ => is_constant(arg),
            };
        if is_kept {
            let text = std::mem::replace(arg, self.null());
            *arg = Self::kept_number(text, SqlType::double());
        }
    }

    /// Reads the texts among operands that are compared as numbers, with MySQL's warnings: a constant that is
    /// no number once a statement, and columns by [`Builder::read_special_text`]. `domain`: of the
    /// comparison.
    pub(super) fn read_texts(&self, args: &mut [Expr], domain: CmpDomain) {
        for arg in args {
            match domain {
                CmpDomain::Number => self.read_once(arg),
                _ => self.keep_no_number(arg),
            }
            self.read_special_text(arg);
        }
    }

    /// Makes a column of TEXT, BLOB or of bytes, a CHAR with its blanks, bits of bytes, the text of a
    /// subquery, and a hexadecimal literal that is no number, a conversion of its own, which gives the
    /// warnings that MySQL has for these.
    pub(crate) fn read_special_text(&self, arg: &mut Expr) {
        self.read_branches(arg);
        if let ExprKind::Held { shown: Some(shown), .. } = &arg.kind
            && is_read_apart(shown)
        {
            *arg = (**shown).clone();
        }
        use TypeKind::{Blob, Text, VarBinary, VarChar};
        let is_special = match arg.ty.kind {
            Text(_) | Blob(_) | VarBinary => true,
            VarChar => arg.ty.charset() == Charset::Latin1,
            _ => false,
        };
        let is_read = match arg.kind {
            ExprKind::Column(_) => is_special,
            ExprKind::Subquery { .. } => class_of(arg) == Class::Text,
            ExprKind::Const(_) => is_long_hexadecimal(arg),
            _ => is_read_apart(arg),
        };
        if is_read {
            let nullable = arg.nullable;
            let column = std::mem::replace(arg, self.null());
            *arg = Expr::cast(column, SqlType::double(), nullable);
        }
    }
}

/// Whether a calculated text gives other warnings than its value where it is read as a number: a CHAR with
/// its blanks, and bits of bytes.
pub(crate) fn is_read_apart(text: &Expr) -> bool {
    text.unpadded().is_some() || text.has_bits_of_bytes()
}

/// Whether `text` is no number as a whole, and begins with one that a double holds.
fn is_double_with_rest(text: &Value<'_>) -> bool {
    let (double, exact) = (text.to_f64(), text.to_decimal());
    double.loss != Loss::None
        && exact.loss != Loss::OutOfRange
        && Value::Double(double.value).to_decimal().value == exact.value
}

/// Whether the text of the statement gives the value of `expr`, and the same one each time it is computed.
pub(super) fn is_constant(expr: &Expr) -> bool {
    !has(expr, |e| e.may_vary() || matches!(e.kind, ExprKind::Param(_)))
}

/// Whether the text of the statement and its parameters give the value of `expr`, and the same one each time
/// it is computed.
fn is_text_of_statement(expr: &Expr) -> bool {
    !has(expr, |e| {
        let is_account = matches!(e.kind, ExprKind::Call { func: Func::User | Func::CurrentUser, .. });
        e.may_vary() || is_account
    })
}

/// Whether the value of `expr` may change while the statement runs.
pub(super) fn varies(expr: &Expr) -> bool {
    has(expr, Expr::may_vary)
}

impl Expr {
    /// Whether the value of this node may change while the statement runs, whatever its operands are.
    pub fn may_vary(&self) -> bool {
        match self.kind {
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
}

/// Whether a part of `expr` is such.
fn has(expr: &Expr, is_such: impl Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= is_such(e));
    found
}
