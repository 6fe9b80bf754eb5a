//! Fuzzes [`fuzz::dictionary`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::dictionary::run(input));
