//! MIN and MAX.

use std::cmp::Ordering;

use base::memory::Charge;
use types::{OwnedValue, Value};

use crate::compare::compare_values;
use crate::{CmpDomain, EvalCtx, EvalError, fail_if_cut_short};

/// The least or largest value so far; of equal ones the first.
#[derive(Debug)]
pub(super) struct Extreme {
    best: OwnedValue,
    domain: CmpDomain,
    /// How a better value compares with the best.
    wanted: Ordering,
}

impl Extreme {
    /// No value yet.
    pub(super) fn new(domain: CmpDomain, wanted: Ordering) -> Extreme {
        Extreme { best: OwnedValue::Null, domain, wanted }
    }

    /// Looks at a value, which is not NULL.
    #[inline]
    pub(super) fn add(
        &mut self,
        value: &Value<'_>,
        ctx: &EvalCtx<'_>,
        charge: &Charge,
    ) -> Result<(), EvalError> {
        let best = self.best.as_value();
        let is_better = best.is_null() || compare_values(value, &best, self.domain, ctx) == Some(self.wanted);
        fail_if_cut_short(self.domain, [value, &best], ctx)?;
        if is_better {
            let bytes = value.heap_bytes();
            if bytes > 0 {
                charge.add(bytes)?;
                charge.remove(self.best.as_value().heap_bytes());
            }
            self.best = value.to_owned_value();
        }
        Ok(())
    }

    /// The value; NULL without one.
    pub(super) fn result(&self) -> OwnedValue {
        match &self.best {
            value @ (OwnedValue::Enum { collation, .. } | OwnedValue::Set { collation, .. }) => {
                let data = value.as_value().as_text(&mut Vec::new()).into();
                OwnedValue::Bytes { data, collation: *collation }
            }
            value => value.clone(),
        }
    }
}
