//! Fuzzes [`fuzz::options`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::options::run(input));
