//! Fuzzes [`fuzz::canary`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::canary::run(input));
