//! Implementations of operators and functions, one file per family.
//!
//! Each takes a [`Call`], fetches the arguments it needs in the form it needs, and returns NULL on the first
//! that is.

#![allow(clippy::unnecessary_wraps, reason = "the table of functions has one signature")]

pub(crate) mod arithmetic;
pub(crate) mod bits;
mod byte_search;
mod call;
pub(crate) mod choose;
pub(crate) mod clock;
pub(crate) mod date;
pub(crate) mod date_add;
pub(crate) mod date_parts;
pub(crate) mod encode;
pub(crate) mod epoch;
pub(crate) mod format;
pub(crate) mod hash;
mod hex_digits;
pub(crate) mod identifier;
pub(crate) mod info;
pub(crate) mod kept;
mod known_collation;
mod no_number;
pub(crate) mod number;
pub(crate) mod own_digits;
pub(crate) mod pad;
mod pieces;
pub(crate) mod radix;
pub(crate) mod random;
pub(crate) mod round;
pub(crate) mod search;
pub(crate) mod str_to_date;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod text_edit;
pub(crate) mod time;
pub(crate) mod user_lock;

pub(crate) use call::{
    Call, integer_of, is_calculated_moment, number_of_moment, signed, some, text_in_arena,
};
pub(crate) use known_collation::known_collation;
pub(crate) use no_number::{is_signed_by_width, warn_no_number, warn_of_sign};
pub(crate) use pieces::STEPS_BETWEEN_LOOKS;
pub use random::SeededRandom;
pub(crate) use str_to_date::format_parts;

#[cfg(test)]
mod long_tests;
#[cfg(test)]
mod tests;
