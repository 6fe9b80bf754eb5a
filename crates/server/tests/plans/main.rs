//! Tests of the server: how rows are found.

mod access_paths;
mod antijoins;
mod hash_joins;
mod index_choice;
mod index_condition;
mod index_dives;
mod index_intersection;
mod index_merge;
mod index_ranges;
mod integer_lookups;
mod min_max;
mod page_filters;
mod plans_kept;
mod rows_examined;
mod semi_joins;
mod skip_scans;
