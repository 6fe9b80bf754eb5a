//! Sets of keys: what a condition leaves of an index.

use std::fmt;
use std::sync::OnceLock;

use expr::{Expr, ExprKind};
use smallvec::SmallVec;
use types::{SqlType, TypeKind};

/// Tests of a box that need no allocation of their own: lists of keys have a box for each key.
const INLINE_TESTS: usize = 2;
/// Display width of a parameter that stands for an integer literal: that of any BIGINT.
const INT_PARAM_WIDTH: u32 = 20;

/// A set of keys of one index: the union of its boxes.
///
/// ```text
/// a = 1 AND (b = 5 OR b > 7)     box 0: [a = 1] [b = 5]     box 1: [a = 1] [b > 7]
/// ```
/// The executor makes disjoint intervals of it, in key order, from the values of one run.
#[derive(Clone, Default)]
pub struct KeySet {
    /// See [`KeySet::boxes`]; those of `keys` are made when something asks for them.
    boxes: OnceLock<Vec<KeyBox>>,
    keys: Option<ParamKeys>,
}

/// Keys of integer parameters, one for each of the first parts.
#[derive(Clone, Debug)]
pub struct ParamKeys {
    /// What the parameters are.
    pub origin: ParamOrigin,
    /// Parts of a key.
    pub parts: usize,
    /// Numbers of the parameters, key by key.
    pub numbers: Box<[u16]>,
}

/// What integer parameters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamOrigin {
    /// Integer literals of the text: none is NULL.
    Literals,
    /// A client, of a prepared statement that compares them with signed integers. They may have values of
    /// other types when it runs.
    Client,
}

/// A conjunction of tests on the first parts of an index. Every part before the last has a test that leaves
/// single values.
#[derive(Clone, Debug, Default)]
pub struct KeyBox {
    /// The tests, ascending by part, at least one on each.
    pub tests: SmallVec<[(u16, PartTest); INLINE_TESTS]>,
}

/// A test of the value of one part. All but [`PartTest::NullSafeEq`] and [`PartTest::IsNull`] leave NULLs
/// out, and find nothing where a value asked for is NULL.
#[derive(Clone, Debug)]
pub enum PartTest {
    /// `=`
    Eq(Expr),
    /// `<=>`
    NullSafeEq(Expr),
    /// IN.
    In(Box<[Expr]>),
    /// IN of a subquery that names nothing outside: the subquery expression. It is run for the values.
    InSubquery(Box<Expr>),
    /// `<>` and NOT IN.
    NotIn(Box<[Expr]>),
    /// `>` and `>=` (true).
    Lower(Expr, bool),
    /// `<` and `<=` (true).
    Upper(Expr, bool),
    /// IS NULL.
    IsNull,
    /// IS NOT NULL.
    IsNotNull,
    /// The characters before the pattern's first wildcard.
    Like {
        /// The pattern.
        pattern: Expr,
        /// Escape character; `None` for `ESCAPE ''`.
        escape: Option<char>,
    },
}

impl KeySet {
    /// The union of `boxes`.
    pub fn new(boxes: Vec<KeyBox>) -> Self {
        KeySet { boxes: OnceLock::from(boxes), keys: None }
    }

    /// The keys `keys`.
    pub fn of_params(keys: ParamKeys) -> Self {
        KeySet { boxes: OnceLock::new(), keys: Some(keys) }
    }

    /// Its keys, if it was made of parameters.
    pub fn params(&self) -> Option<&ParamKeys> {
        self.keys.as_ref()
    }

    /// The boxes; they may overlap.
    pub fn boxes(&self) -> &[KeyBox] {
        self.boxes.get_or_init(|| self.keys.as_ref().map_or_else(Vec::new, ParamKeys::boxes))
    }

    /// Number of boxes.
    pub fn len(&self) -> usize {
        self.keys.as_ref().map_or_else(|| self.boxes().len(), ParamKeys::len)
    }

    /// Whether it has no box.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Leading parts that the longest box tests.
    pub fn parts(&self) -> usize {
        if let Some(keys) = &self.keys {
            return keys.parts;
        }
        self.boxes().iter().map(KeyBox::parts).max().unwrap_or(0)
    }

