//! COM_STMT_EXECUTE and its companions.

use crate::decode::{Decoder, malformed};
use crate::{BinaryDateTime, BinaryTime, ColumnType, Error};

/// Fixed part of COM_STMT_EXECUTE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execute<'a> {
    /// The statement.
    pub statement_id: u32,
    /// Cursor type; 0: none.
    pub cursor: u8,
    /// NULL bitmap, types and values, for [`Parameters`].
    pub params: &'a [u8],
}

impl<'a> Execute<'a> {
    /// Decodes `args`, the packet without its command byte.
    #[inline]
    pub fn parse(args: &'a [u8]) -> Result<Self, Error> {
        let mut d = Decoder::new(args);
        let statement_id = d.u32("statement id")?;
        let cursor = d.u8("cursor flags")?;
        d.u32("iteration count")?;
        Ok(Execute { statement_id, cursor, params: d.rest() })
    }
}

/// COM_STMT_SEND_LONG_DATA: a piece of parameter `param`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongData<'a> {
    /// The statement.
    pub statement_id: u32,
    /// Number of the parameter, from 0.
    pub param: u16,
    /// The piece.
    pub data: &'a [u8],
}

impl<'a> LongData<'a> {
    /// Decodes `args`, the packet without its command byte.
    pub fn parse(args: &'a [u8]) -> Result<Self, Error> {
        let mut d = Decoder::new(args);
        let statement_id = d.u32("statement id")?;
        let param = d.u16("parameter number")?;
        Ok(LongData { statement_id, param, data: d.rest() })
    }
}

/// Decodes the statement id that COM_STMT_CLOSE and COM_STMT_RESET consist of.
pub fn parse_statement_id(args: &[u8]) -> Result<u32, Error> {
    Decoder::new(args).u32("statement id")
}

/// Type of a parameter as bound by the client; kept from one execution to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamType {
    /// Type.
    pub column_type: ColumnType,
    /// Integers are unsigned.
    pub unsigned: bool,
}

/// Value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamValue<'a> {
    /// NULL.
    Null,
    /// Sent before with COM_STMT_SEND_LONG_DATA; the caller has it.
    LongData,
    /// Signed integer.
    Int(i64),
    /// Unsigned integer.
    UInt(u64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DATE.
    Date(BinaryDateTime),
    /// DATETIME or TIMESTAMP.
    DateTime(BinaryDateTime),
    /// TIME.
    Time(BinaryTime),
    /// DECIMAL as text.
    Decimal(&'a [u8]),
    /// Text in the client's character set.
    Text(&'a [u8]),
    /// Bytes (BLOB types, BIT, GEOMETRY).
    Bytes(&'a [u8]),
}

/// The parameters of one execution, decoded one after the other without allocating.
#[derive(Debug)]
pub struct Parameters<'p, 't> {
    values: Decoder<'p>,
    nulls: &'p [u8],
    types: &'t [ParamType],
    next: usize,
}

impl<'p, 't> Parameters<'p, 't> {
    /// Starts on `params` of a statement with `count` parameters. `types` holds what was bound by an earlier
    /// execution and is replaced if this one binds again; true with it then.
    ///
    /// # Errors
    /// [`Error::ParametersNotBound`], [`Error::UnknownParameterType`] and [`Error::Malformed`].
    // The caller that runs a statement must not pay for the other, which is cold.
    #[inline(always)]
    pub fn new(params: &'p [u8], count: usize, types: &'t mut Vec<ParamType>) -> Result<(Self, bool), Error> {
        let mut d = Decoder::new(params);
        let mut nulls: &[u8] = &[];
        let mut bound = false;
        if count > 0 {
            nulls = d.bytes(count.div_ceil(8), "NULL bitmap")?;
            bound = d.u8("new parameters flag")? != 0;
            if bound {
                bind(&mut d, count, types)?;
            }
            if types.len() != count {
                return Err(Error::ParametersNotBound);
            }
        }
        Ok((Parameters { values: d, nulls, types, next: 0 }, bound))
    }

    /// The types bound, one a parameter.
    pub fn types(&self) -> &'t [ParamType] {
        self.types
    }

    /// The next parameter's value; `None` after the last. `has_long_data` says whether its value came before.
    #[inline(always)]
    pub fn next(&mut self, has_long_data: bool) -> Result<Option<ParamValue<'p>>, Error> {
        let Some(&ty) = self.types.get(self.next) else {
            return Ok(None);
        };
        let at = self.next;
        self.next += 1;
        if has_long_data {
            return Ok(Some(ParamValue::LongData));
        }
        let is_null = self.nulls.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 != 0);
        if is_null {
            return Ok(Some(ParamValue::Null));
        }
        let values = &mut self.values;
        let value = match (ty.column_type, ty.unsigned) {
            (ColumnType::LongLong, false) => ParamValue::Int(values.u64("parameter")? as i64),
            (ColumnType::Long, false) => ParamValue::Int((values.u32("parameter")? as i32).into()),
            (ColumnType::VarString | ColumnType::VarChar, _) => {
                ParamValue::Text(values.lenenc_bytes("parameter")?)
            }
            _ => decode_value(values, ty)?,
        };
        Ok(Some(value))
    }
}

