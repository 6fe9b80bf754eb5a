//! Fuzzes [`fuzz::undo`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::undo::run(input));
