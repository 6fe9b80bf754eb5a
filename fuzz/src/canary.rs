//! A planted bug: proof that the fuzzer is guided by coverage and that a finding fails the run.

/// Fails for inputs that begin with eight certain bytes. Chance finds them once in 2^64 inputs, a guided
/// search in seconds: each byte that is found reaches an edge of its own.
///
/// # Panics
/// When it is found.
pub fn run(input: &[u8]) {
    assert!(!begins_so(input), "the canary's bug is found");
}

fn begins_so(input: &[u8]) -> bool {
    // Not a loop: how often its one edge is taken says little from the fourth byte on.
    let at = |place: usize, byte: u8| input.get(place) == Some(&byte);
    if !at(0, b'R') {
        return false;
    }
    if !at(1, b'A') {
        return false;
    }
    if !at(2, b'T') {
        return false;
    }
    if !at(3, b'C') {
        return false;
    }
    if !at(4, b'H') {
        return false;
    }
    if !at(5, b'E') {
        return false;
    }
    if !at(6, b'T') {
        return false;
    }
    at(7, b'!')
}
