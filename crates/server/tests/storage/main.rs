//! Tests of the server: files, starts and definitions that outlive them.

mod corruption;
mod file_modes;
mod formats;
mod full_disk;
mod index_builds;
mod initialize;
mod online_builds;
mod online_rebuilds;
mod redo_log;
mod restart;
#[path = "../support/mod.rs"]
mod support;
mod unfinished;
