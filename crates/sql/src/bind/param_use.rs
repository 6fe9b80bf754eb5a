//! The uses of a statement's parameters: the result of the derivation in [`super::open_param`].

use types::SqlType;

/// How a statement uses a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParamRole {
    /// A value of the result, or what others are compared with: each value is converted to the parameter's
    /// type.
    #[default]
    Value,
    /// An operand: numbers, dates and times of another class than a given type keep their own.
    Operand,
    /// An operand beside numbers alone: each value keeps its own type beside a date or time type.
    BesideNumbers,
    /// An operand or argument that is read as a number: beside a kept type of dates and times, a value of
    /// another class stays as it is.
    Number,
    /// What an operator or function reads as a text: values of another class keep their own.
    Text,
    /// As [`ParamRole::Text`], but of texts where the type is a number the time is read.
    TimeText,
    /// A value that a union keeps as a text.
    KeptText,
    /// A bound of BETWEEN: what is no date or time counts as zero beside some, as NULL beside DATETIME.
    Bound,
    /// An item of a list of times: as [`ParamRole::Bound`], but an integer that is no time equals none.
    TimeItem,
    /// An operand of `<=>`, or an item of a list of dates: what is no date or time equals none, and is not
    /// NULL.
    Equal,
    /// What a YEAR column equals: the year that it stores of a number or text.
    StoredYear,
    /// A column of a derived table that a condition compares: what is no date or time is read as a number
    /// beside some.
    Below,
    /// A value that a column stores: it keeps the type of each value.
    Stored,
    /// The operand of a CAST: it keeps the type of each value, but that texts of numbers are numbers.
    Cast,
    /// An argument that a function reads as a date or time: it reads texts itself.
    Moment,
    /// As [`ParamRole::Moment`], where dates and times are read apart.
    Clock,
    /// A number of rows.
    RowCount,
}

/// How the user of a parameter reads a number in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberRead {
    /// One of the parameter's type.
    #[default]
    Own,
    /// An integer. A double beyond the range of integers is the least one.
    Integer,
    /// A DECIMAL.
    Decimal,
    /// A DOUBLE.
    Double,
}

/// The use of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamUse {
    /// The type that clients get. Its class decides whether a value of another type fits.
    pub described: SqlType,
    /// The type that values are converted to.
    pub ty: SqlType,
    /// The place of the parameter.
    pub role: ParamRole,
    /// How texts that are no numbers are read.
    pub reads: NumberRead,
    /// A DECIMAL has all digits after the point that its type has: results show as many.
    pub is_padded: bool,
    /// It is read once for each row that shows it, or never: a text that is no number is so, too.
    pub is_read_late: bool,
    /// The TIME column that the value equals, in whose words a text that is no time is warned of first.
    pub time_column: Option<Box<str>>,
}

impl ParamUse {
    /// The use of a parameter whose type is `ty` in every respect.
    pub(crate) fn of_type(ty: SqlType) -> Self {
        ParamUse {
            described: ty.clone(),
            ty,
            role: ParamRole::Value,
            reads: NumberRead::Own,
            is_padded: false,
            is_read_late: false,
            time_column: None,
        }
    }
}
