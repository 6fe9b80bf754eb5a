//! A planted bug: proof that the fuzzer is guided by coverage and that a finding fails the run.

/// Fails for inputs that begin with eight certain bytes. Chance finds them once in 2^64 inputs, a guided
/// search in seconds.
///
/// # Panics
/// When it is found.
pub fn run(input: &[u8]) {
    let secret = b"RATCHET!";
    let mut found = 0;
    while found < secret.len() && input.get(found) == secret.get(found) {
        found += 1;
    }
    assert!(found < secret.len(), "the canary's bug is found");
}
