//! Fuzzes [`fuzz::sql`], with mutations of tokens beside those of bytes.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|input: &[u8]| fuzz::sql::run(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(4) {
        return fuzzer_mutate(data, size, max_size);
    }
    fuzz::sql_mutator::mutate(&mut data[..max_size], size.min(max_size), seed)
});
