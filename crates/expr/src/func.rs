//! The operators and functions that are not forms of their own in [`crate::ExprKind`].

/// An operator or function. Argument counts and types are settled by the binder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Func {
    /// Unary minus.
    Neg,
}
