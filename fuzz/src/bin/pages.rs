//! Fuzzes [`fuzz::pages`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::pages::run(input));
