//! `x > ANY (SELECT ..)` and `x <= ALL (SELECT ..)`.

use std::cmp::Ordering;

use expr::{CmpDomain, CmpOp, EvalCtx, compare_values, fail_if_cut_short};
use types::{OwnedValue, Value};

use crate::answer::Extremes;
use crate::error::Result;
use crate::query_run::QueryRun;
use crate::query_values::each_value;
use crate::source::Flow;

/// A comparison with all values of a subquery.
#[derive(Clone, Copy)]
pub(crate) struct Quantified {
    pub(crate) op: CmpOp,
    /// ALL; ANY otherwise.
    pub(crate) all: bool,
    pub(crate) domain: CmpDomain,
}

impl Extremes {
    /// Of the values of `inner`, compared in `domain`.
    pub(crate) fn collect<'r>(inner: &'r QueryRun<'r>, domain: CmpDomain) -> Result<Extremes> {
        let mut found = Extremes { least: OwnedValue::Null, most: OwnedValue::Null, has_null: false };
        each_value(inner, |value, ctx| {
            if value.is_null() {
                found.has_null = true;
                return Ok(Flow::More);
            }
            for (kept, wanted) in [(&mut found.least, Ordering::Less), (&mut found.most, Ordering::Greater)] {
                if kept.is_null() || order(inner, value, &kept.as_value(), domain, ctx)? == Some(wanted) {
                    *kept = value.to_owned_value();
                }
            }
            Ok(Flow::More)
        })?;
        Ok(found)
    }
}

impl Quantified {
    /// The truth of the comparison of `needle` with finished values.
    pub(crate) fn of(
        self,
        needle: &Value<'_>,
        values: &Extremes,
        run: &QueryRun<'_>,
        ctx: &EvalCtx<'_>,
    ) -> Result<Option<bool>> {
        if values.least.is_null() {
            return Ok(if values.has_null { None } else { Some(self.all) });
        }
        if needle.is_null() {
            return Ok(None);
        }
        for value in [&values.least, &values.most] {
            let is_true =
                order(run, needle, &value.as_value(), self.domain, ctx)?.map(|o| self.op.accepts(o));
            if is_true == Some(!self.all) {
                return Ok(is_true);
            }
        }
        Ok(if values.has_null { None } else { Some(self.all) })
    }

    /// The truth of the comparison of `needle` with the values of `inner`, which is not read further than
    /// needed.
    pub(crate) fn over<'r>(self, needle: &Value<'_>, inner: &'r QueryRun<'r>) -> Result<Option<bool>> {
        let (mut decided, mut unknown) = (false, false);
        each_value(inner, |value, ctx| {
            match order(inner, needle, value, self.domain, ctx)?.map(|order| self.op.accepts(order)) {
                Some(is_true) => decided = is_true != self.all,
                None => unknown = true,
            }
            Ok(if decided { Flow::Enough } else { Flow::More })
        })?;
        Ok(match (decided, unknown) {
            (true, _) => Some(!self.all),
            (false, true) => None,
            (false, false) => Some(self.all),
        })
    }
}

/// The order of two values; `None` if one is NULL.
fn order(
    run: &QueryRun<'_>,
    a: &Value<'_>,
    b: &Value<'_>,
    domain: CmpDomain,
    ctx: &EvalCtx<'_>,
) -> Result<Option<Ordering>> {
    let order = compare_values(a, b, domain, ctx);
    fail_if_cut_short(domain, [a, b], ctx).map_err(|error| run.st.eval_error(error))?;
    Ok(order)
}
