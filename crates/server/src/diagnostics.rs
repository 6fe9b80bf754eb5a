//! The diagnostics area: errors, warnings and notes of the last statement.

use crate::error_map::SqlError;

/// How much a condition matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The statement failed.
    Error,
    /// The statement continued, with a changed value perhaps.
    Warning,
    /// For information; left out when `sql_notes` is off.
    Note,
}

impl Severity {
    /// As SHOW WARNINGS shows it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
            Severity::Note => "Note",
        }
    }
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Severity.
    pub severity: Severity,
    /// MySQL's number.
    pub code: u16,
    /// SQLSTATE.
    pub sqlstate: [u8; 5],
    /// Text.
    pub message: String,
}

/// Conditions of one statement: all are counted, the first `max_error_count` are kept.
#[derive(Debug, Default)]
pub struct Diagnostics {
    conditions: Vec<Condition>,
    warnings: u64,
    errors: u64,
    /// Of the statement before.
    earlier: Counts,
}

/// How many conditions a statement had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub warnings: u64,
    /// Errors.
    pub errors: u64,
}

impl Diagnostics {
    /// A statement begins.
    #[inline]
    pub fn clear(&mut self) {
        if self.warnings | self.earlier.warnings != 0 {
            self.conditions.clear();
            self.earlier = Counts { warnings: self.warnings, errors: self.errors };
            (self.warnings, self.errors) = (0, 0);
        }
    }

    /// The values of `@@warning_count` and `@@error_count` in a statement: the conditions of the one before
    /// it.
    pub fn earlier(&self) -> Counts {
        self.earlier
    }

    /// Adds a condition; `conditions_max` is `max_error_count`.
    #[cold]
    pub fn push(&mut self, severity: Severity, error: SqlError, conditions_max: u64) {
        self.insert(u64::MAX, severity, error, conditions_max);
    }

    /// As [`Diagnostics::push`]; the condition follows the first `place` ones.
    #[cold]
    pub fn insert(&mut self, place: u64, severity: Severity, error: SqlError, conditions_max: u64) {
        self.warnings += 1;
        self.errors += u64::from(severity == Severity::Error);
        let place = place.min(self.conditions.len() as u64);
        if place < conditions_max {
            let SqlError { code, sqlstate, message, .. } = error;
            self.conditions.insert(place as usize, Condition { severity, code, sqlstate, message });
            self.conditions.truncate(conditions_max as usize);
        }
    }

    /// Adds the conditions of `later`; `conditions_max` is `max_error_count`.
    #[cold]
    pub(crate) fn absorb(&mut self, later: Diagnostics, conditions_max: u64) {
        self.warnings += later.warnings;
        self.errors += later.errors;
        let room = (conditions_max as usize).saturating_sub(self.conditions.len());
        self.conditions.extend(later.conditions.into_iter().take(room));
    }

    /// Adds once more each of the conditions after the first `count`; `conditions_max` is `max_error_count`.
    #[cold]
    pub(crate) fn repeat_after(&mut self, count: u64, conditions_max: u64) {
        let repeated = self.conditions.get(count as usize..).unwrap_or_default();
        let room = (conditions_max as usize).saturating_sub(self.conditions.len());
        let kept: Vec<Condition> = repeated.iter().take(room).cloned().collect();
        self.conditions.extend(kept);
        self.warnings = self.warnings.saturating_add(self.warnings - count.min(self.warnings));
    }

    /// Takes back all warnings and notes but the first `count`.
    #[cold]
    pub fn truncate(&mut self, count: u64) {
        debug_assert_eq!(self.errors, 0, "a statement's error is its last condition");
        self.warnings = self.warnings.min(count);
        self.conditions.truncate(count as usize);
    }

    /// The conditions kept.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// All conditions.
    pub fn warning_count(&self) -> u64 {
        self.warnings
    }

    /// Errors.
    pub(crate) fn error_count(&self) -> u64 {
        self.errors
    }

    /// The number that OK and EOF packets carry.
    #[inline]
    pub(crate) fn packet_count(&self) -> u16 {
        self.warnings.min(u64::from(u16::MAX)) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_map;

    #[test]
    fn a_condition_of_an_earlier_row_comes_before_those_of_later_ones() {
        let mut area = Diagnostics::default();
        for _ in 0..2 {
            area.push(Severity::Warning, error_map::DIVISION_BY_ZERO.bare(), 2);
        }
        area.insert(1, Severity::Warning, error_map::NO_DB.bare(), 2);
        area.insert(2, Severity::Warning, error_map::NO_DB.bare(), 2);
        let codes: Vec<u16> = area.conditions().iter().map(|condition| condition.code).collect();
        assert_eq!((codes, area.warning_count()), (vec![1365, 1046], 4));
    }

    #[test]
    fn repeated_conditions_are_counted_and_kept_while_there_is_room() {
        let mut diagnostics = Diagnostics::default();
        for code in [1, 2, 3] {
            let error = error_map::UNKNOWN_STMT_HANDLER.with(&[&code, &"x"]);
            diagnostics.push(Severity::Warning, error, 4);
        }
        diagnostics.repeat_after(1, 4);
        assert_eq!((diagnostics.warning_count(), diagnostics.conditions().len()), (5, 4));
        assert_eq!(diagnostics.conditions()[3], diagnostics.conditions()[1]);
        diagnostics.repeat_after(9, 4);
        assert_eq!(diagnostics.warning_count(), 5);
    }

    #[test]
    fn all_conditions_are_counted_and_the_first_are_kept() {
        let mut area = Diagnostics::default();
        for _ in 0..3 {
            area.push(Severity::Warning, error_map::DIVISION_BY_ZERO.bare(), 2);
        }
        area.push(Severity::Error, error_map::NO_DB.bare(), 2);
        assert_eq!((area.conditions().len(), area.warning_count(), area.error_count()), (2, 4, 1));
        area.clear();
        assert_eq!((area.conditions().len(), area.packet_count()), (0, 0));
        assert_eq!(area.earlier(), Counts { warnings: 4, errors: 1 });
        area.clear();
        assert_eq!(area.earlier(), Counts::default());
    }
}
