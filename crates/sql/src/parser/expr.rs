//! Expressions by operator precedence.
//!
//! Binding powers follow MySQL's grammar, from loosest to tightest: OR, XOR, AND, NOT, comparisons and IS,
//! predicates (LIKE, IN, BETWEEN, REGEXP, SOUNDS LIKE, MEMBER OF; these do not chain), `|`, `&`, shifts,
//! `+ -`, `* / % DIV MOD`, `^`, `||` as concatenation, prefix operators, COLLATE.

use super::core::{Parser, Result};
use super::primary::ParenContent;
use crate::ast::{
    Between, BinaryOp, Collate, DateAdd, Expr, ExprKind, InList, InSubquery, IsTest, Like, Quantified,
    UnaryOp,
};
use crate::lexer::{Kw, Tok};
use crate::mode::LexMode;

/// Binding powers.
pub(super) mod power {
    pub(in crate::parser) const LOOSEST: u8 = 0;
    pub(super) const OR: u8 = 1;
    pub(super) const XOR: u8 = 2;
    pub(super) const AND: u8 = 3;
    pub(super) const NOT: u8 = 4;
    pub(super) const COMPARE: u8 = 5;
    pub(super) const PREDICATE: u8 = 6;
    pub(in crate::parser) const BIT_OR: u8 = 7;
    pub(super) const BIT_AND: u8 = 8;
    pub(super) const SHIFT: u8 = 9;
    pub(super) const ADD: u8 = 10;
    pub(super) const MUL: u8 = 11;
    pub(super) const BIT_XOR: u8 = 12;
    pub(in crate::parser) const SIMPLE: u8 = 13;
    pub(in crate::parser) const PREFIX: u8 = 14;
    pub(super) const COLLATE: u8 = 15;
    /// Above every infix operator: one operand.
    pub(in crate::parser) const OPERAND: u8 = 16;
}

/// The loop's action at an infix operator.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOp),
    Or,
    And,
    Is,
    Predicate(Kw),
    /// NOT before IN, LIKE, BETWEEN or REGEXP.
    NotPredicate,
    Collate,
}

