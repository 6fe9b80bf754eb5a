//! The storage API over a disk in memory.

mod support;

mod basics;
