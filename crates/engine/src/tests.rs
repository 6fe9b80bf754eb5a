//! The storage API over a disk in memory.

pub(crate) mod support;

mod bad_disk;
mod basics;
mod checkpoints;
mod column_changes;
mod damage;
mod damaged_dictionary;
mod ddl_crashes;
mod definitions;
mod dropped_trees;
mod ending;
#[cfg(debug_assertions)]
mod full_start;
mod histories;
mod in_place;
mod index_builds;
mod int_entries;
mod logged;
mod long_values;
mod lost_values;
mod model;
mod online_builds;
mod online_rebuilds;
mod pending_trees;
mod purge;
mod quarantine;
mod rebuild;
mod recovery;
mod restamped;
mod restart;
mod shutdown;
#[cfg(debug_assertions)]
mod simulated;
mod snapshots;
mod spill;
mod statistics;
mod sweep;
mod threads;
mod undo_limit;
mod undo_swap;
mod unfinished;
mod whole_statements;
