//! Definition changes.
