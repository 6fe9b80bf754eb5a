//! The state of one aggregate over one group.

use std::cmp::Ordering;
use std::rc::Rc;

use base::memory::{Charge, Purpose, StatementAccount};
use types::key::append_group;
use types::value::double_prefix;
use types::{OwnedValue, SqlType, Value};

use super::AggFunc;
use super::bits::Bits;
use super::concat::Concat;
use super::extreme::Extreme;
use super::number::{Sum, Variance};
use super::typing::order_domain;
use crate::compare::double;
use crate::{EvalCtx, EvalError, Expr, HashIndex, Warning};

/// The state of an accumulator.
#[derive(Clone, Copy, Debug)]
pub struct AccumulatorSpec<'a> {
    /// Function.
    pub func: AggFunc,
    /// Arguments as [`crate::Builder::aggregate`] returned them; none for COUNT(*).
    pub args: &'a [Expr],
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY inside GROUP_CONCAT: expressions and whether they descend.
    pub order: &'a [(&'a Expr, bool)],
    /// SEPARATOR of GROUP_CONCAT.
    pub separator: &'a [u8],
    /// Type of the result.
    pub ty: &'a SqlType,
}

/// A group's rows, gathered. Memory beyond its own size is charged to the statement.
#[derive(Debug)]
pub struct Accumulator {
    func: AggFunc,
    ty: SqlType,
    /// Rows that took part.
    count: u64,
    state: State,
    /// Keys of the rows seen, for DISTINCT.
    seen: Option<Box<Seen>>,
    /// Of the state.
    charge: Charge,
}

/// Keys of rows, and the current row's key.
#[derive(Debug)]
struct Seen {
    index: HashIndex,
    key: Vec<u8>,
    /// Distinct terms of a sum of doubles, whose order decides about its last digits.
    doubles: Vec<f64>,
}

impl Seen {
    fn new(account: &Rc<StatementAccount>) -> Seen {
        Seen { index: HashIndex::new(account), key: Vec::new(), doubles: Vec::new() }
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, term: f64, charge: &Charge) -> Result<(), EvalError> {
        /// Bytes of a term: a vector that grows has room for as many more.
        const TERM_BYTES: usize = 2 * size_of::<f64>();
        charge.add(TERM_BYTES)?;
        self.doubles.push(term);
        Ok(())
    }

    /// The sum of the terms, which MySQL adds from the least to the greatest.
    fn sum(&mut self) -> f64 {
        self.doubles.sort_unstable_by(f64::total_cmp);
        self.doubles.iter().fold(0.0, |sum, term| sum + term)
    }
}

#[derive(Debug)]
enum State {
    Count,
    Sum(Sum),
    Extreme(Extreme),
    Bits(Bits),
    Variance(Variance),
    Concat(Box<Concat>),
    First(OwnedValue),
}

impl Accumulator {
    /// An empty group of a statement.
    pub fn new(spec: &AccumulatorSpec<'_>, account: &Rc<StatementAccount>) -> Accumulator {
        let extreme = |wanted| {
            let domain = spec.args.first().map_or(crate::CmpDomain::Integer, order_domain);
            State::Extreme(Extreme::new(domain, wanted))
        };
        let state = match spec.func {
            AggFunc::Count => State::Count,
            AggFunc::Sum | AggFunc::Avg => State::Sum(Sum::new(spec.ty)),
            AggFunc::Min => extreme(Ordering::Less),
            AggFunc::Max => extreme(Ordering::Greater),
            AggFunc::BitAnd | AggFunc::BitOr | AggFunc::BitXor => State::Bits(Bits::new(spec.func, spec.ty)),
            AggFunc::StdPop | AggFunc::StdSamp | AggFunc::VarPop | AggFunc::VarSamp => {
                State::Variance(Variance::default())
            }
            AggFunc::GroupConcat => {
                let descends = spec.order.iter().map(|(_, descends)| *descends).collect();
                State::Concat(Box::new(Concat::new(spec.separator, descends)))
            }
            AggFunc::AnyValue => State::First(OwnedValue::Null),
        };
        // The extremes of a group and the bits of AND and OR do not change by repetition.
        let repeats_matter = !matches!(
            spec.func,
            AggFunc::Min | AggFunc::Max | AggFunc::AnyValue | AggFunc::BitAnd | AggFunc::BitOr
        );
        let seen = (spec.distinct && repeats_matter).then(|| Box::new(Seen::new(account)));
        let charge = Charge::new(account, Purpose::Other);
        Accumulator { func: spec.func, ty: spec.ty.clone(), count: 0, state, seen, charge }
    }

