//! One value for each system variable.

use std::sync::Arc;

use types::collation::{Charset, Collation};

use super::definition::find;
use super::hot::HotVariables;
use super::table::ALL;
use super::value::{SetValue, VarValue};
use crate::error_map::{self, SqlError};

/// The values of all system variables, the server's or one session's. Cloning shares them until one is
/// assigned.
#[derive(Clone, Debug)]
pub struct Variables {
    values: Arc<Vec<VarValue>>,
    /// Typed copies.
    pub hot: HotVariables,
}

/// Result of an assignment.
#[derive(Clone, Debug, PartialEq)]
pub struct Assigned {
    /// The warning 1292 to raise, if the value had to be clamped.
    pub warning: Option<SqlError>,
}

impl Variables {
    /// Every variable at its default.
    pub fn defaults() -> Self {
        let values: Vec<_> = ALL.iter().map(super::VarDef::default_value).collect();
        let mut hot = HotVariables::empty();
        for (def, value) in ALL.iter().zip(&values) {
            hot.apply(def.name, value);
        }
        Variables { values: Arc::new(values), hot }
    }

    /// The value of variable `number`.
    pub fn get(&self, number: usize) -> &VarValue {
        &self.values[number]
    }

    /// The value of the variable called `name`, which must exist.
    pub fn named(&self, name: &'static str) -> &VarValue {
        self.get(find(name).expect("variables named in the code are in the table"))
    }

    /// Replaces a value without asking who may.
    pub fn put(&mut self, number: usize, value: VarValue) {
        self.hot.apply(ALL[number].name, &value);
        Arc::make_mut(&mut self.values)[number] = value;
    }

    /// Replaces the value of the variable called `name`, which must exist.
    pub(crate) fn put_named(&mut self, name: &'static str, value: VarValue) {
        self.put(find(name).expect("variables named in the code are in the table"), value);
    }

    /// Assigns `set` to variable `number`; `default` is what DEFAULT stands for. A character set brings its
    /// collation with it, and the other way round. Whether the caller may assign was decided before.
    ///
    /// # Errors
    /// 1115, 1231, 1232, 1273, 1298; nothing is changed then.
    pub fn assign(
        &mut self,
        number: usize,
        set: &SetValue,
        default: &VarValue,
    ) -> Result<Assigned, SqlError> {
        let def = &ALL[number];
        let (value, clamped) =
            if *set == SetValue::Default { (default.clone(), false) } else { def.coerce(set)? };
        let warning = clamped.then(|| clamp_warning(def.name, set));
        if warning.is_some() && self.hot.sql_mode.has(types::SqlModes::STRICT_ALL_TABLES) {
            return Err(error_map::WRONG_VALUE_FOR_VAR.with(&[&def.name, &number_text(set)]));
        }
        if let Some((partner, partner_value)) = partner(def.name, &value) {
            self.put_named(partner, partner_value);
        }
        self.put(number, value);
        if def.name.starts_with("validate_password.") {
            self.raise_password_length();
        }
        Ok(Assigned { warning })
    }

    /// Passwords are long enough for the characters that they have to have.
    #[cold]
    fn raise_password_length(&mut self) {
        let count = |kind: &'static str| self.named(kind).as_u64();
        let least = count("validate_password.number_count")
            + count("validate_password.special_char_count")
            + 2 * count("validate_password.mixed_case_count");
        // As in MySQL, where lengths have 32 bits.
        let least = least.min(i32::MAX as u64);
        if count("validate_password.length") < least {
            self.put_named("validate_password.length", VarValue::UInt(least));
        }
    }
}

#[cold]
fn clamp_warning(name: &str, set: &SetValue) -> SqlError {
    error_map::TRUNCATED_WRONG_VALUE.with(&[&name, &number_text(set)])
}

fn number_text(set: &SetValue) -> String {
    match set {
        SetValue::Int(value) => value.to_string(),
        SetValue::UInt(value) => value.to_string(),
        SetValue::Double(value) => value.to_string(),
        _ => String::new(),
    }
}

/// The variable that changes with `name`, and its new value.
fn partner(name: &str, value: &VarValue) -> Option<(&'static str, VarValue)> {
    let collation_of_set = |partner: &'static str| {
        let charset = Charset::find(value.as_text())?;
        let collation = charset.default_collation().collation()?;
        Some((partner, VarValue::Text(collation.name.into())))
    };
    let set_of_collation = |partner: &'static str| {
        let collation = Collation::find(value.as_text())?;
        Some((partner, VarValue::Text(collation.charset.name().into())))
    };
    match name {
        "character_set_connection" => collation_of_set("collation_connection"),
        "character_set_server" => collation_of_set("collation_server"),
        "character_set_database" => collation_of_set("collation_database"),
        "collation_connection" => set_of_collation("character_set_connection"),
        "collation_server" => set_of_collation("character_set_server"),
        "collation_database" => set_of_collation("character_set_database"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
