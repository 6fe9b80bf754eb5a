//! A planted bug: proof that the fuzzer is guided by coverage and that a finding fails the run.

/// Fails for inputs that begin with eight certain bytes. Chance finds them once in 2^64 inputs, a guided
/// search in seconds: each byte that is found reaches an edge of its own.
///
/// # Panics
/// When it is found.
pub fn run(input: &[u8]) {
    let at = |place: usize, byte: u8| input.get(place) == Some(&byte);
    // Not a loop: how often its one edge is taken says little from the fourth byte on.
    let begins_so = at(0, b'R')
        && at(1, b'A')
        && at(2, b'T')
        && at(3, b'C')
        && at(4, b'H')
        && at(5, b'E')
        && at(6, b'T')
        && at(7, b'!');
    assert!(!begins_so, "the canary's bug is found");
}
