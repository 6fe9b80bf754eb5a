//! Values of system variables, and what SET may turn into one.

use std::sync::Arc;

use types::collation::{Charset, Collation};
use types::{CollationId, Locale, OwnedValue, SqlModes};

use super::definition::{VarDef, VarKind};
use super::only_default;
use super::sql_mode::from_number;
use crate::compression;
use crate::error_map::{self, SqlError};

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum VarValue {
    /// NULL.
    Null,
    /// ON or OFF.
    Bool(bool),
    /// Signed integer.
    Int(i64),
    /// Unsigned integer.
    UInt(u64),
    /// Number.
    Double(f64),
    /// Text in its canonical spelling.
    Text(Arc<str>),
}

/// The right side of an assignment. Bare words are [`SetValue::Text`].
#[derive(Clone, Debug, PartialEq)]
pub enum SetValue {
    /// DEFAULT.
    Default,
    /// NULL.
    Null,
    /// Integer.
    Int(i64),
    /// Integer beyond the signed range.
    UInt(u64),
    /// Any other number.
    Double(f64),
    /// Text or bare word.
    Text(String),
}

/// A value that an assignment gives, and whether it had to be clamped (warning 1292).
pub(super) type Coerced = (VarValue, bool);

impl VarValue {
    /// Text as SHOW VARIABLES shows it; `None` for NULL.
    pub fn show(&self) -> Option<String> {
        Some(match self {
            VarValue::Null => return None,
            VarValue::Bool(on) => if *on { "ON" } else { "OFF" }.to_owned(),
            VarValue::Int(value) => value.to_string(),
            VarValue::UInt(value) => value.to_string(),
            VarValue::Double(value) => format!("{value:.6}"),
            VarValue::Text(text) => text.to_string(),
        })
    }

    /// The value as an expression sees it: switches are 0 and 1.
    pub(crate) fn into_owned_value(self) -> OwnedValue {
        match self {
            VarValue::Null => OwnedValue::Null,
            VarValue::Bool(on) => OwnedValue::Int(i64::from(on)),
            VarValue::Int(value) => OwnedValue::Int(value),
            VarValue::UInt(value) => OwnedValue::UInt(value),
            VarValue::Double(value) => OwnedValue::Double(value),
            VarValue::Text(text) => {
                OwnedValue::Bytes { data: text.as_bytes().into(), collation: CollationId::UTF8MB4_0900_AI_CI }
            }
        }
    }

    /// Whether the value is ON.
    pub(crate) fn as_bool(&self) -> bool {
        matches!(self, VarValue::Bool(true))
    }

    /// The value as an unsigned integer, 0 if it is none.
    pub fn as_u64(&self) -> u64 {
        match *self {
            VarValue::UInt(value) => value,
            VarValue::Int(value) => value.max(0) as u64,
            VarValue::Bool(on) => u64::from(on),
            _ => 0,
        }
    }

    /// The value as a number, 0 if it is none.
    pub(crate) fn as_f64(&self) -> f64 {
        match *self {
            VarValue::Double(value) => value,
            _ => self.as_u64() as f64,
        }
    }

    /// The value as text, empty if it is none.
    pub fn as_text(&self) -> &str {
        if let VarValue::Text(text) = self { text } else { "" }
    }
}

impl SetValue {
    fn describe(&self) -> String {
        match self {
            SetValue::Default => "DEFAULT".to_owned(),
            SetValue::Null => "NULL".to_owned(),
            SetValue::Int(value) => value.to_string(),
            SetValue::UInt(value) => value.to_string(),
            SetValue::Double(value) => value.to_string(),
            SetValue::Text(text) => text.clone(),
        }
    }
}

fn text(value: &str) -> VarValue {
    VarValue::Text(Arc::from(value))
}

impl VarDef {
    /// The default value.
    pub fn default_value(&self) -> VarValue {
        let parsed = self.written(self.default).and_then(|set| self.coerce_to_kind(&set).ok());
        parsed.map_or_else(|| text(self.default), |(value, _)| value)
    }

    /// The value that `written` (an option's argument or a default) stands for; `None` if it is not allowed.
    pub fn parse(&self, written: &str) -> Option<VarValue> {
        self.coerce(&self.written(written)?).ok().map(|(value, _)| value)
    }

    fn written(&self, written: &str) -> Option<SetValue> {
        Some(match self.kind {
            VarKind::UInt(..) | VarKind::Int(..) | VarKind::Double(..) => parse_number(written)?,
            VarKind::NullableText | VarKind::NullableCharset if written == "NULL" => SetValue::Null,
            VarKind::SqlMode | VarKind::Bool | VarKind::Enum(_) => {
                written.parse().map_or_else(|_| SetValue::Text(written.to_owned()), SetValue::Int)
            }
            _ => SetValue::Text(written.to_owned()),
        })
    }

