//! Data types as written.

/// Data types; synonyms are already folded (INTEGER is Int, DEC is Decimal, BOOL is TINYINT(1), ..).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "MySQL's own type names")]
pub enum TypeBase {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Decimal,
    /// FLOAT; FLOAT(p) keeps p as the length.
    Float,
    /// DOUBLE, DOUBLE PRECISION, REAL.
    Double,
    Bit,
    Date,
    Time,
    DateTime,
    Timestamp,
    Year,
    Char,
    VarChar,
    Binary,
    VarBinary,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    TinyText,
    Text,
    MediumText,
    LongText,
    Enum,
    Set,
    Json,
    Geometry,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    GeometryCollection,
}

/// A column's type.
#[derive(Clone, Copy, Debug)]
pub struct TypeName<'a> {
    /// Type.
    pub base: TypeBase,
    /// Length, display width, precision, or fractional digits of a time.
    pub length: Option<u32>,
    /// Scale.
    pub decimals: Option<u32>,
    /// UNSIGNED (ZEROFILL implies it).
    pub unsigned: bool,
    /// ZEROFILL.
    pub zerofill: bool,
    /// `BINARY` after a string type: the `_bin` collation of its character set.
    pub binary: bool,
    /// CHARACTER SET, also from ASCII, UNICODE, BYTE, NATIONAL.
    pub charset: Option<&'a str>,
    /// NATIONAL, NCHAR, NVARCHAR.
    pub national: bool,
    /// ASCII or UNICODE, which named the character set.
    pub charset_word: Option<&'static str>,
    /// A number in parentheses does not fit 32 bits.
    pub too_long: bool,
    /// Members of ENUM and SET.
    pub members: &'a [&'a str],
    /// SERIAL: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    pub serial: bool,
    /// BOOL, BOOLEAN: TINYINT(1).
    pub boolean: bool,
}

/// Target types of CAST and CONVERT.
#[derive(Clone, Copy, Debug)]
pub enum CastType<'a> {
    /// BINARY[(n)]
    Binary(Option<u32>),
    /// CHAR[(n)] [charset]
    Char {
        /// Length in characters.
        length: Option<u32>,
        /// CHARACTER SET.
        charset: Option<&'a str>,
        /// `CHAR BINARY`: the `_bin` collation.
        binary: bool,
        /// NCHAR, whose character set is utf8mb3.
        national: bool,
    },
    /// SIGNED [INTEGER]
    Signed,
    /// UNSIGNED [INTEGER]
    Unsigned,
    /// DATE
    Date,
    /// TIME[(fsp)]
    Time(Option<u32>),
    /// DATETIME[(fsp)]
    DateTime(Option<u32>),
    /// YEAR
    Year,
    /// DECIMAL[(precision[, scale])]
    Decimal(Option<u32>, Option<u32>),
    /// DOUBLE, REAL
    Double,
    /// FLOAT[(p)]
    Float(Option<u32>),
    /// JSON
    Json,
    /// POINT and the other spatial types: recognised only
    Spatial(TypeBase),
}
