//! The SQL language: text to statements, statements to plans.

#![forbid(unsafe_code)]

pub mod plan;
