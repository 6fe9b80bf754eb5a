//! Fuzzes [`fuzz::spill`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::spill::run(input));
