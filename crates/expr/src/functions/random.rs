//! RAND and UUID.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use types::Value;

use super::Call;
use crate::{EvalError, ExprKind, Func};

/// MySQL's generator of RAND(seed): two linear congruential numbers.
#[derive(Clone, Copy, Debug)]
pub struct SeededRandom {
    first: u64,
    second: u64,
}

impl SeededRandom {
    const MODULUS: u64 = 0x3fff_ffff;

    /// The sequence of RAND(`seed`).
    pub fn new(seed: u32) -> SeededRandom {
        let first = seed.wrapping_mul(0x1_0001).wrapping_add(55_555_555);
        let second = seed.wrapping_mul(0x1000_0001);
        SeededRandom { first: u64::from(first) % Self::MODULUS, second: u64::from(second) % Self::MODULUS }
    }

    /// The next number, 0 <= x < 1.
    pub fn next_number(&mut self) -> f64 {
        self.first = (self.first * 3 + self.second) % Self::MODULUS;
        self.second = (self.first + self.second + 33) % Self::MODULUS;
        self.first as f64 / Self::MODULUS as f64
    }
}

thread_local! {
    /// State of RAND() without a seed: a xorshift generator, seeded from the system's randomness.
    static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0) | 1);
}

fn next_random() -> u64 {
    STATE.with(|state| {
        let mut x = state.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state.set(x);
        x.wrapping_mul(0x2545_f491_4f6c_dd1d)
    })
}

/// RAND(), RAND(seed). A constant seed starts a sequence that the session keeps for the statement.
pub(crate) fn rand<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    let Some(arg) = call.args.first() else {
        return Ok(Value::Double((next_random() >> 11) as f64 / (1u64 << 53) as f64));
    };
    let seed = call.bits(0)?.unwrap_or(0) as u32;
    let place = std::ptr::from_ref(call.expr).addr();
    let is_constant = matches!(
        arg.kind,
        ExprKind::Const(_)
            | ExprKind::Param(_)
            | ExprKind::Call { func: Func::KeptValue | Func::CachedValue, .. }
    );
    if let (true, Some(next)) = (is_constant, call.ctx.session.next_seeded_random(place, seed)) {
        return Ok(Value::Double(next));
    }
    Ok(Value::Double(SeededRandom::new(seed).next_number()))
}

/// UUID, version 1: the clock, and a random node.
pub(crate) fn uuid<'v>(call: &Call<'v>) -> Result<Value<'v>, EvalError> {
    /// 100-nanosecond steps from 1582-10-15 to 1970.
    const GREGORIAN_OFFSET: u64 = 0x01b2_1dd2_1381_4000;
    let random = next_random();
    let ticks = (call.ctx.session.clock_micros() as u64).wrapping_mul(10).wrapping_add(GREGORIAN_OFFSET)
        + next_random() % 10;
    // The multicast bit marks a node that is not a network address.
    let node = random >> 16 | 1 << 40;
    let text = format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{node:012x}",
        ticks as u32,
        (ticks >> 32) as u16,
        (ticks >> 48) as u16 & 0x0fff | 0x1000,
        random as u16 & 0x3fff | 0x8000,
    );
    call.copied(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_sequence_of_mysql() {
        let mut random = SeededRandom::new(1);
        assert_eq!(random.next_number(), 0.40540353712197724);
        assert_eq!(random.next_number(), 0.8716141803857071);
        assert_eq!(random.next_number(), 0.1418603212962489);
    }
}