fn bind(d: &mut Decoder<'_>, count: usize, types: &mut Vec<ParamType>) -> Result<(), Error> {
    types.clear();
    for _ in 0..count {
        let [code, flags] = d.array("parameter type")?;
        let known = ColumnType::from_code(code).filter(|ty| is_bindable(*ty));
        let column_type = known.ok_or(Error::UnknownParameterType { code })?;
        types.push(ParamType { column_type, unsigned: flags & 0x80 != 0 });
    }
    Ok(())
}

/// Whether clients may bind parameters with a type, NULL or not: those that only columns have are refused.
fn is_bindable(ty: ColumnType) -> bool {
    use ColumnType::{Bit, Enum, Geometry, Int24, NewDate, Set, Year};
    !matches!(ty, Bit | Enum | Geometry | Int24 | NewDate | Set | Year)
}

/// A value that is not NULL; those that most clients send are decoded by [`Parameters::next`] itself.
#[inline(never)]
fn decode_value<'p>(d: &mut Decoder<'p>, ty: ParamType) -> Result<ParamValue<'p>, Error> {
    use ColumnType::{
        Bit, Blob, Bool, Date, DateTime, Decimal, Double, Enum, Float, Geometry, Int24, Json, Long, LongBlob,
        LongLong, MediumBlob, NewDate, NewDecimal, Null, Set, Short, String, Time, Timestamp, Tiny, TinyBlob,
        VarChar, VarString, Year,
    };
    Ok(match ty.column_type {
        Null => ParamValue::Null,
        Tiny | Bool => {
            let raw = d.u8("parameter")?;
            integer(ty.unsigned, u64::from(raw), i64::from(raw as i8))
        }
        Short => {
            let raw = d.u16("parameter")?;
            integer(ty.unsigned, u64::from(raw), i64::from(raw as i16))
        }
        Long => {
            let raw = d.u32("parameter")?;
            integer(ty.unsigned, u64::from(raw), i64::from(raw as i32))
        }
        LongLong => {
            let raw = d.u64("parameter")?;
            integer(ty.unsigned, raw, raw as i64)
        }
        Float => ParamValue::Float(f32::from_bits(d.u32("parameter")?)),
        Double => ParamValue::Double(f64::from_bits(d.u64("parameter")?)),
        Date => ParamValue::Date(BinaryDateTime::decode(d)?),
        DateTime | Timestamp => ParamValue::DateTime(BinaryDateTime::decode(d)?),
        Time => ParamValue::Time(BinaryTime::decode(d)?),
        Decimal | NewDecimal => ParamValue::Decimal(d.lenenc_bytes("parameter")?),
        VarChar | VarString | String | Json => ParamValue::Text(d.lenenc_bytes("parameter")?),
        TinyBlob | MediumBlob | LongBlob | Blob => ParamValue::Bytes(d.lenenc_bytes("parameter")?),
        Bit | Enum | Geometry | Int24 | NewDate | Set | Year => {
            return Err(Error::UnknownParameterType { code: ty.column_type as u8 });
        }
    })
}

#[inline]
fn integer<'p>(unsigned: bool, as_unsigned: u64, as_signed: i64) -> ParamValue<'p> {
    if unsigned { ParamValue::UInt(as_unsigned) } else { ParamValue::Int(as_signed) }
}

/// Decodes the argument of COM_SET_OPTION: true turns multi-statements on.
pub fn parse_set_option(args: &[u8]) -> Result<bool, Error> {
    match Decoder::new(args).u16("option")? {
        0 => Ok(true),
        1 => Ok(false),
        _ => Err(malformed("option")),
    }
}

#[cfg(test)]
mod tests;