    /// The values that the tests name.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.boxes().iter().flat_map(|b| &b.tests).flat_map(|(_, test)| test.exprs())
    }

    /// Whether a key with a NULL may be in the set.
    pub fn finds_nulls(&self) -> bool {
        let finds = |test: &PartTest| matches!(test, PartTest::NullSafeEq(_) | PartTest::IsNull);
        self.keys.is_none() && self.boxes().iter().flat_map(|b| &b.tests).any(|(_, test)| finds(test))
    }

    /// Whether every key in the set has one value in each of the first `parts` parts.
    pub fn is_points(&self, parts: usize) -> bool {
        if let Some(keys) = &self.keys {
            return keys.parts == parts;
        }
        self.boxes().iter().all(|b| b.parts() == parts && (0..parts).all(|part| b.is_point(part as u16)))
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySet").field("boxes", &self.boxes()).finish()
    }
}

impl ParamKeys {
    /// Number of keys.
    pub fn len(&self) -> usize {
        self.numbers.len() / self.parts.max(1)
    }

    /// Whether it has no key.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// A box of equalities for each key. Lists whose values are all integers are read without them.
    #[cold]
    #[inline(never)]
    fn boxes(&self) -> Vec<KeyBox> {
        let test = |(part, number): (u16, &u16)| (part, PartTest::Eq(self.origin.param(*number)));
        let key_box = |key: &[u16]| KeyBox { tests: (0..).zip(key).map(test).collect() };
        self.numbers.chunks_exact(self.parts.max(1)).map(key_box).collect()
    }
}

impl ParamOrigin {
    /// What `expr` comes from, and its number, if it is such a parameter.
    pub(crate) fn of(expr: &Expr) -> Option<(ParamOrigin, u16)> {
        let ExprKind::Param(number) = expr.kind else { return None };
        if expr.ty.kind != TypeKind::BigInt || expr.ty.unsigned {
            return None;
        }
        let origin = if expr.nullable { ParamOrigin::Client } else { ParamOrigin::Literals };
        Some((origin, number))
    }

    /// The parameter `number`.
    fn param(self, number: u16) -> Expr {
        match self {
            ParamOrigin::Literals => int_param(number),
            ParamOrigin::Client => {
                Expr { kind: ExprKind::Param(number), ty: SqlType::bigint(), nullable: true }
            }
        }
    }
}

/// The parameter `number`, which stands for an integer literal.
pub(crate) fn int_param(number: u16) -> Expr {
    let ty = SqlType::new(TypeKind::BigInt, INT_PARAM_WIDTH);
    Expr { kind: ExprKind::Param(number), ty, nullable: false }
}

impl KeyBox {
    /// Leading parts that are tested.
    pub fn parts(&self) -> usize {
        self.tests.last().map_or(0, |(part, _)| usize::from(*part) + 1)
    }

    /// The tests on `part`.
    pub fn on(&self, part: u16) -> impl Iterator<Item = &PartTest> {
        self.tests.iter().filter(move |(at, _)| *at == part).map(|(_, test)| test)
    }

    /// How many keys it has, if all tests leave single values; else 0.
    pub(crate) fn points(&self) -> usize {
        let parts = 0..self.parts() as u16;
        let values = |part: u16| {
            self.on(part).filter(|test| test.is_point()).map(|test| test.exprs().len().max(1)).min()
        };
        parts.map(|part| values(part).unwrap_or(0)).fold(1, usize::saturating_mul)
    }

    /// Whether a test on `part` leaves single values.
    pub fn is_point(&self, part: u16) -> bool {
        self.on(part).any(PartTest::is_point)
    }
}

impl PartTest {
    /// Whether it leaves single values.
    pub fn is_point(&self) -> bool {
        matches!(
            self,
            PartTest::Eq(_)
                | PartTest::NullSafeEq(_)
                | PartTest::In(_)
                | PartTest::InSubquery(_)
                | PartTest::IsNull
        )
    }

    /// The values it names, or the subquery that gives them.
    pub fn exprs(&self) -> &[Expr] {
        match self {
            PartTest::Eq(value)
            | PartTest::NullSafeEq(value)
            | PartTest::Lower(value, _)
            | PartTest::Upper(value, _)
            | PartTest::Like { pattern: value, .. } => std::slice::from_ref(value),
            PartTest::In(values) | PartTest::NotIn(values) => values,
            PartTest::InSubquery(subquery) => std::slice::from_ref(subquery),
            PartTest::IsNull | PartTest::IsNotNull => &[],
        }
    }
}
