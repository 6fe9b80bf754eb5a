//! Seeded statements that search for differences where values and names are extreme.

mod altered;
mod calls;
mod changed_table;
mod changes;
mod dml;
mod expressions;
mod loads;
mod names;
mod prepared;
mod tables;
mod values;

use crate::differential::dice::Dice;

use super::case::Case;

/// What the statements try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Every function and operator with arguments of every class, and columns of every type, in several
    /// sql_modes.
    Expressions,
    /// Changes of tables with every type and constraint.
    Dml,
    /// ALTER TABLE of tables with rows of every type.
    Alter,
    /// Aliases, subqueries and derived tables whose names may mean several things.
    Names,
    /// Prepared statements, executed with values of changing types.
    Prepared,
}

/// Themes by the names that a command line uses.
pub const THEMES: [(&str, Theme); 5] = [
    ("expressions", Theme::Expressions),
    ("dml", Theme::Dml),
    ("alter", Theme::Alter),
    ("names", Theme::Names),
    ("prepared", Theme::Prepared),
];

impl Theme {
    /// The theme with this name.
    pub fn find(name: &str) -> Option<Theme> {
        THEMES.iter().find(|(known, _)| *known == name).map(|(_, theme)| *theme)
    }

    /// Statements that make what all cases of the theme use.
    pub fn context(self) -> Vec<String> {
        match self {
            Theme::Expressions | Theme::Prepared => tables::values(),
            Theme::Dml | Theme::Alter => Vec::new(),
            Theme::Names => names::tables(),
        }
    }

    /// The case of this number among those of a seed.
    pub fn case(self, seed: u64, number: u64) -> Case {
        let dice = &mut Dice::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number));
        match self {
            Theme::Expressions => expressions::case(dice, number),
            Theme::Dml => dml::case(dice),
            Theme::Alter => altered::case(dice, number),
            Theme::Names => names::case(dice),
            Theme::Prepared => prepared::case(dice, number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_number_are_one_case() {
        for (name, theme) in THEMES {
            assert_eq!(Theme::find(name), Some(theme));
            assert_eq!(theme.case(3, 7), theme.case(3, 7), "{name}");
            assert_ne!(theme.case(3, 7), theme.case(3, 8), "{name}");
            assert!(!theme.case(1, 1).steps.is_empty(), "{name}");
        }
    }

    #[test]
    fn every_function_is_tried() {
        let topics: std::collections::HashSet<String> = (0..5 * calls::topics() / expressions::STATEMENTS)
            .flat_map(|number| Theme::Expressions.case(1, number as u64).steps)
            .map(|step| step.topic)
            .collect();
        let missing: Vec<&str> =
            calls::functions().iter().copied().filter(|f| !topics.contains(*f)).collect();
        assert_eq!(missing, [""; 0]);
    }
}