impl<'a> Parser<'a, '_> {
    /// Any expression.
    #[inline]
    pub(super) fn expr(&mut self) -> Result<Expr<'a>> {
        self.expr_above(power::LOOSEST)
    }

    /// An expression whose operators all bind at least as tightly as `min`.
    pub(super) fn expr_above(&mut self, min: u8) -> Result<Expr<'a>> {
        self.enter()?;
        let mut ceiling = u8::MAX;
        let mut left = match self.pending {
            Some(operand) => {
                self.pending = None;
                operand
            }
            None if self.at_kw(Kw::NOT)
                && min <= power::NOT
                && !self.mode.has(LexMode::HIGH_NOT_PRECEDENCE) =>
            {
                ceiling = power::NOT;
                self.not()?
            }
            None => self.primary()?,
        };
        while let Some((infix, bp)) = self.infix() {
            if bp < min || bp > ceiling {
                break;
            }
            left = self.infix_rest(left, infix, bp)?;
            ceiling = match (infix, left.kind) {
                (_, ExprKind::Is(_, IsTest::Null, _)) => bp,
                // IS TRUE and similar tests are conditions: only AND, OR and XOR continue from them.
                (Infix::Is, _) => power::NOT,
                _ if bp == power::PREDICATE => power::COMPARE,
                _ => bp,
            };
        }
        self.leave();
        Ok(left)
    }

    fn not(&mut self) -> Result<Expr<'a>> {
        let pos = self.bump().start;
        let operand = self.expr_above(power::NOT)?;
        self.node(ExprKind::Unary(UnaryOp::Not, self.alloc(operand)), pos, operand.height)
    }

    /// The infix operator at the current token.
    #[inline(always)]
    fn infix(&self) -> Option<(Infix, u8)> {
        use BinaryOp as B;
        let (op, bp) = match self.tok.kind {
            Tok::Eq => (B::Eq, power::COMPARE),
            Tok::NullSafeEq => (B::NullSafeEq, power::COMPARE),
            Tok::Ne => (B::Ne, power::COMPARE),
            Tok::Lt => (B::Lt, power::COMPARE),
            Tok::Le => (B::Le, power::COMPARE),
            Tok::Gt => (B::Gt, power::COMPARE),
            Tok::Ge => (B::Ge, power::COMPARE),
            Tok::Pipe => (B::BitOr, power::BIT_OR),
            Tok::Amp => (B::BitAnd, power::BIT_AND),
            Tok::Shl => (B::Shl, power::SHIFT),
            Tok::Shr => (B::Shr, power::SHIFT),
            Tok::Plus => (B::Add, power::ADD),
            Tok::Minus => (B::Sub, power::ADD),
            Tok::Star => (B::Mul, power::MUL),
            Tok::Slash => (B::Div, power::MUL),
            Tok::Percent => (B::Mod, power::MUL),
            Tok::Caret => (B::BitXor, power::BIT_XOR),
            Tok::AndAnd => return Some((Infix::And, power::AND)),
            Tok::OrOr if self.mode.has(LexMode::PIPES_AS_CONCAT) => (B::Concat, power::SIMPLE),
            Tok::OrOr => return Some((Infix::Or, power::OR)),
            Tok::Kw(kw) => return self.infix_keyword(kw),
            _ => return None,
        };
        Some((Infix::Binary(op), bp))
    }

    fn infix_keyword(&self, kw: Kw) -> Option<(Infix, u8)> {
        Some(match kw {
            Kw::AND => (Infix::And, power::AND),
            Kw::OR => (Infix::Or, power::OR),
            Kw::XOR => (Infix::Binary(BinaryOp::Xor), power::XOR),
            Kw::IS => (Infix::Is, power::COMPARE),
            Kw::DIV => (Infix::Binary(BinaryOp::IntDiv), power::MUL),
            Kw::MOD => (Infix::Binary(BinaryOp::Mod), power::MUL),
            Kw::LIKE | Kw::IN | Kw::BETWEEN | Kw::REGEXP | Kw::RLIKE => {
                (Infix::Predicate(kw), power::PREDICATE)
            }
            Kw::SOUNDS if self.peek() == Tok::Kw(Kw::LIKE) => (Infix::Predicate(kw), power::PREDICATE),
            Kw::MEMBER if self.peek() == Tok::Kw(Kw::OF) => (Infix::Predicate(kw), power::PREDICATE),
            Kw::NOT => match self.peek() {
                Tok::Kw(Kw::LIKE | Kw::IN | Kw::BETWEEN | Kw::REGEXP | Kw::RLIKE) => {
                    (Infix::NotPredicate, power::PREDICATE)
                }
                _ => return None,
            },
            Kw::COLLATE => (Infix::Collate, power::COLLATE),
            _ => return None,
        })
    }

    fn infix_rest(&mut self, left: Expr<'a>, infix: Infix, bp: u8) -> Result<Expr<'a>> {
        match infix {
            Infix::Binary(op) => {
                self.bump();
                self.binary_rest(left, op, bp)
            }
            Infix::And | Infix::Or => self.chain(left, bp),
            Infix::Is => self.is_rest(left),
            Infix::Predicate(kw) => self.predicate(left, kw, false),
            Infix::NotPredicate => {
                self.bump();
                match self.tok.kind {
                    Tok::Kw(kw) => self.predicate(left, kw, true),
                    _ => self.syntax(),
                }
            }
            Infix::Collate => self.collate_rest(left),
        }
    }

    #[inline]
    fn binary_rest(&mut self, left: Expr<'a>, op: BinaryOp, bp: u8) -> Result<Expr<'a>> {
        if bp == power::COMPARE
            && op != BinaryOp::NullSafeEq
            && let Tok::Kw(Kw::ANY | Kw::SOME | Kw::ALL) = self.tok.kind
            && self.peek() == Tok::LParen
        {
            return self.quantified(left, op);
        }
        if bp == power::ADD && self.at_kw(Kw::INTERVAL) && !self.interval_is_function() {
            return self.date_arithmetic(left, op == BinaryOp::Sub);
        }
        let right = self.expr_above(bp + 1)?;
        let kind = ExprKind::Binary(op, self.alloc(left), self.alloc(right));
        self.node(kind, left.pos, left.height.max(right.height))
    }

    /// `a AND b AND ..` or `a OR b OR ..` as one node.
    fn chain(&mut self, left: Expr<'a>, bp: u8) -> Result<Expr<'a>> {
        let mut height = left.height;
        let mut operands = self.vec();
        operands.push(left);
        let mut symbols = 0;
        loop {
            symbols += u32::from(matches!(self.tok.kind, Tok::OrOr | Tok::AndAnd));
            self.bump();
            let operand = self.expr_above(bp + 1)?;
            height = height.max(operand.height);
            operands.push(operand);
            match self.infix() {
                Some((Infix::And | Infix::Or, next)) if next == bp => {}
                _ => break,
            }
        }
        let operands = operands.into_bump_slice();
        let make = if bp == power::AND { ExprKind::And } else { ExprKind::Or };
        let kind = make(operands, symbols);
        self.node(kind, left.pos, height)
    }

    fn is_rest(&mut self, left: Expr<'a>) -> Result<Expr<'a>> {
        self.bump();
        let negated = self.eat_kw(Kw::NOT);
        let test = match self.tok.kind {
            Tok::Kw(Kw::NULL) => IsTest::Null,
            Tok::Kw(Kw::TRUE) => IsTest::True,
            Tok::Kw(Kw::FALSE) => IsTest::False,
            Tok::Kw(Kw::UNKNOWN) => IsTest::Unknown,
            _ => return self.syntax(),
        };
        self.bump();
        self.node(ExprKind::Is(self.alloc(left), test, negated), left.pos, left.height)
    }

    fn collate_rest(&mut self, expr: Expr<'a>) -> Result<Expr<'a>> {
        self.bump();
        let collation = if self.eat_kw(Kw::BINARY) { "binary" } else { self.name_or_string()? };
        self.node(ExprKind::Collate(self.alloc(Collate { expr, collation })), expr.pos, expr.height)
    }

    fn quantified(&mut self, expr: Expr<'a>, op: BinaryOp) -> Result<Expr<'a>> {
        let all = self.at_kw(Kw::ALL);
        self.bump();
        let query = self.paren_query()?;
        self.node(
            ExprKind::Quantified(self.alloc(Quantified { expr, op, all, query })),
            expr.pos,
            expr.height.max(query.height),
        )
    }

    /// `expr +/- INTERVAL amount unit`, at INTERVAL.
    fn date_arithmetic(&mut self, date: Expr<'a>, subtract: bool) -> Result<Expr<'a>> {
        let (amount, unit) = self.interval()?;
        let height = date.height.max(amount.height);
        self.node(ExprKind::DateAdd(self.alloc(DateAdd { date, amount, unit, subtract })), date.pos, height)
    }

    /// A predicate after its left operand, at its keyword.
    fn predicate(&mut self, expr: Expr<'a>, kw: Kw, negated: bool) -> Result<Expr<'a>> {
        self.bump();
        match kw {
            Kw::LIKE => self.like_rest(expr, negated),
            Kw::IN => self.in_rest(expr, negated),
            Kw::BETWEEN => self.between_rest(expr, negated),
            Kw::SOUNDS => {
                self.bump();
                self.operator_rest(expr, BinaryOp::SoundsLike)
            }
            Kw::MEMBER => {
                self.bump();
                self.member_rest(expr)
            }
            _ if negated => self.operator_rest(expr, BinaryOp::NotRegexp),
            _ => self.operator_rest(expr, BinaryOp::Regexp),
        }
    }

    fn operator_rest(&mut self, left: Expr<'a>, op: BinaryOp) -> Result<Expr<'a>> {
        let right = self.expr_above(power::BIT_OR)?;
        let kind = ExprKind::Binary(op, self.alloc(left), self.alloc(right));
        self.node(kind, left.pos, left.height.max(right.height))
    }

    fn member_rest(&mut self, left: Expr<'a>) -> Result<Expr<'a>> {
        self.expect(Tok::LParen)?;
        let right = self.expr_above(power::SIMPLE)?;
        self.expect(Tok::RParen)?;
        let kind = ExprKind::Binary(BinaryOp::MemberOf, self.alloc(left), self.alloc(right));
        self.node(kind, left.pos, left.height.max(right.height))
    }

    fn like_rest(&mut self, expr: Expr<'a>, negated: bool) -> Result<Expr<'a>> {
        let pattern = self.expr_above(power::SIMPLE)?;
        let escape = if self.eat_kw(Kw::ESCAPE) { Some(self.expr_above(power::SIMPLE)?) } else { None };
        let height = expr.height.max(pattern.height).max(escape.map_or(0, |e| e.height));
        self.node(ExprKind::Like(self.alloc(Like { expr, pattern, escape, negated })), expr.pos, height)
    }

    fn between_rest(&mut self, expr: Expr<'a>, negated: bool) -> Result<Expr<'a>> {
        let low = self.expr_above(power::BIT_OR)?;
        self.expect_kw(Kw::AND)?;
        let high = self.expr_above(power::PREDICATE)?;
        let height = expr.height.max(low.height).max(high.height);
        self.node(ExprKind::Between(self.alloc(Between { expr, low, high, negated })), expr.pos, height)
    }

    fn in_rest(&mut self, expr: Expr<'a>, negated: bool) -> Result<Expr<'a>> {
        self.expect(Tok::LParen)?;
        let first = match self.paren_content()? {
            ParenContent::Query(query) => {
                self.expect(Tok::RParen)?;
                let node = InSubquery { expr, query, negated };
                let height = expr.height.max(query.height);
                return self.node(ExprKind::InSubquery(self.alloc(node)), expr.pos, height);
            }
            ParenContent::Expr(first) => first,
        };
        let mut list = self.vec();
        list.push(first);
        while self.eat(Tok::Comma) {
            list.push(self.item()?);
        }
        self.expect(Tok::RParen)?;
        self.in_list(expr, list.into_bump_slice(), negated)
    }

    /// An item of a list, which is often a row of literals.
    fn item(&mut self) -> Result<Expr<'a>> {
        if let Some(row) = self.row_of_literals()? {
            if matches!(self.tok.kind, Tok::Comma | Tok::RParen) {
                return Ok(row);
            }
            self.pending = Some(row);
        }
        self.expr()
    }

    fn in_list(&mut self, expr: Expr<'a>, list: &'a [Expr<'a>], negated: bool) -> Result<Expr<'a>> {
        let height = list.iter().map(|e| e.height).max().unwrap_or(0).max(expr.height);
        self.node(ExprKind::InList(self.alloc(InList { expr, list, negated })), expr.pos, height)
    }
}
