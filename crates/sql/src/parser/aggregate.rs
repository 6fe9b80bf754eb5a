//! Aggregate and window functions.

use super::core::{Parser, Result};
use crate::ast::{
    Aggregate, AggregateFn, Expr, ExprKind, FrameBound, FrameUnit, OrderItem, Over, TimeUnit, WindowFrame,
    WindowSpec,
};
use crate::lexer::{Kw, Tok, Token};

/// The aggregate or window function a keyword names.
pub(super) fn aggregate_fn(kw: Kw) -> Option<AggregateFn> {
    use AggregateFn as F;
    Some(match kw {
        Kw::COUNT => F::Count,
        Kw::SUM => F::Sum,
        Kw::AVG => F::Avg,
        Kw::MIN => F::Min,
        Kw::MAX => F::Max,
        Kw::GROUP_CONCAT => F::GroupConcat,
        Kw::BIT_AND => F::BitAnd,
        Kw::BIT_OR => F::BitOr,
        Kw::BIT_XOR => F::BitXor,
        Kw::STD | Kw::STDDEV | Kw::STDDEV_POP => F::StddevPop,
        Kw::STDDEV_SAMP => F::StddevSamp,
        Kw::VARIANCE | Kw::VAR_POP => F::VarPop,
        Kw::VAR_SAMP => F::VarSamp,
        Kw::JSON_ARRAYAGG => F::JsonArrayAgg,
        Kw::JSON_OBJECTAGG => F::JsonObjectAgg,
        Kw::ROW_NUMBER => F::RowNumber,
        Kw::RANK => F::Rank,
        Kw::DENSE_RANK => F::DenseRank,
        Kw::PERCENT_RANK => F::PercentRank,
        Kw::CUME_DIST => F::CumeDist,
        Kw::NTILE => F::Ntile,
        Kw::LAG => F::Lag,
        Kw::LEAD => F::Lead,
        Kw::FIRST_VALUE => F::FirstValue,
        Kw::LAST_VALUE => F::LastValue,
        Kw::NTH_VALUE => F::NthValue,
        _ => return None,
    })
}

/// Whether the function exists only with OVER.
fn needs_over(func: AggregateFn) -> bool {
    func as u8 >= AggregateFn::RowNumber as u8
}

