//! Fuzzes [`fuzz::load_data`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::load_data::run(input));
