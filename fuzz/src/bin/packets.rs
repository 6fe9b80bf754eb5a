//! Fuzzes [`fuzz::packets`].

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::packets::run(input));
