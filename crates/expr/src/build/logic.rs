//! AND, OR, XOR, NOT and the tests behind IS.

use types::{SqlType, TypeKind};

use super::Builder;
use super::kept_constant::is_constant;
use crate::{Expr, ExprKind, RowPart};

/// The type of a truth value.
pub(crate) fn boolean_type() -> SqlType {
    SqlType::new(TypeKind::BigInt, 1)
}

pub(super) fn truth(kind: ExprKind, nullable: bool) -> Expr {
    Expr { kind, ty: boolean_type(), nullable }
}

impl Builder {
    /// `(a, b) < (c, d)`, of the comparisons `a < c` and `b < d`. `None`: one of them is something else.
    pub fn row_order(&self, parts: Vec<Expr>) -> Option<Expr> {
        let nullable = parts.iter().any(|part| part.nullable);
        let part = |compared: Expr| match compared.kind {
            ExprKind::Compare { op, domain, args } => Some(RowPart { op, domain, sides: *args }),
            _ => None,
        };
        let parts: Option<Box<[RowPart]>> = parts.into_iter().map(part).collect();
        Some(truth(ExprKind::CompareRows(parts?), nullable))
    }

    /// Conjunction; nested ones are flattened, one term stands for itself.
    ///
    /// # Panics
    /// Without a term.
    pub fn and(&self, mut terms: Vec<Expr>) -> Expr {
        self.keep_texts(&mut terms);
        if !terms.iter().any(|term| matches!(term.kind, ExprKind::And(_))) {
            return connect(terms, ExprKind::And);
        }
        let mut flat = Vec::with_capacity(terms.len());
        for term in terms {
            match term.kind {
                ExprKind::And(inner) => flat.extend(inner.into_vec()),
                _ => flat.push(term),
            }
        }
        connect(flat, ExprKind::And)
    }

    /// Disjunction; as [`Builder::and`].
    ///
    /// # Panics
    /// Without a term.
    pub fn or(&self, mut terms: Vec<Expr>) -> Expr {
        self.keep_texts(&mut terms);
        if !terms.iter().any(|term| matches!(term.kind, ExprKind::Or(_))) {
            return connect(terms, ExprKind::Or);
        }
        let mut flat = Vec::with_capacity(terms.len());
        for term in terms {
            match term.kind {
                ExprKind::Or(inner) => flat.extend(inner.into_vec()),
                _ => flat.push(term),
            }
        }
        connect(flat, ExprKind::Or)
    }

    /// Makes a statement convert constant texts among `terms` that are not numbers once.
    fn keep_texts(&self, terms: &mut [Expr]) {
        self.read_all_branches(terms);
        for term in terms.iter_mut().filter(|term| matches!(term.kind, ExprKind::Const(_))) {
            self.keep_no_number(term);
        }
    }

    /// Exclusive or.
    pub fn xor(&self, a: Expr, b: Expr) -> Expr {
        let nullable = a.nullable || b.nullable;
        let mut terms = [a, b];
        self.keep_texts(&mut terms);
        truth(ExprKind::Xor(Box::new(terms)), nullable)
    }

    /// Negation.
    pub fn not(&self, mut arg: Expr) -> Expr {
        self.keep_no_number(&mut arg);
        self.read_branches(&mut arg);
        let nullable = arg.nullable;
        truth(ExprKind::Not(Box::new(arg)), nullable)
    }

    /// IS [NOT] NULL, IS [NOT] UNKNOWN.
    pub fn is_null(&self, arg: Expr, negated: bool) -> Expr {
        // MySQL does not call SLEEP() or a cast to find out that the answer is no NULL, though it does for IS
        // NOT NULL.
        let is_call = matches!(arg.kind, ExprKind::Call { func, .. } if func.is_volatile());
        if (is_call || is_constant(&arg)) && !arg.nullable && !negated {
            return self.boolean(false);
        }
        let is_operation = !matches!(arg.kind, ExprKind::Const(_)) && is_constant(&arg);
        let test = truth(ExprKind::IsNull { negated, arg: Box::new(arg) }, false);
        if is_operation { self.kept_value(test) } else { test }
    }

    /// IS [NOT] TRUE (`wanted`) and IS [NOT] FALSE.
    pub fn is_truth(&self, mut arg: Expr, wanted: bool, negated: bool) -> Expr {
        let is_kept = is_constant(&arg);
        self.read_branches(&mut arg);
        let test = truth(ExprKind::IsTruth { negated, truth: wanted, arg: Box::new(arg) }, false);
        if is_kept { self.kept_value(test) } else { test }
    }
}

fn connect(mut terms: Vec<Expr>, kind: fn(Box<[Expr]>) -> ExprKind) -> Expr {
    if terms.len() == 1 {
        return terms.pop().expect("one term is there");
    }
    assert!(!terms.is_empty(), "a connective has terms");
    let nullable = terms.iter().any(|e| e.nullable);
    truth(kind(terms.into()), nullable)
}
