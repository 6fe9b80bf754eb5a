//! Tests of the server: what statements answer.

mod altered_tables;
mod assignment_order;
mod claims;
mod compat_doc;
mod definitions;
mod digests;
mod limits;
mod lockstep;
mod not_yet;
mod recorder;
mod scripts;
mod semantics;
#[path = "../support/mod.rs"]
mod support;
mod virtual_tables;
mod volatile_items;
mod year_bounds;
