//! Keys whose parts are all integers: how their intervals are made. A key of fixed width is the number that
//! its bytes are, big-endian.

use sql::plan::{KeyBox, KeySet, PartTest};

use crate::int_code::IntCode;
use crate::int_points::IntPoints;
use crate::key_part::KeyPart;

/// Bytes of the widest key that is a number here.
pub(crate) const KEY_BYTES_MAX: usize = size_of::<u128>();

/// How the intervals of a [`KeySet`] over integer parts are made.
#[derive(Debug)]
pub(crate) struct IntKey {
    pub(crate) codes: Box<[IntCode]>,
    /// Every box is one value for each part.
    pub(crate) is_points: bool,
    /// The short way to such boxes.
    pub(crate) points: Option<IntPoints>,
    /// Bytes of a whole key.
    pub(crate) width: usize,
}

impl IntKey {
    /// `None` if some part is no integer, keys are too wide, or a box has other tests than equalities, lists
    /// of integers and bounds.
    pub(crate) fn new(keys: &KeySet, parts: &[KeyPart]) -> Option<Self> {
        // Two equalities of one part are no key.
        let is_point = |key_box: &KeyBox| {
            key_box.tests.len() == parts.len()
                && (0..)
                    .zip(&key_box.tests)
                    .all(|(at, (part, test))| *part == at && matches!(test, PartTest::Eq(_)))
        };
        let is_points = match keys.params() {
            Some(keys) => keys.parts == parts.len(),
            None => keys.boxes().iter().all(is_point),
        };
        if parts.is_empty() || !(is_points || keys.boxes().iter().all(has_plain_tests)) {
            return None;
        }
        let mut codes: Box<[IntCode]> = parts.iter().map(IntCode::new).collect::<Option<_>>()?;
        let mut bits_after = 0;
        for code in codes.iter_mut().rev() {
            code.bits_after = bits_after;
            bits_after += code.part_bits;
        }
        let width = codes.iter().map(|code| code.part_bits as usize / 8).sum();
        let points = IntPoints::new(keys, &codes);
        (width <= KEY_BYTES_MAX).then_some(IntKey { codes, is_points, points, width })
    }
}

/// Whether every part but the last tested has one test that leaves single values, and the last such a one or
/// bounds.
fn has_plain_tests(key_box: &KeyBox) -> bool {
    let last = key_box.parts().wrapping_sub(1);
    let is_bound = |(_, test): &(u16, PartTest)| {
        matches!(test, PartTest::Lower(..) | PartTest::Upper(..) | PartTest::IsNotNull)
    };
    let mut by_part = key_box.tests.chunk_by(|a, b| a.0 == b.0);
    by_part.all(|tests| match tests {
        [(_, PartTest::Eq(_) | PartTest::NullSafeEq(_) | PartTest::IsNull | PartTest::In(_))] => true,
        [(_, PartTest::InSubquery(subquery))] => subquery.ty.is_integer(),
        [(part, _), ..] => usize::from(*part) == last && tests.iter().all(is_bound),
        [] => false,
    })
}