    /// Turns the right side of an assignment into a value of this variable.
    ///
    /// # Errors
    /// 1231 (also for a value that would have no effect) and 1232, or the kind's own error for an unknown
    /// name.
    pub(super) fn coerce(&self, set: &SetValue) -> Result<Coerced, SqlError> {
        let coerced = self.coerce_to_kind(set)?;
        let is_refused = only_default::is_only_default(self.name) && coerced.0 != self.default_value();
        if is_refused { Err(self.wrong_value(set)) } else { Ok(coerced) }
    }

    fn coerce_to_kind(&self, set: &SetValue) -> Result<Coerced, SqlError> {
        let coerced = match self.kind {
            VarKind::Bool => bool_of(set).map(|value| (VarValue::Bool(value), false)),
            VarKind::UInt(min, max) => return self.clamp_unsigned(set, min, max),
            VarKind::Int(min, max) => return self.clamp_signed(set, min, max),
            VarKind::Double(min, max) => return self.clamp_double(set, min, max),
            VarKind::Text | VarKind::NullableText => return self.text_of(set),
            VarKind::Enum(names) => enum_of(set, names).map(|value| (value, false)),
            VarKind::SqlMode => sql_mode_of(set).map(|value| (value, false)),
            VarKind::Charset | VarKind::NullableCharset => return self.charset_of(set),
            VarKind::Collation => return self.collation_of(set),
            VarKind::TimeZone => return time_zone_of(set).map(|value| (value, false)),
            VarKind::Locale => return self.locale_of(set),
            VarKind::Compression => return self.compression_of(set),
            VarKind::Switches(names) => return self.switches_of(set, names),
        };
        coerced.ok_or_else(|| self.wrong_value(set))
    }

    #[cold]
    fn wrong_value(&self, set: &SetValue) -> SqlError {
        error_map::WRONG_VALUE_FOR_VAR.with(&[&self.name, &set.describe()])
    }

    /// A locale by its name or number.
    fn locale_of(&self, set: &SetValue) -> Result<Coerced, SqlError> {
        let found = match set {
            SetValue::Text(name) => Locale::find(name),
            SetValue::Int(number) => usize::try_from(*number).ok().and_then(Locale::numbered),
            SetValue::Null => return Err(self.wrong_value(set)),
            _ => None,
        };
        let locale = found.ok_or_else(|| error_map::UNKNOWN_LOCALE.with(&[&set.describe()]))?;
        Ok((text(locale.name()), false))
    }

    #[cold]
    fn wrong_type(&self) -> SqlError {
        error_map::WRONG_TYPE_FOR_VAR.with(&[&self.name])
    }

    fn clamp_unsigned(&self, set: &SetValue, min: u64, max: u64) -> Result<Coerced, SqlError> {
        let (value, below) = match *set {
            SetValue::Int(value) => (value.max(0) as u64, value < 0),
            SetValue::UInt(value) => (value, false),
            _ => return Err(self.wrong_type()),
        };
        let clamped = value.clamp(min, max);
        Ok((VarValue::UInt(clamped), below || clamped != value))
    }

    fn clamp_signed(&self, set: &SetValue, min: i64, max: i64) -> Result<Coerced, SqlError> {
        let (value, above) = match *set {
            SetValue::Int(value) => (value, false),
            SetValue::UInt(value) => (i64::try_from(value).unwrap_or(i64::MAX), value > i64::MAX as u64),
            _ => return Err(self.wrong_type()),
        };
        let clamped = value.clamp(min, max);
        Ok((VarValue::Int(clamped), above || clamped != value))
    }

    fn clamp_double(&self, set: &SetValue, min: f64, max: f64) -> Result<Coerced, SqlError> {
        let value = match *set {
            SetValue::Int(value) => value as f64,
            SetValue::UInt(value) => value as f64,
            SetValue::Double(value) => value,
            _ => return Err(self.wrong_type()),
        };
        let clamped = value.clamp(min, max);
        Ok((VarValue::Double(clamped), clamped != value))
    }

    fn text_of(&self, set: &SetValue) -> Result<Coerced, SqlError> {
        match set {
            SetValue::Text(value) => Ok((text(value), false)),
            SetValue::Null if self.kind == VarKind::NullableText => Ok((VarValue::Null, false)),
            SetValue::Null => Err(self.wrong_value(set)),
            _ => Err(self.wrong_type()),
        }
    }

    fn compression_of(&self, set: &SetValue) -> Result<Coerced, SqlError> {
        match set {
            SetValue::Text(list) if compression::is_algorithm_list(list) => Ok((text(list), false)),
            SetValue::Text(_) | SetValue::Null => Err(self.wrong_value(set)),
            _ => Err(self.wrong_type()),
        }
    }

