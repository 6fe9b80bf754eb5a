//! Fuzzes [`fuzz::datadir`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::datadir::run(input));