    /// Bytes that an empty accumulator of this kind takes beside its own size.
    pub fn heap_bytes(&self) -> usize {
        let concat = if matches!(self.state, State::Concat(_)) { size_of::<Concat>() } else { 0 };
        concat + if self.seen.is_some() { size_of::<Seen>() } else { 0 }
    }

    /// Takes in one row: the values of the arguments, and of GROUP_CONCAT's sort keys. NULLs do not count.
    pub fn update(
        &mut self,
        args: &[Value<'_>],
        order: &[Value<'_>],
        ctx: &EvalCtx<'_>,
    ) -> Result<(), EvalError> {
        if self.func == AggFunc::AnyValue {
            return self.keep_first(args);
        }
        if args.iter().any(Value::is_null) {
            return Ok(());
        }
        let number;
        let mut args = args;
        if let (Some(_), State::Sum(Sum::Double(_)), [text]) = (&self.seen, &self.state, args)
            && matches!(text, Value::Bytes { .. })
        {
            number = [Value::Double(kept_double(text, ctx))];
            args = &number;
        }
        if !self.is_new(args, ctx)? {
            return Ok(());
        }
        self.count += 1;
        let Some(value) = args.first() else { return Ok(()) };
        match &mut self.state {
            State::Count | State::First(_) => {}
            State::Sum(sum) => match &mut self.seen {
                Some(seen) if matches!(sum, Sum::Double(_)) => seen.keep(double(value, ctx), &self.charge)?,
                _ => sum.add(value, ctx)?,
            },
            State::Extreme(extreme) => extreme.add(value, ctx, &self.charge)?,
            State::Bits(bits) => bits.add(self.func, value, ctx)?,
            State::Variance(variance) => variance.add(double(value, ctx)),
            State::Concat(concat) => concat.add(args, order, ctx, &self.charge)?,
        }
        Ok(())
    }

    fn keep_first(&mut self, args: &[Value<'_>]) -> Result<(), EvalError> {
        if let (State::First(first), 0, Some(value)) = (&mut self.state, self.count, args.first()) {
            self.charge.add(value.heap_bytes())?;
            *first = value.to_owned_value();
            self.count = 1;
        }
        Ok(())
    }

    /// Whether DISTINCT lets the row take part.
    fn is_new(&mut self, args: &[Value<'_>], ctx: &EvalCtx<'_>) -> Result<bool, EvalError> {
        let Some(seen) = &mut self.seen else { return Ok(true) };
        let Seen { index, key, .. } = &mut **seen;
        key.clear();
        for value in args {
            append_group(value, key);
        }
        // A long key may be cut short by the end of a killed statement.
        ctx.fail_if_killed_over(key)?;
        Ok(index.insert(key)?.1)
    }

    /// The result; rows may not be taken in after it.
    pub fn result(&mut self, ctx: &EvalCtx<'_>) -> Result<OwnedValue, EvalError> {
        let is_empty = self.count == 0;
        if let (State::Sum(Sum::Double(sum)), Some(seen)) = (&mut self.state, &mut self.seen) {
            *sum = seen.sum();
        }
        Ok(match &mut self.state {
            State::Count => OwnedValue::Int(self.count as i64),
            State::Bits(bits) => bits.result(),
            State::Extreme(extreme) => extreme.result(),
            State::First(value) => value.clone(),
            State::Sum(_) if is_empty => OwnedValue::Null,
            State::Sum(sum) if self.func == AggFunc::Avg => {
                sum.average(self.count, &self.ty)?.to_owned_value()
            }
            State::Sum(sum) => sum.total(&self.ty)?.to_owned_value(),
            State::Variance(variance) => {
                variance.result(self.func)?.map_or(OwnedValue::Null, OwnedValue::Double)
            }
            State::Concat(concat) => match concat.result(self.ty.charset(), ctx, &self.charge)? {
                Some(text) => OwnedValue::Bytes { data: text.into(), collation: self.ty.collation },
                None => OwnedValue::Null,
            },
        })
    }
}

/// The double that a text is among distinct ones, which are kept as numbers.
fn kept_double(text: &Value<'_>, ctx: &EvalCtx<'_>) -> f64 {
    let read = text.to_f64();
    let mut scratch = Vec::new();
    let bytes = text.as_text(&mut scratch);
    let (_, consumed) = double_prefix(bytes);
    if consumed == 0 || !bytes[consumed..].trim_ascii().is_empty() {
        ctx.session.warn(Warning::NoDouble { value: text.message_text() });
    }
    read.value
}