    fn charset_of(&self, set: &SetValue) -> Result<Coerced, SqlError> {
        let charset = match set {
            SetValue::Null if self.kind == VarKind::NullableCharset => return Ok((VarValue::Null, false)),
            SetValue::Text(name) => {
                Charset::find(name).ok_or_else(|| error_map::UNKNOWN_CHARACTER_SET.with(&[name]))?
            }
            SetValue::Int(id) => collation_by_number(*id)?.charset,
            SetValue::Null => return Err(self.wrong_value(set)),
            _ => return Err(self.wrong_type()),
        };
        Ok((text(charset.name()), false))
    }

    fn collation_of(&self, set: &SetValue) -> Result<Coerced, SqlError> {
        let collation = match set {
            SetValue::Text(name) => {
                Collation::find(name).ok_or_else(|| error_map::UNKNOWN_COLLATION.with(&[name]))?
            }
            SetValue::Int(id) => collation_by_number(*id)?,
            SetValue::Null => return Err(self.wrong_value(set)),
            _ => return Err(self.wrong_type()),
        };
        Ok((text(collation.name), false))
    }

    /// `a=on,b=off`: the named switches, all others as they are by default.
    fn switches_of(&self, set: &SetValue, names: &[&str]) -> Result<Coerced, SqlError> {
        let SetValue::Text(written) = set else {
            return Err(self.wrong_type());
        };
        let mut value = self.default.to_owned();
        for part in written.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            if part.eq_ignore_ascii_case("default") {
                continue;
            }
            let known = part.split_once('=').filter(|(name, _)| names.contains(&name.trim()));
            let Some((name, state)) = known else {
                return Err(self.wrong_value(&SetValue::Text(part.to_owned())));
            };
            let (name, state) = (name.trim(), state.trim().to_ascii_lowercase());
            if !matches!(state.as_str(), "on" | "off" | "default") {
                return Err(self.wrong_value(&SetValue::Text(part.to_owned())));
            }
            if state != "default" {
                let other = if state == "on" { "off" } else { "on" };
                value = value.replace(&format!("{name}={other}"), &format!("{name}={state}"));
            }
        }
        Ok((text(&value), false))
    }
}

fn collation_by_number(id: i64) -> Result<&'static Collation, SqlError> {
    let found = u16::try_from(id).ok().and_then(|id| CollationId(id).collation());
    found.ok_or_else(|| error_map::UNKNOWN_COLLATION.with(&[&id]))
}

/// What `written`, an option's argument, says of a switch; `None`: neither ON nor OFF.
pub(crate) fn parse_switch(written: &str) -> Option<bool> {
    bool_of(&written.parse().map_or_else(|_| SetValue::Text(written.to_owned()), SetValue::Int))
}

fn bool_of(set: &SetValue) -> Option<bool> {
    match set {
        SetValue::Int(0) => Some(false),
        SetValue::Int(1) => Some(true),
        SetValue::Text(word) => match word.to_ascii_lowercase().as_str() {
            "on" | "true" => Some(true),
            "off" | "false" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn enum_of(set: &SetValue, names: &[&str]) -> Option<VarValue> {
    let name = match set {
        SetValue::Text(word) => names.iter().find(|name| name.eq_ignore_ascii_case(word))?,
        SetValue::Int(at) => names.get(usize::try_from(*at).ok()?)?,
        _ => return None,
    };
    Some(text(name))
}

fn sql_mode_of(set: &SetValue) -> Option<VarValue> {
    let mode = match set {
        SetValue::Text(names) => SqlModes::parse(names).ok()?,
        SetValue::Int(bits) => from_number(u64::try_from(*bits).ok()?)?,
        SetValue::UInt(bits) => from_number(*bits)?,
        _ => return None,
    };
    Some(text(&mode.text()))
}

fn time_zone_of(set: &SetValue) -> Result<VarValue, SqlError> {
    let SetValue::Text(name) = set else {
        return Err(error_map::UNKNOWN_TIME_ZONE.with(&[&set.describe()]));
    };
    if name.eq_ignore_ascii_case("SYSTEM") {
        return Ok(text("SYSTEM"));
    }
    match super::hot::parse_time_zone(name) {
        Some(_) => Ok(text(name)),
        None => Err(error_map::UNKNOWN_TIME_ZONE.with(&[name])),
    }
}

/// A number with an optional size suffix K, M, G, T.
fn parse_number(written: &str) -> Option<SetValue> {
    if let Ok(value) = written.parse() {
        return Some(SetValue::Int(value));
    }
    if let Ok(value) = written.parse() {
        return Some(SetValue::UInt(value));
    }
    let shift = match written.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => 10,
        b'm' => 20,
        b'g' => 30,
        b't' => 40,
        _ => return written.parse().ok().map(SetValue::Double),
    };
    let count: u64 = written[..written.len() - 1].parse().ok()?;
    count.checked_mul(1 << shift).map(SetValue::UInt)
}
