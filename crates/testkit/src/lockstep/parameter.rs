//! Values of the parameters of prepared statements, as they are sent.

/// A value and the type that it is announced with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    code: u8,
    is_unsigned: bool,
    /// `None` is NULL.
    bytes: Option<Vec<u8>>,
    /// The value for people.
    shown: String,
}

impl Parameter {
    /// NULL, announced with the type of `code`.
    pub fn null(code: u8) -> Self {
        Parameter { code, is_unsigned: false, bytes: None, shown: format!("NULL of type {code}") }
    }

    /// An integer of 1, 2, 4 or 8 bytes.
    pub fn integer(value: i128, width: usize) -> Self {
        let code = match width {
            1 => 1,
            2 => 2,
            4 => 3,
            _ => 8,
        };
        let is_unsigned = value >= 1 << (8 * width - 1);
        let bytes = value.to_le_bytes()[..width].to_vec();
        let shown = format!("{value} of {width} bytes{}", if is_unsigned { ", unsigned" } else { "" });
        Parameter { code, is_unsigned, bytes: Some(bytes), shown }
    }

    /// A DOUBLE.
    pub fn double(value: f64) -> Self {
        let bytes = Some(value.to_le_bytes().to_vec());
        Parameter { code: 5, is_unsigned: false, bytes, shown: format!("{value:?} as DOUBLE") }
    }

    /// A FLOAT.
    pub fn float(value: f32) -> Self {
        let bytes = Some(value.to_le_bytes().to_vec());
        Parameter { code: 4, is_unsigned: false, bytes, shown: format!("{value:?} as FLOAT") }
    }

    /// A text of the type of `code`: VARCHAR (253), BLOB (252), DECIMAL (246) and their kin; below 251 bytes.
    pub fn text(value: &str, code: u8) -> Self {
        let mut bytes = vec![value.len() as u8];
        bytes.extend(value.as_bytes());
        Parameter { code, is_unsigned: false, bytes: Some(bytes), shown: format!("{value:?} of type {code}") }
    }

    /// A DATE (10), DATETIME (12) or TIMESTAMP (7) of year, month, day, hour, minute and second.
    pub fn moment(code: u8, [year, month, day, hour, minute, second]: [u16; 6]) -> Self {
        let mut bytes = vec![if code == 10 { 4 } else { 7 }];
        bytes.extend(year.to_le_bytes());
        bytes.extend([month as u8, day as u8]);
        if code != 10 {
            bytes.extend([hour as u8, minute as u8, second as u8]);
        }
        let shown = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} of type {code}");
        Parameter { code, is_unsigned: false, bytes: Some(bytes), shown }
    }

    /// A TIME of days and hours.
    pub fn time(is_negative: bool, days: u32, hours: u8) -> Self {
        let mut bytes = vec![8, u8::from(is_negative)];
        bytes.extend(days.to_le_bytes());
        bytes.extend([hours, 59, 58]);
        let sign = if is_negative { "-" } else { "" };
        Parameter {
            code: 11,
            is_unsigned: false,
            bytes: Some(bytes),
            shown: format!("{sign}{days} {hours}:59:58"),
        }
    }

    /// The value for people.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Appends what COM_STMT_EXECUTE sends for all parameters.
    pub(crate) fn encode_all(values: &[Parameter], out: &mut Vec<u8>) {
        if values.is_empty() {
            return;
        }
        let mut nulls = vec![0u8; values.len().div_ceil(8)];
        for (at, value) in values.iter().enumerate() {
            nulls[at / 8] |= u8::from(value.bytes.is_none()) << (at % 8);
        }
        out.extend(nulls);
        // The types follow.
        out.push(1);
        for value in values {
            out.extend([value.code, if value.is_unsigned { 0x80 } else { 0 }]);
        }
        for bytes in values.iter().filter_map(|value| value.bytes.as_ref()) {
            out.extend(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_types_and_values_stand_in_their_order() {
        let mut out = Vec::new();
        let values = [Parameter::integer(255, 1), Parameter::null(6), Parameter::text("ab", 253)];
        Parameter::encode_all(&values, &mut out);
        assert_eq!(out, [0b010, 1, 1, 0x80, 6, 0, 253, 0, 255, 2, b'a', b'b']);
    }
}