impl<'a> Parser<'a, '_> {
    /// A call of `func`, at its name.
    pub(super) fn aggregate(&mut self, token: Token, func: AggregateFn) -> Result<Expr<'a>> {
        self.bump();
        self.aggregate_args(token, func)
    }

    /// The arguments and clauses of `func`, at its parenthesis.
    pub(super) fn aggregate_args(&mut self, token: Token, func: AggregateFn) -> Result<Expr<'a>> {
        self.expect(Tok::LParen)?;
        let distinct = takes_distinct(func) && self.eat_kw(Kw::DISTINCT);
        if !distinct {
            self.eat_kw(Kw::ALL);
        }
        let args = self.aggregate_list(func, distinct)?;
        let mut order_by: &[OrderItem<'_>] = &[];
        let mut separator = None;
        if func == AggregateFn::GroupConcat {
            order_by = self.opt_order_by()?;
            separator = if self.eat_kw(Kw::SEPARATOR) { Some(self.string()?) } else { None };
        }
        self.expect(Tok::RParen)?;
        let over = self.opt_over(func)?;
        let height = args.iter().map(|e| e.height).max().unwrap_or(0);
        let node = Aggregate { func, distinct, args, order_by, separator, over };
        self.node(ExprKind::Aggregate(self.alloc(node)), token.start, height)
    }

    fn aggregate_list(&mut self, func: AggregateFn, distinct: bool) -> Result<&'a [Expr<'a>]> {
        if func == AggregateFn::Count && !distinct && self.at(Tok::Star) {
            let pos = self.bump().start;
            return Ok(std::slice::from_ref(self.alloc(Self::leaf(ExprKind::Star, pos))));
        }
        let no_args = matches!(
            func,
            AggregateFn::RowNumber
                | AggregateFn::Rank
                | AggregateFn::DenseRank
                | AggregateFn::PercentRank
                | AggregateFn::CumeDist
        );
        if no_args {
            return Ok(&[]);
        }
        let args = self.list(Self::expr)?;
        let (least, most) = match func {
            AggregateFn::Count if distinct => (1, usize::MAX),
            AggregateFn::GroupConcat => (1, usize::MAX),
            AggregateFn::JsonObjectAgg | AggregateFn::NthValue => (2, 2),
            AggregateFn::Lag | AggregateFn::Lead => (1, 3),
            _ => (1, 1),
        };
        if args.len() < least || args.len() > most { self.syntax() } else { Ok(args) }
    }

    fn opt_over(&mut self, func: AggregateFn) -> Result<Option<&'a Over<'a>>> {
        if matches!(func, AggregateFn::NthValue) && self.eat_kw(Kw::FROM) && !self.eat_kw(Kw::FIRST) {
            self.expect_kw(Kw::LAST)?;
        }
        if needs_over(func) && (self.eat_kw(Kw::RESPECT) || self.eat_kw(Kw::IGNORE)) {
            self.expect_kw(Kw::NULLS)?;
        }
        if !self.eat_kw(Kw::OVER) {
            return if needs_over(func) { self.syntax() } else { Ok(None) };
        }
        let over =
            if self.at(Tok::LParen) { Over::Spec(self.window_spec()?) } else { Over::Name(self.name()?) };
        Ok(Some(self.alloc(over)))
    }

    /// `( [base] [PARTITION BY ..] [ORDER BY ..] [frame] )`.
    pub(super) fn window_spec(&mut self) -> Result<WindowSpec<'a>> {
        self.expect(Tok::LParen)?;
        let base = if self.at_name() { Some(self.name()?) } else { None };
        let partition_by = if self.eat_kw2(Kw::PARTITION, Kw::BY) { self.list(Self::expr)? } else { &[][..] };
        let order_by = self.opt_order_by()?;
        let unit = match self.tok.kind {
            Tok::Kw(Kw::ROWS) => Some(FrameUnit::Rows),
            Tok::Kw(Kw::RANGE) => Some(FrameUnit::Range),
            Tok::Kw(Kw::GROUPS) => Some(FrameUnit::Groups),
            _ => None,
        };
        let frame = match unit {
            Some(unit) => Some(self.window_frame(unit)?),
            None => None,
        };
        self.expect(Tok::RParen)?;
        Ok(WindowSpec { base, partition_by, order_by, frame })
    }

    fn window_frame(&mut self, unit: FrameUnit) -> Result<&'a WindowFrame<'a>> {
        self.bump();
        let (start, end) = if self.eat_kw(Kw::BETWEEN) {
            let start = self.frame_bound()?;
            self.expect_kw(Kw::AND)?;
            (start, Some(self.frame_bound()?))
        } else {
            (self.frame_bound()?, None)
        };
        Ok(self.alloc(WindowFrame { unit, start, end }))
    }

    fn frame_bound(&mut self) -> Result<FrameBound<'a>> {
        if self.eat_kw2(Kw::CURRENT, Kw::ROW) {
            return Ok(FrameBound::CurrentRow);
        }
        if self.eat_kw(Kw::UNBOUNDED) {
            if self.eat_kw(Kw::PRECEDING) {
                return Ok(FrameBound::UnboundedPreceding);
            }
            self.expect_kw(Kw::FOLLOWING)?;
            return Ok(FrameBound::UnboundedFollowing);
        }
        let (amount, unit): (_, Option<TimeUnit>) = if self.at_kw(Kw::INTERVAL) {
            let (amount, unit) = self.interval()?;
            (amount, Some(unit))
        } else {
            (self.expr()?, None)
        };
        if self.eat_kw(Kw::PRECEDING) {
            return Ok(FrameBound::Preceding(amount, unit));
        }
        self.expect_kw(Kw::FOLLOWING)?;
        Ok(FrameBound::Following(amount, unit))
    }
}

/// The others have no DISTINCT in their syntax.
fn takes_distinct(func: AggregateFn) -> bool {
    use AggregateFn::{Avg, Count, GroupConcat, Max, Min, Sum};
    matches!(func, Count | Sum | Avg | Min | Max | GroupConcat)
}
