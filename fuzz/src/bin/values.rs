//! Fuzzes [`fuzz::values`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::values::run(input));
