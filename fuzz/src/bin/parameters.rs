//! Fuzzes [`fuzz::parameters`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::parameters::run(input));
