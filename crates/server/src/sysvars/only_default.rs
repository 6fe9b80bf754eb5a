//! Variables of which every other value would promise what is not done.

/// Their names, in order. Any value but the default is refused, by SET (1231) and as an option.
const ONLY_DEFAULT: [&str; 12] = [
    "auto_increment_increment",
    "auto_increment_offset",
    "default_table_encryption",
    "general_log",
    "init_connect",
    "innodb_rollback_on_timeout",
    "lower_case_table_names",
    "offline_mode",
    "profiling",
    "read_only",
    "slow_query_log",
    "super_read_only",
];

/// Whether the variable called `name` keeps its default.
pub(super) fn is_only_default(name: &str) -> bool {
    ONLY_DEFAULT.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysvars::find;

    #[test]
    fn the_names_are_variables_and_in_order() {
        assert!(ONLY_DEFAULT.is_sorted());
        for name in ONLY_DEFAULT {
            assert!(find(name).is_some(), "{name}");
        }
    }
}
