//! The cases of docs/mvcc.md by name.
