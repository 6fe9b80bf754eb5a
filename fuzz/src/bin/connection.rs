//! Fuzzes [`fuzz::connection`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::connection::run(input));
