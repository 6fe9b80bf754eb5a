//! What expressions outside of plans are evaluated with.

use types::OwnedValue;

/// The context in which an expression is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Text of the statement.
    pub sql: &'a [u8],
    /// Values of `?`, in order.
    pub params: &'a [OwnedValue],
}
