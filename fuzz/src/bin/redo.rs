//! Fuzzes [`fuzz::redo`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::redo::run(input));
