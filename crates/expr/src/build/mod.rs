//! Builds operators and functions over bound operands for the binder, typed by MySQL's rules.
//!
//! A [`Builder`] knows the settings of the session that typing depends on. Its methods choose comparison
//! domains and collations, convert constants where MySQL does, and refuse what MySQL refuses with a
//! [`BindError`].

mod arith;
mod branch_number;
mod branch_text;
mod call;
mod cast;
mod collation;
mod compare;
mod compare_domain;
mod control;
mod error;
mod format_width;
pub(crate) mod fsp;
mod full_scale;
pub(crate) mod func_rules;
mod in_list;
mod kept_constant;
mod literal;
mod logic;
mod moment_constant;
mod no_moment;
pub(crate) mod rules;
mod stored_integer;
mod stored_moment;
mod stored_year;
mod temporal;
mod types_of;
mod typing;

use types::{CollationId, SqlModes};

pub use cast::CastTo;
pub use error::BindError;
pub(crate) use kept_constant::is_read_apart;
pub use stored_year::stored_year;
pub use temporal::TrimSide;
pub(crate) use typing::{
    Class, byte_width, charset_of, class_of, decimal_digits, fixed_decimals, is_long_hexadecimal, is_number,
    is_text, kept_bytes, numeric_class, real_with_decimals, shown_chars, string_type,
};

/// Settings of the session that types depend on. `Copy`; make one per statement.
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    /// `collation_connection`: of literals and of numbers turned to text.
    pub collation: CollationId,
    /// `sql_mode`.
    pub modes: SqlModes,
    /// `div_precision_increment`: extra fraction digits of `/`.
    pub div_precision_increment: u8,
    /// Whether what is compared are parts of rows.
    pub rows: ComparedRows,
    /// Whether a text with the offset of a zone, compared with a column of dates and times, is that moment in
    /// the session's zone: in conditions of rows. Elsewhere comparisons take no notice of the offset.
    pub shifts_offsets: bool,
    /// Parameters are a client's, not literals that were lifted out of the text.
    pub has_client_params: bool,
}

/// The rows whose parts are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComparedRows {
    /// None: the values are whole.
    #[default]
    None,
    /// Rows in a list: constants beside columns of dates and times keep their fractions.
    List,
    /// Rows of which one is less: constants beside columns of dates, times and years stay what they are.
    Order,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            collation: CollationId::UTF8MB4_0900_AI_CI,
            modes: SqlModes::DEFAULT,
            div_precision_increment: types::decimal::DIV_PRECISION_INCREMENT,
            rows: ComparedRows::None,
            shifts_offsets: false,
            has_client_params: false,
        }
    }
}

#[cfg(test)]
mod tests;
